public import TraceAnalysis
public import TraceFile

/// Finds the longest call of some functions in one thread, and when the thread's first call began.
struct LongestCallSink: CallSink {
    typealias Payload = Bool

    private let space: AddressSpace
    private let isAsked: (UInt32) -> Bool
    private(set) var longest: (begin: UInt64, end: UInt64)?
    private(set) var first = UInt64.max

    init(_ space: AddressSpace, isAsked: @escaping (UInt32) -> Bool) {
        self.space = space
        self.isAsked = isAsked
    }

    mutating func base(ofLane lane: UInt32) -> Bool { false }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Bool>>) {
        first = min(first, call.pointee.start)
        call.pointee.payload = isAsked(space.function(at: call.pointee.function, ticks: call.pointee.enterTicks))
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Bool>>, end: UInt64, state: CallState) {
        guard call.pointee.payload, end > call.pointee.start else { return }
        if let longest, longest.end - longest.begin >= end - call.pointee.start { return }
        longest = (call.pointee.start, end)
    }

    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Bool>>, calls: UInt32, time: UInt64, at moment: UInt64) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Bool>) -> Bool { true }
}

/// When threads began, and the longest call of some functions.
public struct LongestCall {
    /// By thread: when its first call began; `.max` without one.
    public private(set) var firsts: [UInt64] = []
    /// Index of its thread, and its time; nil when there is none.
    public private(set) var call: (thread: Int, begin: UInt64, end: UInt64)?

    /// - Parameters:
    ///   - isCandidate: whether a thread's calls are looked at.
    ///   - isAsked: whether a function's calls are.
    /// - Complexity: O(records).
    public init(
        in threads: [TracedThread], session: Session, resolver: FunctionResolver,
        isCandidate: (TracedThread) -> Bool, isAsked: @escaping (UInt32) -> Bool
    ) {
        for (index, thread) in threads.enumerated() {
            var sink = LongestCallSink(
                resolver.space(of: thread.process), isAsked: isCandidate(thread) ? isAsked : { _ in false })
            StackReplay.run(thread.onSharedClock, clock: session.clock, into: &sink)
            firsts.append(sink.first)
            guard let longest = sink.longest else { continue }
            if let call, call.end - call.begin >= longest.end - longest.begin { continue }
            call = (index, longest.begin, longest.end)
        }
    }
}
