public import TraceFile

/// Walks the call trees of a session.
///
/// A small tree is collected and shown at once. A tree of more nodes than the budget is shown chunk by chunk, and the
/// times of calls that span chunks are learnt ahead: from the chunks in which their callees end or, where those do not
/// tell enough, by a replay of all. So memory follows one chunk and the calls open where chunks end, not the number of
/// calls. Only the nodes that are kept of lanes other than the main one, and of trees sorted by cost, are all
/// collected.
public struct CallTree {
    private let session: Session
    private let resolver: FunctionResolver
    private let filter: TreeFilter
    private let layout: TreeLayout
    private let classifier: NameClassifier?
    private let budget: Int
    /// Whether calls tell what they did with memory.
    private let tellsMemory: Bool
    private let progress: ReadingProgress?
    private let outlines: OutlineStore
    private var longest: LongestCalls?

    /// - Parameters:
    ///   - budget: nodes to collect before going over to two passes.
    ///   - progress: told how far reading is; its end is the caller's to tell.
    ///   - outlines: of the session's threads. What is missing of them is made where it is of use.
    public init(
        of session: Session, resolver: FunctionResolver, filter: TreeFilter, layout: TreeLayout, budget: Int = 1 << 17,
        progress: ReadingProgress? = nil, outlines: OutlineStore? = nil
    ) {
        self.outlines =
            outlines ?? OutlineStore(session.processes.flatMap(\.threads), in: SummaryMemory())
        self.session = session
        self.resolver = resolver
        self.filter = filter
        self.layout = layout
        self.budget = budget
        tellsMemory = layout.tellsMemory && session.followsMemory
        self.progress = progress
        classifier = filter.usesNames ? NameClassifier(filter, resolver.functions) : nil
    }

    /// Looks for the longest calls of `threads`. From then on, only those are shown, below their callers, which are
    /// longer.
    ///
    /// - Parameter limit: how many.
    /// - Returns: for each thread the time, in ns, of its longest call that the filter keeps.
    /// - Complexity: O(records), and O(limit) memory.
    public mutating func rank(_ threads: [TracedThread], limit: Int) -> [UInt64] {
        let longest = LongestCalls(limit: limit)
        let times = threads.map { thread in
            longest.begin(CallTree.number(of: thread))
            var builder = builder(.rank(longest), resolver.space(of: thread.process), of: thread)
            progress?.begin(thread)
            if builder.unseenBelow != nil, filter.minCost == 0, filter.maxDepth == .max, let outlines = known(thread),
                outlines.isWorthwhile
            {
                // At least as many calls are as long as the longest ones of as many chunks.
                let times = outlines.all().sorted(by: >)
                let least = max(limit <= times.count ? times[limit - 1] : 0, longest.leastSoFar)
                longest.note(times.first ?? 0)
                replay(thread, by: outlines, least: least, into: &builder)
            } else {
                replay(thread, into: &builder)
            }
            builder.free()
            return longest.longestOfThread
        }
        longest.finish()
        self.longest = longest
        return times
    }

    /// What ``rank(_:limit:)`` left out: how many calls the filter keeps, and the time in ns of the shortest that is shown; nil
    /// when nothing was.
    public var leftOut: (of: UInt64, least: UInt64)? {
        longest.flatMap { $0.candidates > UInt64($0.limit) ? ($0.candidates, $0.least) : nil }
    }

    private func replay(_ thread: TracedThread, chunks: Range<Int>? = nil, into builder: inout TreeBuilder) {
        let progress = progress
        let onChunk = progress.map { progress in { progress.read(chunk: $0) } }
        if tellsMemory {
            StackReplay.runWithFaults(
                thread, clock: session.clock, chunks: chunks, onChunk: onChunk, into: &builder)
        } else {
            StackReplay.run(thread, clock: session.clock, chunks: chunks, onChunk: onChunk, into: &builder)
        }
    }

    /// Collects the tree. Where short calls are hidden, most chunks need not be read by the builder.
    private func collect(_ thread: TracedThread, into builder: inout TreeBuilder) {
        guard let least = builder.unseenBelow, least > 0, let outlines = known(thread), !outlines.takesOneCore else {
            return replay(thread, into: &builder)
        }
        replay(thread, by: outlines, least: least, into: &builder)
    }

    private func known(_ thread: TracedThread) -> ChunkOutlines? {
        ChunkOutlines(thread, clock: session.clock, store: outlines)
    }

    private func replay(
        _ thread: TracedThread, by outlines: ChunkOutlines, least: UInt64, into builder: inout TreeBuilder
    ) {
        let progress = progress
        StackReplay.run(
            thread, clock: session.clock, by: outlines, least: least,
            onChunk: progress.map { progress in { progress.read(chunk: $0) } }, into: &builder)
    }

    private static func number(of thread: TracedThread) -> UInt64 {
        UInt64(thread.process.index) << 32 | UInt64(thread.tid)
    }

    /// Shows the trees of threads to `visitor`, process by process.
    ///
    /// - Complexity: as that of ``walk(_:_:)`` for each thread.
    public func walk<Visitor: TreeVisitor>(
        _ selection: [(process: TracedProcess, threads: [TracedThread])], _ visitor: inout Visitor
    ) {
        for (process, threads) in selection where visitor.wantsMore {
            visitor.begin(process)
            for thread in threads where visitor.wantsMore { walk(thread, &visitor) }
            visitor.endProcess()
        }
    }

    /// Shows the tree of `thread` to `visitor`.
    ///
    /// - Complexity: O(records), once or twice. For a stretch of time, O(records) of its chunks and of the chunks in
    ///   which callees of its calls end.
    public func walk<Visitor: TreeVisitor>(_ thread: TracedThread, _ visitor: inout Visitor) {
        let space = resolver.space(of: thread.process)
        var emitter = TreeEmitter(visitor, layout: layout, space: space)
        emitter.splits = thread.splitsTimes
        emitter.tellsMemory = tellsMemory
        emitter.beginThread(thread)
        longest?.begin(CallTree.number(of: thread))
        var builder = builder(.collect(budget: layout.order == .cost ? .max : budget), space, of: thread)
        let window = window(of: thread)
        progress?.begin(thread)
        if window == nil { collect(thread, into: &builder) }
        if window != nil || builder.isOverBudget {
            builder.free()
            builder = stream(thread, space, window ?? Window(spans: spans(of: thread)), &emitter)
        } else {
            builder.settle()
            if builder.lanes[0].arena.count > 0 || builder.lanes[0].hidden.calls > 0 { emitter.begin(lane: 0) }
            emit(builder.lanes[0].arena, &emitter)
        }
        emitter.finish()
        emitter.endLane(hidden: builder.lanes[0].hidden)
        for lane in builder.lanes.dropFirst().sorted(by: { $0.lane < $1.lane })
        where (lane.arena.count > 0 || lane.hidden.calls > 0) && emitter.visitor.wantsMore {
            emitter.begin(lane: lane.lane)
            emit(lane.arena, &emitter)
            emitter.finish()
            emitter.endLane(hidden: lane.hidden)
        }
        emitter.endThread()
        builder.free()
        visitor = emitter.visitor
    }

    private func builder(
        _ mode: TreeBuilder.Mode, _ space: AddressSpace, of thread: TracedThread, outcomes: [TreeBuilder.Outcome] = []
    ) -> TreeBuilder {
        TreeBuilder(
            mode: mode, filter: filter, classifier: classifier, space: space, isTask: thread.task != nil,
            offCPU: thread.offCPU(), tellsMemory: tellsMemory, longest: longest, outcomes: outcomes,
            layouts: filter.withArguments.isEmpty ? [:] : thread.process.argumentLayouts)
    }

    /// The part of a thread that is replayed.
    private struct Window {
        var first = 0
        var limit = Int.max
        /// The sums until then of the calls that are open where the part begins, innermost first.
        var carriedIn: [SpanningCalls.Sums] = []
        var spans: SpanningCalls?
    }

    /// Tells what becomes of calls that span chunks. Nil when names, depth, cost or rank limit what is shown, or when calls tell
    /// more than their times.
    private func spans(of thread: TracedThread) -> SpanningCalls? {
        guard classifier == nil, filter.maxDepth == .max, filter.minCost == 0, longest == nil, !tellsMemory
        else { return nil }
        return SpanningCalls(thread, clock: session.clock, store: outlines)
    }

    /// The chunks of the stretch of time asked for; nil when that is everything, or when all chunks are to be read.
    private func window(of thread: TracedThread) -> Window? {
        guard filter.from > 0 || filter.to < .max, layout.order == .time, thread.chunks.count > budget / 4096,
            let spans = spans(of: thread)
        else { return nil }
        let chunks = spans.chunks(from: filter.from, to: filter.to)
        guard let before = spans.sums(before: chunks.lowerBound) else { return nil }
        return Window(first: chunks.lowerBound, limit: chunks.upperBound, carriedIn: before.reversed(), spans: spans)
    }

    /// Shows a thread with many nodes, or a stretch of it, chunk by chunk.
    private func stream<Visitor: TreeVisitor>(
        _ thread: TracedThread, _ space: AddressSpace, _ window: Window, _ emitter: inout TreeEmitter<Visitor>
    ) -> TreeBuilder {
        let chunks = window.first..<thread.chunks.count
        var show = builder(.stream, space, of: thread)
        show.measureOutcomes = {
            var measure = builder(.measure, space, of: thread)
            defer { measure.free() }
            measure.carriedIn = window.carriedIn
            progress?.begin(thread, again: true)
            replay(thread, chunks: chunks, into: &measure)
            return measure.outcomes
        }
        show.spans = window.spans
        show.carriedIn = window.carriedIn
        show.limit = window.limit
        emitter.begin(lane: 0)
        withUnsafeMutablePointer(to: &emitter) { emitter in
            show.flush = { arena in
                defer { emitter.pointee.pause() }
                return emitter.pointee.add(arena)
            }
            replay(thread, chunks: chunks, into: &show)
            show.flush = nil
            show.settle()
            // Shows what began after the last chunk's end. That is nothing, unless that chunk could not be read.
            emit(show.lanes[0].arena, &emitter.pointee)
        }
        return show
    }

    private func emit<Visitor: TreeVisitor>(_ arena: NodeArena, _ emitter: inout TreeEmitter<Visitor>) {
        switch layout.order {
        case .time:
            _ = emitter.add(arena)
        case .cost:
            var arena = arena
            arena.forEachByTime(folding: layout.folds, measure: filter.measure, tellsMemory: tellsMemory) {
                arena, index in
                emitter.add(arena, index)
            }
        }
    }
}
