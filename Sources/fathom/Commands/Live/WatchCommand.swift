internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceBuild
internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText
internal import TraceWatch

/// `fathom watch [options] -- CMD ARGS...`, `fathom watch SESSION|PID` and `fathom watch --list DIR`
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a program for hangs and deadlocks, and report each with the open calls of all threads.",
        usage: """
            fathom watch [<options>] -- <program> [<arguments> ...]
            fathom watch [<options>] <session|pid>
            fathom watch --list <directory> [--format <format>]
            """,
        discussion: """
            Fathom watches from outside, so a program that is stuck is still seen. A report has the exact open calls of the \
            thread that hangs with the time in each, those of all other threads, and what each of them waits for. A process that \
            is stopped or suspended does not hang.
            """,
        examples: [
            ("fathom watch -- ./prog 10", "Reports calls below main that take longer than 2 seconds."),
            (
                "fathom watch --timeout 200ms --root 'work*' -- ./prog 10",
                "Reports calls of these functions on any thread, from 200 ms on."
            ),
        ])

    @OptionGroup var hangs: HangOptionGroup

    @Option(
        help: ArgumentHelp("Put reports into this directory (default: <program>.hangs).", valueName: "directory"),
        completion: .directory)
    var reports: String?

    @Option(help: ArgumentHelp("List the reports in this directory.", valueName: "directory"), completion: .directory)
    var list: String?

    @Option(help: "How reports are printed, and lists; files are written in both ways.")
    var format = ReportFormat.text

    @Flag(name: .shortAndLong, help: "Print nothing; write only the files.")
    var quiet = false

    @Argument(
        help: ArgumentHelp(
            "A session that is being recorded, or the id of a process that is.", valueName: "session|pid"),
        completion: .session)
    var target: String?

    @Argument(parsing: .postTerminator, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        let given = [target != nil, list != nil, !command.isEmpty].count(where: \.self)
        if given > 1 { throw ValidationError("a program, a session and --list exclude each other") }
        if given == 0 {
            throw ValidationError("name what to watch: fathom watch -- CMD ARGS..., or a session, or a process id")
        }
        if reports?.isEmpty == true { throw ValidationError("--reports names a directory") }
    }

    func run() throws {
        if let list { return try show(list) }
        if let target { return try watch(target) }
        try watchProgram()
    }

    private func show(_ directory: String) throws {
        let screen = Screen(isText: format == .text)
        let list = HangList(try HangFiles.read(directory), layout: screen.layout)
        guard !list.rows.isEmpty else { throw Diagnostics.fail("\(directory): no reports of hangs", .nothing) }
        try screen.show(list, as: format)
    }

    // MARK: A session that is being recorded

    private func watch(_ target: String) throws {
        let session = try runningSession(target)
        let options = try hangs.options()
        let live: LiveSession
        do { live = try LiveSession(at: session, wantsMarks: options.wantsMarks) } catch {
            throw Diagnostics.fail("\(target): nobody records into it any more", .failed)
        }
        if !live.threads.content.tellsOpenCalls {
            throw Diagnostics.fail(
                "\(session) does not keep which calls are open: record without --mode counts or stack", .wrongUsage)
        }
        if options.wantsMarks, !live.threads.isRing {
            throw Diagnostics.fail(
                "--between and --launched read marks, which only stay where they can be found in a session of record --mode flight",
                .wrongUsage)
        }
        guard live.isAlive else { throw Diagnostics.fail("\(target): nobody records into it any more", .failed) }
        for spot in live.blindSpots { Diagnostics.warn(spot) }
        let name = SessionDirectory.stem(of: SessionName.stem(session))
        let files = try HangFiles(in: reports ?? "\(name).hangs", format, isQuiet: quiet, to: STDOUT_FILENO)
        let watcher = HangWatcher(
            live, options, isAllowed: { [limit = hangs.limitReports] in files.countOfLastDay < limit },
            news: { files.take($0) })
        Interruption.whenever([SIGINT, SIGTERM, SIGHUP]) { watcher.stop() }
        let programs = Set(live.threads.look().map(\.pid)).compactMap { resolvedExecutable(Int32(bitPattern: $0)) }
        if !quiet { hangs.warnings(on: programs).forEach(Diagnostics.say) }
        watcher.run()
        tell(unseen: watcher.unseenMarks)
        try files.summarize(refused: watcher.refused)
    }

    /// The session that is meant: a directory, or that of a process.
    private func runningSession(_ target: String) throws -> String {
        try FileName.check(target)
        if let pid = processNumber(target), pid > 0 {
            if let session = SessionOfProcess.directory(pid) { return session }
            guard kill(pid, 0) == 0 || errno != ESRCH else {
                throw Diagnostics.fail("there is no process \(pid)", .failed)
            }
            throw Diagnostics.fail(
                "process \(pid) is not being recorded: start it by fathom watch, or look at its stacks by fathom sample \(pid)",
                .failed)
        }
        return try openSession(target, readsCalls: false).path
    }

    private func resolvedExecutable(_ pid: Int32) -> String? {
        guard let path = realpath("/proc/\(pid)/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// Says which marks would have begun or ended something, and never came.
    private func tell(unseen marks: [String]) {
        guard !quiet else { return }
        for mark in marks { Diagnostics.warn("no thread was seen to set the mark '\(mark)'") }
    }

    // MARK: A program

    private func watchProgram() throws {
        let options = try hangs.options(), stem = SessionName.stem(command[0])
        try FileName.check(command[0])
        let directory = reports ?? "\(stem).hangs"
        let files: HangFiles
        let companion: HangCompanion
        let summary: RecordingSummary
        do {
            let executable = try findExecutable(command[0])
            var record = RecordOptions()
            record.mode = .flight
            var request = try RecordingRequest(
                of: executable, command, into: "\(directory)/\(stem)-\(getpid()).fathom", record)
            files = try HangFiles(in: directory, format, isQuiet: quiet, to: STDERR_FILENO)
            companion = HangCompanion(options, files, limit: hangs.limitReports)
            request.companion = companion
            // What led to a crash is saved by `record --mode flight`, not here.
            request.flight.savesCrashes = false
            if !quiet { hangs.warnings(on: [executable]).forEach(Diagnostics.say) }
            summary = try Recorder(request, runtime: Installation.runtimeLibrary).run { _exit(0) }
        } catch let error as SymbolProblem {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
        if let problem = companion.problem { Diagnostics.warn("nobody watched: \(problem)") }
        if summary.isContinued, !quiet {
            Diagnostics.warn("processes that the program started are still running; nobody watches them any more")
        }
        tell(unseen: companion.unseenMarks)
        try? files.summarize(refused: companion.refused)
        ProgramEnd.end(as: summary.status)
    }
}
