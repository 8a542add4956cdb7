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
    private let aggregation: Aggregation
    private let resolver: FunctionResolver
    /// What is taken out of all times.
    let cost: TracingCost?
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
        guard let cache else { return aggregation.tree(of: threads) }
        let whole = cache.load()?.tree(functions) ?? readWhole(cache).tree
        // What is kept is as it was recorded, whatever baseline came or went.
        return (cost.map(whole.corrected) ?? whole).filtered(filter)
    }

    /// A row for each function, and what the record options left out; throws when there is nothing to show.
    func functionRows() throws -> (rows: [AggregateRow], dropped: CallSum) {
        let known = keptRows ?? { ($0.rows(by: .function), $0.dropped) }(anyTree())
        try check(isEmpty: known.rows.isEmpty)
        return known
    }

    /// What the calls of each thread add up to, those that have none left out; throws when there is nothing to show.
    func threadSums() throws -> [ThreadSums] {
        let known =
            hasPlainRows
            ? cache.map { $0.load()?.threads(of: session, functions, settings) ?? readWhole($0).threads } : nil
        let sums = known ?? aggregation.threadSums(of: threads)
        try check(isEmpty: sums.isEmpty)
        return sums
    }

    /// How rows are made that are kept.
    private var settings: RowSettings { RowSettings(cost: cost, hidesCompilerMade: filter.hidesCompilerMade) }

    /// Whether rows are of everything, but for what is always hidden.
    private var hasPlainRows: Bool { !filter.limitsNames && filter.maxDepth == .max }

    /// Rows of functions from kept sums, which are made if there are none.
    private var keptRows: (rows: [AggregateRow], dropped: CallSum)? {
        guard let cache, hasPlainRows else { return nil }
        if let kept = cache.load() {
            if let known = kept.functionRows(functions, settings) { return known }
            // Its paths do for other settings.
            if kept.tree(functions) != nil { return nil }
        }
        let whole = readWhole(cache)
        return (whole.rows, whole.tree.dropped)
    }

    /// Reads all of the recording, as it was recorded, and keeps what it adds up to.
    private func readWhole(
        _ cache: AggregateCache
    ) -> (tree: CallPathTree, rows: [AggregateRow], threads: [ThreadSums]) {
        let (tree, sums) = AggregateInput.aggregation(session, resolver, TreeFilter(), nil)
            .sums(of: threads, rows: settings)
        let rows = settings.shown(tree).rows(by: .function)
        // What is damaged is to be told of every time.
        if session.damage.entries.isEmpty { cache.store(tree, rows, sums, settings) }
        return (tree, rows, sums)
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
