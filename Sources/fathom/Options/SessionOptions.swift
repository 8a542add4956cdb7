internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFormat
internal import TraceReports

/// The session a command reads, and which of its threads.
struct SessionOptions: ParsableArguments {
    @Argument(help: "A session directory, or a program recorded into PROGRAM.fathom.")
    var session: String

    @OptionGroup var threads: ThreadOptions
    @OptionGroup var symbols: SymbolOptions

    /// Opens the session; see ``openSession(_:)``.
    func open() throws -> Session { try openSession(session) }

    /// See ``ThreadOptions/selection(of:joiningTasks:)``.
    func selection(
        of session: Session, joiningTasks resolver: FunctionResolver? = nil
    ) throws -> [(process: TracedProcess, threads: [TracedThread])] {
        try threads.selection(of: session, joiningTasks: resolver)
    }
}
