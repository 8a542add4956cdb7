internal import TraceFile

/// Adds up, by function, what one thread ran in some stretches of its time.
struct ChainSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// Whether it is a call of one of the functions asked for, or within one.
        var isInside = false
    }

    private let space: AddressSpace
    private let isAsked: (UInt32) -> Bool
    /// In the order of time.
    private let stretches: [(begin: UInt64, end: UInt64)]
    private var next = 0
    private var last: UInt64 = 0
    /// By stretch and function.
    private(set) var times: [[UInt32: UInt64]]
    private(set) var inside: UInt64 = 0

    init(_ space: AddressSpace, _ stretches: [(begin: UInt64, end: UInt64)], isAsked: @escaping (UInt32) -> Bool) {
        self.space = space
        self.stretches = stretches
        self.isAsked = isAsked
        times = Array(repeating: [:], count: stretches.count)
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        take(upTo: call.pointee.start, by: call - 1)
        let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
        call.pointee.payload.isInside = (call - 1).pointee.payload.isInside || isAsked(function)
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        take(upTo: end, by: call)
    }

    /// `call` was the innermost one from the last moment to this one.
    private mutating func take(upTo moment: UInt64, by call: UnsafeMutablePointer<OpenCall<Payload>>) {
        defer { last = max(last, moment) }
        while next < stretches.count, stretches[next].end <= last { next += 1 }
        var index = next
        while index < stretches.count, stretches[index].begin < moment {
            let (begin, end) = (max(stretches[index].begin, last), min(stretches[index].end, moment))
            if begin < end {
                let function = space.function(at: call.pointee.function, ticks: call.pointee.enterTicks)
                times[index][function, default: 0] &+= end &- begin
                if call.pointee.payload.isInside { inside &+= end &- begin }
            }
            index += 1
        }
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { next < stretches.count }
}
