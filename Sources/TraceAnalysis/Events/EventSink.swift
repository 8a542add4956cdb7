internal import TraceFile

/// Takes the marks and counters of one thread, in their order.
protocol EventTaker {
    mutating func take(_ event: ThreadEvent)
}

extension [ThreadEvent]: EventTaker {
    mutating func take(_ event: ThreadEvent) { append(event) }
}

/// Hands the marks and counters of one thread on.
struct EventSink<Taker: EventTaker>: CallSink {
    struct Payload: BitwiseCopyable {}

    private(set) var taker: Taker

    init(taker: Taker) { self.taker = taker }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if let event = ThreadEvent(told, ticks: ticks, moment: moment) { taker.take(event) }
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {}
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {}
    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64)
    {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
