internal import TraceFile

/// What a chunk comes to for a tree that shows none of the calls that both begin and end in it: they are told together, as part of
/// the calls that are open at one of its ends.
struct ChunkOutline {
    /// Calls below one call: how many, and the time of the outermost of them, in ns.
    typealias Part = CallSum

    struct Ended {
        /// In ns since the session's start, in the thread's own time.
        var time: UInt64
        var state: CallState
        var part: Part
    }

    /// Of the calls that were open at the beginning, those that have ended, innermost first.
    var ended: [Ended] = []
    /// What the innermost of the calls had that are open from beginning to end, or the roots where none is.
    var inside = Part()
    /// Those that began here and have not ended, outermost first, and what they had.
    var begun: [(call: PathEntry, part: Part)] = []
}

/// Makes outlines of a stretch of chunks, as far as a tree may do with them that hides calls shorter than `least`, in ns.
struct ChunkOutlineSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// The time of its direct callees that have ended in this chunk, and began in it.
        var callees: UInt64 = 0
        /// How many calls had begun in the stretch before it; of those that were open at the beginning 0.
        var before: UInt64 = 0
    }

    /// One for each chunk that was read; nil where the chunk itself is to be read for the tree.
    private(set) var outlines: [Int: ChunkOutline] = [:]
    private let thread: TracedThread
    private let least: UInt64
    private let lastChunk: Int
    private var toCarryIn: UInt32
    private var outline = ChunkOutline()
    /// The calls that have begun in the stretch, and 1; how many of them before this chunk; and how many of those behind these are
    /// part of calls that have ended.
    private var count: UInt64 = 1
    private var first: UInt64 = 1
    private var told: UInt64 = 0
    /// The longest of the calls that both began and ended in the chunk, in ns.
    private var longest: UInt64 = 0
    /// Whether the chunk holds nothing that a tree shows, or counts, besides calls.
    private var isPlain = true

    init(_ thread: TracedThread, least: UInt64, chunks: Range<Int>) {
        self.thread = thread
        self.least = least
        lastChunk = chunks.upperBound - 1
        toCarryIn = thread.chunks[chunks.lowerBound].depth
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.callees = 0
        call.pointee.payload.before = count
        count &+= 1
        if toCarryIn > 0 { carryIn(call) }
    }

    @inline(never)
    private mutating func carryIn(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        toCarryIn -= 1
        call.pointee.payload.before = 0
        count -= 1
    }

    @inline(__always)
    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        if call.pointee.payload.before < first { return endCarriedIn(call, end, state) }
        let start = call.pointee.start
        let total = end > start ? end &- start : 0
        (call - 1).pointee.payload.callees &+= total
        longest = max(longest, total)
    }

    /// A call ended that was open where the chunk began. All that has begun since then, and is not told, was below it.
    @inline(never)
    private mutating func endCarriedIn(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ end: UInt64, _ state: CallState
    ) {
        let calls = count &- first &- told
        told &+= calls
        outline.ended.append(
            .init(time: end, state: state, part: CallSum(calls: calls, time: call.pointee.payload.callees)))
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) { isPlain = false }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if told.isOfCall || ThreadEvent(told, ticks: ticks, moment: moment) != nil { isPlain = false }
    }

    mutating func run(lane: UInt32, at moment: UInt64) { isPlain = false }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        let begun = (0..<main.depth).prefix { main.base[main.depth - $0].payload.before >= first }.count
        let isEligible = isPlain && longest < least && toCarryIn == 0 && index + 1 < thread.chunks.count
        if isEligible, thread.hold(chunk: index + 1), main.isPath(of: thread.chunks[index + 1]) {
            let kept = main.depth - begun
            var next = count
            let path = thread.chunks[index + 1]
            outline.begun = (kept..<main.depth).reversed().map { depth in
                let payload = main.base[depth + 1].payload
                defer { next = payload.before }
                return (path.path(at: depth), CallSum(calls: next &- payload.before &- 1, time: payload.callees))
            }.reversed()
            outline.inside = CallSum(calls: next &- first &- told, time: main.base[kept].payload.callees)
            outlines[index] = outline
        }
        for depth in 0...main.depth { main.base[depth].payload.callees = 0 }
        (outline, longest, isPlain, first, told) = (ChunkOutline(), 0, true, count, 0)
        return index < lastChunk
    }
}
