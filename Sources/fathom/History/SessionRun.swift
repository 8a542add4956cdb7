internal import TraceAnalysis
internal import TraceFile
internal import TraceHistory
internal import TraceQuery

/// A session as a run of a history.
struct SessionRun {
    var run: HistoryRun
    let content: RunContent
    let warnings: [String]

    /// Reads a session. Its sums are kept beside it, as those of `fathom report` are.
    ///
    /// - Parameters:
    ///   - symbols: files and directories with symbols.
    ///   - lines: whether it is asked where functions are defined, which costs more to find.
    init(_ path: String, symbols: [String] = [], labels: [Label] = [], lines: Bool = false) throws {
        let session = try openSession(path)
        if session.isRecording {
            throw Diagnostics.fail("\(path): is still being recorded, so it is not a whole run yet", .failed)
        }
        var options = QueryOptions()
        options.usesCache = true
        options.lines = lines
        options.symbolFiles = symbols
        let query = try AggregateQuery(session, options, listener: Diagnostics.listener())
        let tree = try query.tree()
        var content = RunContent(tree, program: session.processes.first?.path)
        content.modules = RunContent.Module.all(of: session)
        content.events = ProgramEvents(of: session, resolver: query.query.resolver)
        self.content = content
        run = HistoryRun(
            of: session, calls: content.functions.reduce(0) { $0 + $1.sums.calls }, total: tree.total)
        run.labels = labels.map { ($0.name, $0.value) }
        warnings = query.warnings
    }
}
