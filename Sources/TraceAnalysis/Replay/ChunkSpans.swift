internal import TraceFile

/// What one chunk tells, when it is replayed by itself, about the calls that are open where it begins or ends.
struct ChunkSpans: CallSink {
    struct Payload: BitwiseCopyable {
        var sums = SpanningCalls.Sums()
        var isCarried = false
    }

    /// Calls that were open at the beginning and have ended, innermost first.
    private(set) var ended: [SpanningCalls.End] = []
    /// The sums that the chunk adds to the innermost of the calls that are open from its beginning to its end. It adds
    /// nothing to the others.
    private(set) var added = SpanningCalls.Sums()
    /// The sums, at the end, of the calls that began here and did not end, outermost first.
    private(set) var begun: [SpanningCalls.Sums] = []
    /// Whether the chunk agrees with what the next one says of it, and its calls are in one stack.
    private(set) var isSound = false
    /// The number of calls that are open from beginning to end.
    var kept: Int { depth - ended.count }

    private let thread: TracedThread
    private let depth: Int
    private var toCarryIn: Int

    init(_ thread: TracedThread, _ index: Int) {
        self.thread = thread
        depth = Int(thread.chunks[index].depth)
        toCarryIn = depth
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload = Payload(isCarried: toCarryIn > 0)
        if toCarryIn > 0 { toCarryIn -= 1 }
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        let start = call.pointee.start
        (call - 1).pointee.payload.sums.callees &+= end > start ? end &- start : 0
        guard call.pointee.payload.isCarried else { return }
        ended.append(SpanningCalls.End(sums: call.pointee.payload.sums, time: end, state: state))
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        call.pointee.payload.sums.dropped.add(CallSum(calls: UInt64(calls), time: time))
    }

    private var hasLanes = false

    mutating func run(lane: UInt32, at moment: UInt64) { hasLanes = true }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        let isLast = index + 1 == thread.chunks.count
        isSound =
            !hasLanes && toCarryIn == 0
            && (isLast || thread.hold(chunk: index + 1) && main.isPath(of: thread.chunks[index + 1]))
        guard isSound else { return false }
        if kept > 0 { added = main.base[kept].payload.sums }
        begun = (kept..<main.depth).map { main.base[$0 + 1].payload.sums }
        // What is open in the last chunk ends with the thread.
        return isLast
    }
}

extension LaneStack {
    /// Whether the calls that are open at the end are those that are open where `chunk` begins, and `chunk` lists all
    /// of them.
    func isPath(of chunk: Chunk) -> Bool {
        guard depth == Int(chunk.depth), depth == Int(chunk.pathCount) else { return false }
        return (0..<depth).allSatisfy { level in
            let entry = chunk.path(at: level)
            let call = base + (level + 1)
            return entry.function == call.pointee.function && entry.enterTicks == call.pointee.enterTicks
        }
    }
}
