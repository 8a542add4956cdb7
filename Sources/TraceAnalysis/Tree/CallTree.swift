public import TraceFormat

/// Walks the call trees of a session.
///
/// Small trees are collected and shown at once. A tree of more nodes than the budget is replayed twice: once to learn the
/// times of calls that span chunks, once to show it chunk by chunk. So memory follows one chunk and the calls open where
/// chunks end, not the number of calls, except that lanes other than the main one, and trees sorted by cost, are
/// collected as far as they are kept.
public struct CallTree {
    private let session: Session
    private let resolver: FunctionResolver
    private let filter: TreeFilter
    private let layout: TreeLayout
    private let classifier: NameClassifier?
    private let budget: Int
    private var longest: LongestCalls?

    /// - Parameter budget: nodes to collect before going over to two passes.
    public init(
        of session: Session, resolver: FunctionResolver, filter: TreeFilter, layout: TreeLayout, budget: Int = 1 << 17
    ) {
        self.session = session
        self.resolver = resolver
        self.filter = filter
        self.layout = layout
        self.budget = budget
        classifier = filter.usesNames ? NameClassifier(filter, resolver.functions) : nil
    }

    /// Looks for the longest calls of `threads`; those alone are shown from then on, in their callers, which are longer.
    ///
    /// - Parameter limit: how many.
    /// - Returns: for each thread the time of its longest call that the filter leaves, in ns.
    /// - Complexity: O(records), and O(limit) memory.
    public mutating func rank(_ threads: [TracedThread], limit: Int) -> [UInt64] {
        let longest = LongestCalls(limit: limit)
        let times = threads.map { thread in
            longest.begin(CallTree.number(of: thread))
            var builder = builder(.rank(longest), resolver.space(of: thread.process), of: thread)
            StackReplay.run(thread, clock: session.clock, into: &builder)
            builder.free()
            return longest.longestOfThread
        }
        longest.finish()
        self.longest = longest
        return times
    }

    private static func number(of thread: TracedThread) -> UInt64 {
        UInt64(thread.process.index) << 32 | UInt64(thread.tid)
    }

    /// Shows the tree of `thread` to `visitor`.
    ///
    /// - Complexity: O(records), once or twice.
    public func walk<Visitor: TreeVisitor>(_ thread: TracedThread, _ visitor: inout Visitor) {
        let space = resolver.space(of: thread.process)
        var emitter = TreeEmitter(visitor, folds: layout.folds, space: space)
        emitter.beginThread(thread)
        longest?.begin(CallTree.number(of: thread))
        var builder = builder(.collect(budget: layout.order == .cost ? .max : budget), space, of: thread)
        StackReplay.run(thread, clock: session.clock, into: &builder)
        if builder.isOverBudget {
            builder.free()
            builder = stream(thread, space, &emitter)
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
            longest: longest, outcomes: outcomes)
    }

    /// Both passes over a thread with many nodes.
    private func stream<Visitor: TreeVisitor>(
        _ thread: TracedThread, _ space: AddressSpace, _ emitter: inout TreeEmitter<Visitor>
    ) -> TreeBuilder {
        var measure = builder(.measure, space, of: thread)
        StackReplay.run(thread, clock: session.clock, into: &measure)
        let outcomes = measure.outcomes
        measure.free()
        var show = builder(.stream, space, of: thread, outcomes: outcomes)
        emitter.begin(lane: 0)
        withUnsafeMutablePointer(to: &emitter) { emitter in
            show.flush = { emitter.pointee.add($0) }
            StackReplay.run(thread, clock: session.clock, into: &show)
            show.flush = nil
            show.settle()
            // What began after the last chunk's end: nothing, unless that chunk could not be read.
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
            for index in arena.sortedByTime(folding: layout.folds) where !emitter.add(arena.nodes[index]) { return }
        }
    }
}
