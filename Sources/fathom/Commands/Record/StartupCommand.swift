internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery
internal import TraceReports
internal import TraceServe
internal import TraceText

/// `fathom startup [options] -- CMD ARGS...` and `fathom startup SESSION`
struct StartupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "startup",
        abstract: "Show where the start of a program goes, and what to do about it.",
        usage: """
            fathom startup [<options>] -- <program> [<arguments> ...]
            fathom startup [<options>] <session>
            fathom startup --plan-from <session> [-o <file>]
            """,
        discussion: """
            From the moment in which the program was asked for: the kernel, the loader, each initializer of every library by \
            itself, and main up to the end point. The program needs no hooks; with hooks, what main and slow initializers call is \
            known, too. The program's own output comes before the report: -o writes that to a file.
            """,
        examples: [
            ("fathom startup -- ./prog 10", "Shows what happens before main."),
            (
                "fathom startup --until work --runs 3 -o start.html -- ./prog 10",
                "Starts it three times, up to the first call of work, and draws the median as a page."
            ),
        ])

    @Option(
        help: ArgumentHelp(
            """
            The end of the start: main, 'mark NAME' (fathom_mark), or a function, when it is called first (default: main; with a \
            plan, the program's end).
            """, valueName: "main|mark|function"), completion: .end)
    var until: String?

    @Option(help: ArgumentHelp("Start the program so many times.", valueName: "runs"))
    var runs = 1

    @Flag(help: "Empty the page cache of the files that the program maps before each run.")
    var cold = false

    @Option(help: "How to write it (default: as the file's ending says, html or json, else text).")
    var format: StartupReport.Format?

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("Write it to this file; - is standard output.", valueName: "file"), completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("Keep the recording here; of several runs as NAME-1.fathom and so on.", valueName: "name"),
        completion: .directory)
    var session: String?

    @Option(
        help: ArgumentHelp("Show so many initializers and pieces of advice; 0 for all.", valueName: "rows"))
    var limit = 10

    @Option(
        help: ArgumentHelp(
            "Compare the program's named scopes with this plan of tasks (JSON), and schedule it.", valueName: "file"),
        completion: .file())
    var plan: String?

    @Option(
        help: ArgumentHelp("Write a plan by what happened in this session.", valueName: "session"),
        completion: .session)
    var planFrom: String?

    @Option(help: ArgumentHelp("Schedule the plan on so many threads (default: one a CPU).", valueName: "threads"))
    var width: Int?

    @OptionGroup var symbols: SymbolOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Argument(
        help: ArgumentHelp("A session, best of record --startup.", valueName: "session"), completion: .session)
    var given: String?

    @Argument(parsing: .postTerminator, help: "The program and its arguments.", completion: .file())
    var command: [String] = []

    func validate() throws {
        if given != nil, !command.isEmpty { throw ValidationError("a program and a session exclude each other") }
        if planFrom != nil, given != nil || !command.isEmpty || plan != nil {
            throw ValidationError("--plan-from names the session: leave out the program, the session and --plan")
        }
        if let width {
            if plan == nil { throw ValidationError("--width is for --plan") }
            guard 1...1024 ~= width else { throw ValidationError("--width is a number of threads from 1 to 1024") }
        }
        if planFrom == nil, given == nil, command.isEmpty {
            throw ValidationError("name what to start: fathom startup -- CMD ARGS..., or a session")
        }
        guard 1...1000 ~= runs else { throw ValidationError("--runs is a number from 1 to 1000") }
        if limit < 0 { throw ValidationError("--limit is a number of rows") }
        if command.isEmpty {
            if runs > 1 { throw ValidationError("--runs is for a program, not for a session") }
            if cold { throw ValidationError("--cold is for a program, not for a session") }
            if session != nil { throw ValidationError("--session is for a program, not for a session") }
        }
        if session?.isEmpty == true { throw ValidationError("--session names the session directory") }
        if let until, until.isEmpty || until == "mark" || until == "mark " {
            throw ValidationError("--until is main, 'mark NAME' or a function")
        }
    }

    /// Where the start is over.
    private var end: StartupQuery.End {
        guard let until else { return plan == nil && planFrom == nil ? .main : .last }
        if until == "main" { return .main }
        return until.hasPrefix("mark ") ? .mark(String(until.dropFirst("mark ".count))) : .function(until)
    }

    func run() throws {
        if let planFrom { return try propose(planFrom) }
        let plan = try plan.map(readPlan)
        var starts: [StartupQuery] = []
        var coldText: String?
        if let given {
            starts = [try query(openSession(given))]
        } else {
            let recording = StartupRecording(command, runs: runs, isCold: cold, session: session)
            defer { recording.remove() }
            for index in 0..<runs { starts.append(try query(openSession(recording.run(index)))) }
            coldText = recording.coldText
        }
        let file = try output.map { try OutputFile($0) }
        let format = format ?? output.flatMap { StartupReport.Format(rawValue: FileName.ending($0)) } ?? .text
        let screen = Screen(screenOptions, file == nil ? format : .json)
        var options = StartupReport.Options()
        options.layout = file == nil ? screen.layout : TextLayout()
        options.limit = limit == 0 ? nil : limit
        let session = starts[0].query.session
        options.title = CommandText.line(command.isEmpty ? session.description?.command ?? [] : command)
        if let plan {
            let threads = width ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
            options.plan = { [starts] run in
                LaunchReport(starts[run].comparison(plan, width: threads), scopes: starts[run].scopeNames)
            }
        }
        let report = StartupReport(
            starts.map { StartupReport.Run($0.startup, functions: $0.query.functions) }, cold: coldText,
            options: options)
        let answer = Answer(
            report, warnings: starts.flatMap(\.warnings), sessions: starts.map(\.query.session))
        if format == .html, let file, given != nil, session.content == .calls, let path = realpath(session.path, nil) {
            // The recording is there, so its calls are beside the report.
            defer { free(path) }
            let page = try SavedPage(
                session, at: String(cString: path), article: report.article, progress: Diagnostics.progress("saving"))
            page.write(to: file.writer)
            try file.finish()
            try answer.say()
        } else {
            try screen.show(report, as: format, of: answer, into: file)
        }
        let incomplete = starts.count { $0.startup.incompleteness != nil }
        if incomplete > 0, let reason = starts.lazy.compactMap(\.startup.incompleteness).first {
            let runs = runs > 1 ? " in \(incomplete) of \(runs) runs" : ""
            throw Diagnostics.fail("incomplete\(runs): \(reason)", .nothing)
        }
    }

    /// - Throws: exit status 2, the reason said, when the file cannot be read or is no plan.
    private func readPlan(_ path: String) throws -> LaunchPlan {
        try FileName.check(path)
        do throws(LaunchManifest.Problem) { return try LaunchManifest.read(path) } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }

    private func propose(_ path: String) throws {
        let start = try query(openSession(path))
        let proposed: LaunchPlan
        do throws(LaunchManifest.Problem) { proposed = try start.proposedPlan() } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
        guard !proposed.tasks.isEmpty else {
            throw Diagnostics.fail(
                "\(path): the program entered no named scope before the end (FATHOM_SCOPE)", .nothing)
        }
        let file = try output.map { try OutputFile($0) }
        try Screen(screenOptions, ReportFormat.json).show(into: file) { writer in
            LaunchReport.write(proposed, to: writer)
            return Answer(proposed)
        }
        Diagnostics.say("each task depends on the one before it on its thread: take out what it does not need")
    }

    private func query(_ session: Session) throws -> StartupQuery {
        var options = QueryOptions()
        options.symbolFiles = symbols.symbols
        return try StartupQuery(session, end, options, listener: Diagnostics.listener())
    }
}
