internal import TraceFile

/// Notes how long a function's calls take that one thread makes, as they are replayed.
struct DurationSink: CallSink {
    struct Payload: BitwiseCopyable { var role = OutermostCalls.Role.outside }

    private(set) var durations = ExactDurations()
    private(set) var calls: OutermostCalls

    init(_ calls: OutermostCalls) { self.calls = calls }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.role =
            (call - 1).pointee.payload.role == .outside ? calls.role(calls.key(of: call)) : .below
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        guard call.pointee.payload.role == .outermost,
            let duration = calls.duration(of: call, end: end, state: state)
        else { return }
        durations.add(duration)
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
