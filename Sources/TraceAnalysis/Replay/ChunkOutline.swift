internal import TraceFile

/// What a chunk comes to, when the calls that both begin and end in it are told together, as part of the calls that are open at one of
/// its ends.
struct ChunkOutline: Equatable {
    /// What one call had in the chunk.
    struct Part: BitwiseCopyable, Equatable {
        /// The calls below it, at any depth, that began in the chunk and ended before the call, or before the chunk did.
        var calls: UInt64 = 0
        /// The time of its direct callees among them, in ns.
        var callees: UInt64 = 0
        /// The callees that the record options left out.
        var dropped = CallSum()
    }

    /// A call that was open at the beginning and has ended.
    struct Ended: BitwiseCopyable, Equatable {
        /// In ns since the session's start, in the thread's own time.
        var time: UInt64
        /// In ns, from where it began.
        var total: UInt64
        var state: CallState
        var part: Part
    }

    struct Begun: BitwiseCopyable, Equatable {
        var function: UInt64
        var callSite: UInt64
        var enterTicks: UInt64
        var part: Part
    }

    /// Innermost first.
    var ended: [Ended] = []
    /// What the innermost of the calls had that are open from beginning to end, or the roots where none is.
    var inside = Part()
    /// Those that began here and have not ended, outermost first.
    var begun: [Begun] = []
    /// The longest of the calls that both began and ended here, in ns.
    var longest: UInt64 = 0
    /// Whether the chunk holds nothing that a tree shows, or counts, besides calls.
    var isPlain = true
}

/// Makes outlines of the chunks of a stretch, each of which agrees with what the next one says of it.
struct ChunkOutlineSink: CallSink {
    struct Payload: BitwiseCopyable {
        /// The time of its direct callees that have ended in this chunk, and began in it.
        var callees: UInt64 = 0
        /// How many calls had begun in the stretch before it; of those that were open at the beginning 0.
        var before: UInt64 = 0
        var dropped = CallSum()
    }

    /// By chunk; nil where it is not all on one stack, or damaged.
    private(set) var outlines: [ChunkOutline?]
    private let thread: TracedThread
    private let first: Int
    private var toCarryIn: UInt32
    private var outline = ChunkOutline()
    /// The calls that have begun in the stretch, and 1; how many of them before this chunk; and how many of those behind these are
    /// part of calls that have ended.
    private var count: UInt64 = 1
    private var begunBefore: UInt64 = 1
    private var told: UInt64 = 0
    private var longest: UInt64 = 0
    private var isPlain = true
    /// Whether the chunk follows one that is not known, or not all of it is on one stack.
    private var isUnsound = false

    /// - Parameter chunks: are the thread's; the one behind them is there, unless they end with the thread.
    init(_ thread: TracedThread, chunks: Range<Int>) {
        self.thread = thread
        first = chunks.lowerBound
        outlines = Array(repeating: nil, count: chunks.count)
        toCarryIn = thread.chunks[first].depth
    }

    mutating func base(ofLane lane: UInt32) -> Payload { Payload() }

    @inline(__always)
    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.callees = 0
        call.pointee.payload.before = count
        call.pointee.payload.dropped.calls = 0
        call.pointee.payload.dropped.time = 0
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
        let start = call.pointee.start
        let total = end > start ? end &- start : 0
        if call.pointee.payload.before < begunBefore { return endCarriedIn(call, end, total, state) }
        (call - 1).pointee.payload.callees &+= total
        longest = max(longest, total)
    }

    /// A call ended that was open where the chunk began. All that has begun since then, and is not told, was below it.
    @inline(never)
    private mutating func endCarriedIn(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, _ end: UInt64, _ total: UInt64, _ state: CallState
    ) {
        let calls = count &- begunBefore &- told
        told &+= calls
        outline.ended.append(
            .init(time: end, total: total, state: state, part: part(calls, call.pointee.payload)))
    }

    private func part(_ calls: UInt64, _ payload: Payload) -> ChunkOutline.Part {
        .init(calls: calls, callees: payload.callees, dropped: payload.dropped)
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        isPlain = false
        call.pointee.payload.dropped.add(CallSum(calls: UInt64(calls), time: time))
    }

    mutating func tell(
        _ told: Told, in call: UnsafeMutablePointer<OpenCall<Payload>>, ticks: UInt64, at moment: UInt64
    ) {
        if told.isOfCall || ThreadEvent(told, ticks: ticks, moment: moment) != nil { isPlain = false }
    }

    mutating func run(lane: UInt32, at moment: UInt64) { isUnsound = true }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        // What is before the stretch is not read.
        if afterGap, index > first { isUnsound = true }
    }

    mutating func end(chunk index: Int, main: LaneStack<Payload>) -> Bool {
        let isEnd = index + 1 == thread.chunks.count
        if !isUnsound, toCarryIn == 0,
            isEnd || thread.hold(chunk: index + 1) && main.isPath(of: thread.chunks[index + 1])
        {
            outlines[index - first] = finished(main)
        }
        for depth in 0...main.depth {
            main.base[depth].payload.callees = 0
            main.base[depth].payload.dropped = CallSum()
        }
        (outline, longest, isPlain, begunBefore, told, isUnsound) = (ChunkOutline(), 0, true, count, 0, false)
        // What is open in the thread's last chunk ends with the thread.
        return !isEnd && index - first + 1 < outlines.count
    }

    private func finished(_ main: LaneStack<Payload>) -> ChunkOutline {
        var outline = outline
        let begun = (0..<main.depth).prefix { main.base[main.depth - $0].payload.before >= begunBefore }.count
        let kept = main.depth - begun
        var next = count
        outline.begun = (kept..<main.depth).reversed().map { depth in
            let call = main.base[depth + 1]
            defer { next = call.payload.before }
            return .init(
                function: call.function, callSite: call.callSite, enterTicks: call.enterTicks,
                part: part(next &- call.payload.before &- 1, call.payload))
        }.reversed()
        outline.inside = part(next &- begunBefore &- told, main.base[kept].payload)
        (outline.longest, outline.isPlain) = (longest, isPlain)
        return outline
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
