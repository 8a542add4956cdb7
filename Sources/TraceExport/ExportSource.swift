internal import TraceAnalysis
public import TraceFile
public import TraceQuery

/// What is exported: the calls of some threads of a session that a filter keeps.
public struct ExportSource {
    /// The session, and which of its calls.
    public let query: SessionQuery
    let selection: [ThreadSelection.Selected]
    /// The time to show, in ns since the session's start. What lies outside is not shown, and calls that reach outside
    /// are cut.
    let window: Range<UInt64>?
    private let sums: AggregateQuery
    private let known = Known()

    /// What has been read, so that it is read only once.
    private final class Known {
        var callPaths: CallPathTree?
        var groups: [CallPathTree]?
    }

    /// The calls of a query, whose threads are selected now.
    public init(_ query: SessionQuery) throws(QueryError) {
        self.init(query, try query.selected(), window: nil)
    }

    private init(_ query: SessionQuery, _ selection: [ThreadSelection.Selected], window: Range<UInt64>?) {
        self.query = query
        self.selection = selection
        self.window = window
        sums = AggregateQuery(query, of: selection.flatMap(\.threads))
    }

    public var session: Session { query.session }
    var filter: TreeFilter { query.filter }
    var functions: FunctionTable { query.functions }

    /// What is to be said once the calls have been exported.
    ///
    /// - Parameter isWhole: whether all were, so that it is known which patterns match nothing.
    public func answer(_ written: UInt64, isWhole: Bool = true) -> Answer<UInt64> {
        Answer(
            written, notes: isWhole && written > 0 ? query.severalNames : [],
            warnings: query.warnings(of: selection.flatMap(\.threads))
                + (isWhole && written > 0 ? query.unmatchedPatterns : []),
            emptiness: written > 0 ? nil : query.emptiness, sessions: [session])
    }

    /// The modules of the selected processes, each where it lay in the first process that had it.
    var mappedModules: [ModuleIdentity: Module] {
        let modules = selection.flatMap(\.process.modules).map {
            (ModuleIdentity(path: $0.path, buildID: $0.buildID), $0)
        }
        return Dictionary(modules) { first, _ in first }
    }

    /// The calls of this source in `window` alone.
    func part(_ window: Range<UInt64>) -> ExportSource {
        ExportSource(query.part(window), selection, window: window)
    }

    /// Shows every call to `writer`, track by track.
    ///
    /// - Complexity: O(records); memory as ``CallTree`` says.
    func write<Writer: TrackWriter>(to writer: inout Writer, limit: ViewerLimit? = nil) -> ExportSummary {
        var layout = TreeLayout()
        layout.folds = false
        var visitor = TrackVisitor(writer, limit: limit, window: window)
        CallsQuery(query, of: selection, layout: layout).walk(&visitor)
        writer = visitor.writer
        return visitor.summary
    }

    /// The call paths of all calls together, kept for the next time.
    ///
    /// - Complexity: O(call paths) where the sums are kept beside the session; otherwise O(records), shared out over all cores.
    func callPaths() -> CallPathTree {
        if let paths = known.callPaths { return paths }
        let paths = sums.anyTree()
        known.callPaths = paths
        return paths
    }

    /// Passes the call paths of each group of threads that has some.
    ///
    /// - Complexity: O(records), shared out over all cores. They are kept for the next time unless there are very many;
    ///   memory is O(call paths) of a group then.
    func forEachGroup(_ body: (ThreadGroup, CallPathTree) -> Void) {
        let groups = ThreadGroup.groups(of: selection)
        if let trees = known.groups {
            for (group, tree) in zip(groups, trees) where !tree.paths.isEmpty { body(group, tree) }
            return
        }
        var kept: [CallPathTree] = []
        var room = ExportSource.keptPaths
        for group in groups {
            // All that there is may be kept beside the session.
            let tree = groups.count == 1 ? callPaths() : sums.tree(of: group.threads)
            if !tree.paths.isEmpty { body(group, tree) }
            room -= tree.paths.count
            if room >= 0 { kept.append(tree) } else { kept = [] }
        }
        if room >= 0 { known.groups = kept }
    }

    /// The number of call paths of groups that are kept at most, which take some 100 bytes each.
    private static let keptPaths = 2_000_000
}
