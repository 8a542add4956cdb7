internal import TraceAnalysis
internal import TraceFile

/// Adds up, by call path, what one thread ran in some stretches of its time.
struct ChainSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// The call's number among the paths, once it is asked for; -1 before.
        var path: Int32 = -1
    }

    private let space: AddressSpace
    /// In the order of time.
    private let stretches: [(begin: UInt64, end: UInt64)]
    private var next = 0
    private var last: UInt64 = 0
    var paths: WaitPaths
    /// By stretch and path.
    private(set) var times: [[Int32: UInt64]]

    init(_ space: AddressSpace, _ stretches: [(begin: UInt64, end: UInt64)], paths: WaitPaths) {
        self.space = space
        self.stretches = stretches
        self.paths = paths
        times = Array(repeating: [:], count: stretches.count)
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload(path: 0) }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        take(upTo: call.pointee.start, by: call - 1)
        call.pointee.payload.path = -1
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        take(upTo: end, by: call)
    }

    mutating func leave(_ call: UnsafeMutablePointer<OpenCall<Payload>>, at moment: UInt64) {
        take(upTo: moment, by: call)
    }

    /// `call` was the innermost one from the last moment to this one.
    private mutating func take(upTo moment: UInt64, by call: UnsafeMutablePointer<OpenCall<Payload>>) {
        defer { last = max(last, moment) }
        while next < stretches.count, stretches[next].end <= last { next += 1 }
        var index = next
        while index < stretches.count, stretches[index].begin < moment {
            let (begin, end) = (max(stretches[index].begin, last), min(stretches[index].end, moment))
            if begin < end { times[index][path(of: call), default: 0] &+= end &- begin }
            index += 1
        }
    }

    private mutating func path(of call: UnsafeMutablePointer<OpenCall<Payload>>) -> Int32 {
        var first = call
        while first.pointee.payload.path < 0 { first -= 1 }
        while first != call {
            let caller = first.pointee.payload.path
            first += 1
            let function = space.function(at: first.pointee.function, ticks: first.pointee.enterTicks)
            first.pointee.payload.path = paths.path(function, from: caller)
        }
        // Outside of all calls, it is that of a function that is not known.
        guard call.pointee.payload.path == 0 else { return call.pointee.payload.path }
        return paths.path(space.function(at: call.pointee.function, ticks: call.pointee.enterTicks), from: 0)
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {}
    mutating func run(lane: UInt32, at moment: UInt64) { last = max(last, moment) }
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { next < stretches.count }
}
