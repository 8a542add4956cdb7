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
    private let known = Known()

    /// What has been read, so that it is read only once.
    private final class Known {
        var callPaths: CallPathTree?
    }

    public init(
        _ session: Session, resolver: FunctionResolver,
        selection: [(process: TracedProcess, threads: [TracedThread])], filter: TreeFilter = TreeFilter(),
        window: Range<UInt64>? = nil
    ) {
        self.session = session
        self.resolver = resolver
        self.selection = selection
        self.filter = filter
        self.window = window
    }

    var functions: FunctionTable { resolver.functions }

    /// Shows every call to `writer`, track by track.
    ///
    /// - Complexity: O(records); memory as ``CallTree`` says.
    func write<Writer: TrackWriter>(to writer: inout Writer, limit: ViewerLimit? = nil) -> ExportSummary {
        var layout = TreeLayout()
        layout.folds = false
        let tree = CallTree(of: session, resolver: resolver, filter: filter, layout: layout)
        var visitor = TrackVisitor(writer, limit: limit, window: window)
        for (process, threads) in selection where visitor.wantsMore {
            visitor.begin(process)
            for thread in threads where visitor.wantsMore { tree.walk(thread, &visitor) }
            visitor.endProcess()
        }
        writer = visitor.writer
        return visitor.summary
    }

    /// The call paths of all calls together, kept for the next time.
    ///
    /// - Complexity: O(records), shared out over all cores; memory is O(call paths).
    func callPaths() -> CallPathTree {
        if let paths = known.callPaths { return paths }
        let paths = Aggregation(of: session, resolver: resolver, filter: filter).tree(of: selection.flatMap(\.threads))
        known.callPaths = paths
        return paths
    }
}
