public import TraceAnalysis
public import TraceFile
internal import TraceText

/// What the calls of a session add up to.
public struct AggregateQuery {
    public let query: SessionQuery
    /// What is asked for, as it was recorded where that is everything: its calls may be known already.
    public let recorded: [TracedThread]
    /// What is taken out of all times.
    public let cost: TracingCost?
    private let aggregation: Aggregation
    private let cache: KeptSumsFile?
    private let joined: JoinedThreads

    public var session: Session { query.session }
    public var functions: FunctionTable { query.functions }
    public var filter: TreeFilter { query.filter }

    /// What is asked for, with Swift's tasks joined, which takes as long as to read it.
    public var threads: [TracedThread] { joined.threads }

    private final class JoinedThreads {
        private let join: () -> [TracedThread]
        private(set) lazy var threads = join()

        init(_ join: @autoclosure @escaping () -> [TracedThread]) { self.join = join }
    }

    /// - Parameter listener: is told of what is wrong, and how far reading is.
    public init(
        _ session: Session, _ options: QueryOptions, listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        let query = SessionQuery(session, options, listener: listener)
        if !options.takesFirstCalls { try session.requireSums(for: "this needs what all calls add up to") }
        let isAllTime = query.isOfAllTime
        if !isAllTime { try session.requireCalls(for: "--from and --to ask for moments") }
        let cost = try AggregateQuery.cost(of: session, options.times, isWhole: isAllTime)
        if options.selection.isAll {
            let join = query.taskJoin
            self.init(
                query, recorded: session.processes.flatMap(\.threads),
                JoinedThreads(session.processes.flatMap { join.threads(of: $0) }), cost)
        } else {
            let chosen = try query.selected().flatMap(\.threads)
            self.init(query, recorded: chosen, JoinedThreads(chosen), cost)
        }
    }

    /// What the calls of `threads`, which `query` selected, add up to. Times are as they were recorded.
    public init(_ query: SessionQuery, of threads: [TracedThread]) {
        self.init(query, recorded: threads, JoinedThreads(threads), nil)
    }

    private init(_ query: SessionQuery, recorded: [TracedThread], _ joined: JoinedThreads, _ cost: TracingCost?) {
        self.query = query
        self.recorded = recorded
        self.joined = joined
        self.cost = cost
        aggregation = AggregateQuery.aggregation(query, query.filter, cost)
        let options = query.options
        let isCached =
            options.usesCache && options.selection.isAll && !options.rawNames && options.symbolFiles.isEmpty
            && query.isOfAllTime
        cache = isCached ? KeptSumsFile(query.session) : nil
    }

    /// What is to be taken out of the times of `session`; nil for nothing.
    ///
    /// - Parameter isWhole: all of the recording is looked at. The cost of a part is not known: calls that reach beyond it
    ///   would be relieved of all their callees' cost.
    private static func cost(
        of session: Session, _ times: QueryOptions.Times, isWhole: Bool
    ) throws(QueryError) -> TracingCost? {
        if times == .raw { return nil }
        if !isWhole {
            guard times == .corrected else { return nil }
            throw .partIsUncorrected
        }
        let cost = TracingCost(of: session)
        if times == .corrected, cost == nil { throw .noBaseline(session: session.path) }
        return cost
    }

    static func aggregation(
        _ query: SessionQuery, _ filter: TreeFilter, _ cost: TracingCost?, bySite: Bool = false
    ) -> Aggregation {
        Aggregation(
            of: query.session, resolver: query.resolver, filter: filter, cost: cost, bySite: bySite,
            onProgress: query.listener.progress)
    }

    /// The call paths of all threads; throws when there is nothing to show.
    public func tree() throws(QueryError) -> CallPathTree {
        let tree = anyTree()
        try check(isEmpty: tree.paths.isEmpty)
        return tree
    }

    /// The call paths of all threads; none when there is nothing to show.
    public func anyTree() -> CallPathTree {
        guard let cache else { return aggregation.tree(of: threads) }
        let whole = cache.load()?.tree(functions) ?? readWhole(cache).tree
        // What is kept is as it was recorded, whatever baseline came or went.
        return (cost.map(whole.corrected) ?? whole).filtered(filter)
    }

    /// The call paths of some of the threads.
    public func tree(of threads: [TracedThread]) -> CallPathTree { aggregation.tree(of: threads) }

    /// Makes a row for each function, and counts what the record options left out; throws when there is nothing to show.
    public func functionRows() throws(QueryError) -> (rows: [AggregateRow], dropped: CallSum) {
        let known = keptRows ?? { ($0.rows(by: .function), $0.dropped) }(anyTree())
        try check(isEmpty: known.rows.isEmpty)
        return known
    }

    /// The names of all functions that were called; nil when they are not known yet, and the recording is larger than `size`,
    /// in bytes.
    public func functionNames(readingAtMost size: Int) -> [String]? {
        guard cache?.load() != nil || session.plainLogSize + session.buffersSize <= size else { return nil }
        return (try? functionRows())?.rows.compactMap { row in
            if case .function(let id) = row.subject { functions[id].name } else { nil }
        }
    }

    /// What the calls of each thread add up to, those that have none left out; throws when there is nothing to show.
    public func threadSums() throws(QueryError) -> [ThreadSums] {
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
        _ cache: KeptSumsFile
    ) -> (tree: CallPathTree, rows: [AggregateRow], threads: [ThreadSums]) {
        let (tree, sums) = AggregateQuery.aggregation(query, TreeFilter(), nil)
            .sums(of: threads, rows: settings)
        let rows = settings.shown(tree).rows(by: .function)
        // What is damaged is to be told of every time.
        if session.damage.entries.isEmpty { cache.store(tree, rows, sums, settings) }
        return (tree, rows, sums)
    }

    /// Says why nothing is shown, when that is so; what the recording lacks is told before.
    ///
    /// - Parameter pattern: what a function was to match.
    public func check(isEmpty: Bool, matching pattern: Pattern? = nil) throws(QueryError) {
        guard isEmpty else { return }
        lacks.forEach(query.listener.warn)
        if session.hasCalls, let pattern {
            throw .noFunction(pattern.text, near: NearNames(to: pattern, in: functions))
        }
        throw query.emptiness
    }

    /// What the recording lacks.
    var lacks: [String] { query.warnings(of: recorded) }

    /// What the recording lacks, and the filter's patterns that match nothing.
    public var warnings: [String] { lacks + query.unmatchedPatterns }
}
