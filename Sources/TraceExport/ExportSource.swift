public import TraceAnalysis
public import TraceFile

/// What is exported: the calls of some threads of a session that a filter keeps.
public struct ExportSource {
    public let session: Session
    let resolver: FunctionResolver
    let selection: [(process: TracedProcess, threads: [TracedThread])]
    let filter: TreeFilter
    /// The time to show, in ns since the session's start. What lies outside is not shown, and calls that reach outside
    /// are cut.
    let window: Range<UInt64>?
    private let onProgress: (Double) -> Void
    private let known = Known()

    /// What has been read, so that it is read only once.
    private final class Known {
        var callPaths: CallPathTree?
        var groups: [CallPathTree]?
    }

    /// - Parameter onProgress: told what part of a reading is done, 0...1, and 1 at its end. An export may take several.
    public init(
        _ session: Session, resolver: FunctionResolver,
        selection: [(process: TracedProcess, threads: [TracedThread])], filter: TreeFilter = TreeFilter(),
        window: Range<UInt64>? = nil, onProgress: @escaping (Double) -> Void = { _ in }
    ) {
        self.session = session
        self.resolver = resolver
        self.selection = selection
        self.filter = filter
        self.window = window
        self.onProgress = onProgress
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
        var filter = filter
        filter.from = max(filter.from, window.lowerBound)
        filter.to = min(filter.to, window.upperBound)
        return ExportSource(
            session, resolver: resolver, selection: selection, filter: filter, window: window, onProgress: onProgress)
    }

    var functions: FunctionTable { resolver.functions }

    /// Shows every call to `writer`, track by track.
    ///
    /// - Complexity: O(records); memory as ``CallTree`` says.
    func write<Writer: TrackWriter>(to writer: inout Writer, limit: ViewerLimit? = nil) -> ExportSummary {
        var layout = TreeLayout()
        layout.folds = false
        let progress = ReadingProgress(of: selection.flatMap(\.threads), report: onProgress)
        let tree = CallTree(of: session, resolver: resolver, filter: filter, layout: layout, progress: progress)
        var visitor = TrackVisitor(writer, limit: limit, window: window)
        tree.walk(selection, &visitor)
        progress.end()
        writer = visitor.writer
        return visitor.summary
    }

    private var aggregation: Aggregation {
        Aggregation(of: session, resolver: resolver, filter: filter, onProgress: onProgress)
    }

    /// The call paths of all calls together, kept for the next time.
    ///
    /// - Complexity: O(records), shared out over all cores; memory is O(call paths).
    func callPaths() -> CallPathTree {
        if let paths = known.callPaths { return paths }
        let paths = aggregation.tree(of: selection.flatMap(\.threads))
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
            let tree = aggregation.tree(of: group.threads)
            if !tree.paths.isEmpty { body(group, tree) }
            room -= tree.paths.count
            if room >= 0 { kept.append(tree) } else { kept = [] }
        }
        if room >= 0 { known.groups = kept }
    }

    /// The number of call paths of groups that are kept at most, which take some 100 bytes each.
    private static let keptPaths = 2_000_000
}
