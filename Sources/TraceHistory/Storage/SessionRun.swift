internal import TraceAnalysis
public import TraceFile
internal import TraceFindings
public import TraceQuery
internal import TraceText

/// A session as a run of a history.
public struct SessionRun {
    public var run: HistoryRun
    public let content: RunContent
    /// What the recording lacks, a line each.
    public let warnings: [String]

    /// Reads a session. Its sums are kept beside it, as those of `fathom report` are.
    ///
    /// - Parameters:
    ///   - symbols: files and directories with symbols.
    ///   - lines: whether it is asked where functions are defined, which costs more to find.
    /// - Throws: ``HistoryError/unfinished(session:)``, or ``QueryError``.
    /// - Complexity: O(calls of the session), or O(paths) where its sums are kept already.
    public init(
        _ session: Session, symbols: [String] = [], labels: [(name: String, value: String)] = [], lines: Bool = false,
        listener: QueryListener
    ) throws {
        if session.isRecording { throw HistoryError.unfinished(session: session.path) }
        var options = QueryOptions()
        options.usesCache = true
        options.lines = lines
        options.symbolFiles = symbols
        let query = try AggregateQuery(session, options, listener: listener)
        let tree = try query.tree()
        var content = RunContent(tree, program: session.processes.first?.path)
        content.modules = RunContent.Module.all(of: session)
        content.events = ProgramEvents(of: session, resolver: query.query.resolver)
        content.measures = SessionRun.measures(of: session, content)
        self.content = content
        run = HistoryRun(
            of: session, calls: content.functions.reduce(0) { $0 + $1.sums.calls }, total: tree.total)
        run.labels = labels
        warnings = query.warnings
    }

    /// What is known of the run as a whole, and of its start up to main where that was recorded.
    private static func measures(
        of session: Session, _ content: RunContent
    ) -> [(measure: RunMeasure, value: UInt64)] {
        var measures: [(measure: RunMeasure, value: UInt64)] = []
        if let usage = session.description?.usage {
            measures.append((.processorTime, usage.processor.total))
            if let instructions = usage.instructions { measures.append((.instructions, instructions)) }
        }
        if session.tellsMemory {
            measures.append((.allocations, content.functions.reduce(0) { $0 + $1.allocations }))
        }
        guard session.description?.option(.startup) == "true", let start = try? StartupQuery(session, .main).startup,
            start.incompleteness == nil
        else { return measures }
        measures += start.phases.filter(\.isBeforeMain).map { (.phase($0.name), $0.nanoseconds) }
        // Functions of one name in one module are one.
        var initializers: [(name: String, time: UInt64)] = []
        for one in start.initializers {
            let name = "\(PathText.name(one.module)) \(one.function)"
            if let place = initializers.firstIndex(where: { $0.name == name }) {
                initializers[place].time += one.nanoseconds
            } else {
                initializers.append((name, one.nanoseconds))
            }
        }
        return measures + initializers.map { (.initializer($0.name), $0.time) }
    }
}
