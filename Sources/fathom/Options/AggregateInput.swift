internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFormat

/// The call paths of a session: what the commands that add calls up start from.
struct AggregateInput {
    let session: Session
    /// What is asked for, as it was recorded where that is everything: its calls may be known already.
    let recorded: [TracedThread]
    let functions: FunctionTable
    let filter: TreeFilter
    let aggregation: Aggregation
    private let resolver: FunctionResolver
    private let cost: TracingCost?
    private let cache: AggregateCache?
    private let joined: JoinedThreads

    /// What is asked for, with Swift's tasks joined, which takes as long as to read it.
    var threads: [TracedThread] { joined.threads }

    private final class JoinedThreads {
        private let join: () -> [TracedThread]
        private(set) lazy var threads = join()

        init(_ join: @autoclosure @escaping () -> [TracedThread]) { self.join = join }
    }

    /// - Parameters:
    ///   - usesCache: whether call paths of the whole session may be kept beside it.
    ///   - times: whether the cost of tracing is taken out of times.
    init(
        _ input: SessionOptions, _ filters: FilterOptions?, usesCache: Bool, times: CorrectionOptions? = nil
    ) throws {
        try self.init(input.open(), input.threads, input.symbols, filters, usesCache: usesCache, times: times)
    }

    init(
        _ session: Session, _ selection: ThreadOptions, _ symbolOptions: SymbolOptions, _ filters: FilterOptions?,
        usesCache: Bool, times: CorrectionOptions? = nil
    ) throws {
        self.session = session
        let symbols = try SymbolSource(for: session, selection, symbolOptions, rawNames: filters?.rawNames ?? false)
        filter = try filters?.treeFilter(of: session, symbols) ?? TreeFilter()
        functions = symbols.functions(lines: true)
        let resolver = FunctionResolver(functions)
        self.resolver = resolver
        let isWhole = selection.thread.isEmpty && selection.process.isEmpty
        if isWhole {
            recorded = session.processes.flatMap(\.threads)
            joined = JoinedThreads(
                session.processes.flatMap { TaskJoin(of: session, resolver: resolver).threads(of: $0) })
        } else {
            let chosen = try selection.selection(of: session, joiningTasks: resolver).flatMap(\.threads)
            recorded = chosen
            joined = JoinedThreads(chosen)
        }
        cost = try times?.cost(of: session, isWhole: filter.from == 0 && filter.to == .max)
        aggregation = AggregateInput.aggregation(session, resolver, filter, cost)
        let isCached = usesCache && isWhole && filters?.rawNames != true && symbolOptions.symbols.isEmpty
        cache = isCached && filter.from == 0 && filter.to == .max ? AggregateCache(session) : nil
    }

    private static func aggregation(
        _ session: Session, _ resolver: FunctionResolver, _ filter: TreeFilter, _ cost: TracingCost?
    ) -> Aggregation {
        var progress = ProgressLine("reading")
        return Aggregation(of: session, resolver: resolver, filter: filter, cost: cost) { progress.show($0) }
    }

    /// The call paths of all threads; throws when there is nothing to show.
    func tree() throws -> CallPathTree {
        let tree = anyTree()
        try check(isEmpty: tree.paths.isEmpty)
        return tree
    }

    /// The call paths of all threads; none when there is nothing to show.
    func anyTree() -> CallPathTree {
        cache.map { corrected(whole(from: $0)).filtered(filter) } ?? aggregation.tree(of: threads)
    }

    /// What is kept is as it was recorded, whatever baseline came or went.
    private func corrected(_ tree: CallPathTree) -> CallPathTree { cost.map(tree.corrected) ?? tree }

    /// The call paths of the whole session, from `cache` if it has them.
    private func whole(from cache: AggregateCache) -> CallPathTree {
        if let kept = cache.load(functions) { return kept }
        let tree = AggregateInput.aggregation(session, resolver, TreeFilter(), nil).tree(of: threads)
        // What is damaged is to be told of every time.
        if session.damage.entries.isEmpty { cache.store(tree) }
        return tree
    }

    /// A row for each thread that has calls left, in their order.
    func rowsByThread() -> [AggregateRow] {
        var rows = [AggregateRow?](repeating: nil, count: threads.count)
        aggregation.forEachTree(of: threads) { index, tree in
            if !tree.paths.isEmpty { rows[index] = tree.row(of: threads[index]) }
        }
        return rows.compactMap { $0 }
    }

    /// Says why nothing is shown, when that is so.
    func check(isEmpty: Bool, matching pattern: String? = nil) throws {
        guard isEmpty else { return }
        warn()
        if session.hasCalls, let pattern { throw Diagnostics.fail("no function matches '\(pattern)'", status: 1) }
        throw Diagnostics.failEmpty(session)
    }

    /// Says what the recording lacks.
    func warn() {
        Diagnostics.warn(session.damage)
        Diagnostics.warn(session.losses)
        let lost = recorded.reduce(UInt64(0)) { $0 &+ $1.lostCalls }
        if lost > 0 { Diagnostics.warn("\(lost) calls left no record; their time is in their callers' self time") }
    }
}

extension Session {
    var hasCalls: Bool { processes.contains { $0.threads.contains { $0.countCalls() > 0 } } }
}

extension Diagnostics {
    /// Ends a command that has no call to show.
    static func failEmpty(_ session: Session) -> ExitCode {
        if session.hasCalls { return fail("no calls are left by the filters", status: 1) }
        // What is damaged was told before.
        let isLost = !session.damage.entries.isEmpty
        return fail("the recording has no calls", status: isLost ? unreadable.rawValue : 1)
    }
}
