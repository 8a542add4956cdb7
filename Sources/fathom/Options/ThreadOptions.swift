internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFormat
internal import TraceReports

/// Which threads of a session a command reads.
struct ThreadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only threads of this id or name, or main; 'task 12' or 'task *' for Swift's tasks.", valueName: "tid|glob")
    )
    var thread: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only processes of this id, program, or command or title as headings tell it.", valueName: "pid|glob"))
    var process: [String] = []

    /// The processes that are asked for, with their threads that are.
    ///
    /// - Parameter resolver: given, the pieces of Swift's tasks are joined: after the threads of a process come its tasks.
    ///   Threads that are asked for by themselves are as they were.
    func selection(
        of session: Session, joiningTasks resolver: FunctionResolver? = nil
    ) throws -> [(process: TracedProcess, threads: [TracedThread])] {
        let choice = try Choice(self)
        let join = resolver.map { TaskJoin(of: session, resolver: $0) }
        let selection: [(process: TracedProcess, threads: [TracedThread])] = session.processes.compactMap { candidate in
            guard choice.contains(candidate) else { return nil }
            let joined = join?.threads(of: candidate) ?? candidate.threads
            if thread.isEmpty { return (candidate, joined) }
            let kept = (candidate.threads + joined.filter { $0.task != nil }).filter(choice.contains)
            return kept.isEmpty ? nil : (candidate, kept)
        }
        if selection.isEmpty, !process.isEmpty || !thread.isEmpty {
            throw Diagnostics.fail("no thread is selected by \((process + thread).joined(separator: ", "))", status: 1)
        }
        return selection
    }

    /// Whether Swift's tasks are shown joined, and not as pieces on the threads that ran them: those are what a thread that is
    /// asked for by itself has.
    func joinsTasks(of session: Session) throws -> Bool {
        let choice = try Choice(self)
        return thread.isEmpty
            || !session.processes.contains { choice.contains($0) && $0.threads.contains(where: choice.contains) }
    }

    /// What is asked for.
    private struct Choice {
        private let processIDs: [String]
        private let threadIDs: [String]
        private let processes: [Pattern]
        private let threads: [Pattern]

        init(_ options: ThreadOptions) throws {
            processIDs = options.process
            threadIDs = options.thread
            processes = try processIDs.map { try namePattern($0) }
            threads = try threadIDs.map { try namePattern($0) }
        }

        func contains(_ process: TracedProcess) -> Bool {
            processIDs.isEmpty || processIDs.contains(String(process.pid))
                || processes.contains { $0.matches(process.programName) || $0.matches(process.calledName ?? "") }
        }

        func contains(_ thread: TracedThread) -> Bool {
            threadIDs.contains(String(thread.tid)) || threadIDs.contains("main") && thread.tid == thread.process.pid
                || threads.contains { $0.matches(thread.name) }
        }
    }
}

/// Reads a name pattern; a bad one is bad usage.
func namePattern(_ text: String) throws -> Pattern {
    do throws(Pattern.InvalidPattern) {
        return try Pattern(text)
    } catch {
        throw ValidationError(error.description)
    }
}

/// Opens a session; a failure is printed and thrown as exit status 2.
func openSession(_ path: String) throws -> Session {
    try FileName.check(path)
    do throws(TraceFormatError) {
        return try Session(path: path)
    } catch {
        throw Diagnostics.fail(error)
    }
}
