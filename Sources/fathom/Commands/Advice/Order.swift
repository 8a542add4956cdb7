internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery
internal import TraceRecording
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText
internal import TraceWatch

struct Order: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put functions in the order of their first calls, for the linker, and say what pages that saves.",
        usage: "fathom order [<options>] [<session> ...] -o <file>",
        discussion: """
            One run gives the order of first calls. Of several, what most of them call lies together, judged on runs left out. \
            The build needs a section for each function: -ffunction-sections; with swiftc -Xfrontend -function-sections. For \
            programs that are linked by mold there is nothing to write: it reads no order.
            """,
        examples: [
            (
                "fathom order prog.fathom -o prog.order",
                "Writes the order for the program's linker, and says how to link with it."
            ),
            (
                "fathom order before.fathom after.fathom --linker bfd -o prog.ld",
                "Writes a script for GNU ld, from two runs."
            ),
        ])

    @Argument(
        help: ArgumentHelp("Sessions, each a run; the newest session here if left out.", valueName: "session"),
        completion: .session)
    var sessions: [String] = []

    @OptionGroup var threads: ThreadOptions

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("Write the order to this file; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: "Write it for this linker (default: the one that linked the program, as far as that is known, else lld).")
    var linker: OrderFile.Linker?

    @Option(
        help: ArgumentHelp(
            "Only functions that were called first before this time since the start.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var to: TimeSpan?

    @Option(
        help: ArgumentHelp("Order this module, by path or name, instead of the program.", valueName: "glob|/regex/"))
    var module: String?

    @Option(
        help: ArgumentHelp("Order the functions of this build, which may have no hooks.", valueName: "program"),
        completion: .file())
    var program: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Measure instead: start two builds by turns, with the arguments behind --, and tell whether the new one is better.",
            valueName: "old> <new"), completion: .file())
    var verify: [String] = []

    @Option(help: ArgumentHelp("With --verify, starts of each build, cold and warm.", valueName: "starts"))
    var runs = 10

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("With --verify, end what runs longer than this.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var limit: TimeSpan?

    @Flag(help: "Also tell what it would be on a phone: with pages of 16 KiB, each of which takes half a millisecond.")
    var compat = false

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "How to write what is saved.")
    var format = ReportFormat.text

    func validate() throws {
        if verify.isEmpty {
            if limit != nil { throw ValidationError("--for is for --verify") }
            return
        }
        if verify.count != 2 {
            throw ValidationError("--verify takes two programs: fathom order --verify OLD NEW -- ARGS")
        }
        if !(2...1000).contains(runs) { throw ValidationError("--runs is a number from 2 to 1000") }
        if output != nil || module != nil || program != nil || to != nil || compat {
            throw ValidationError("with --verify, nothing is put in order: it takes --runs, --for and --format")
        }
    }

    func run() throws {
        if !verify.isEmpty { return try verifyStarts() }
        var options = QueryOptions()
        options.selection = try threads.selection()
        var subject = OrderQuery.Subject()
        subject.module = try module.map(namePattern)
        subject.build = program
        subject.end = to?.nanoseconds ?? .max
        let opened = try (sessions.isEmpty ? [newestSession()] : sessions).map(openSession)
        let file = try output.map { try OutputFile($0) }
        let query = try OrderQuery(opened, options, subject, listener: Diagnostics.listener())
        let used = UsedLinker(of: query.path)
        let linker = linker ?? used.flatMap { OrderFile.Linker(rawValue: $0.rawValue) } ?? .lld
        if let file {
            let functions = query.functions.lazy.map { OrderFile.Function(names: $0.linkageNames) }
            OrderFile(for: linker).write(functions, to: file.writer)
            try file.finish()
        }
        if output == "-" { return try query.answer.say() }
        let screen = Screen(screenOptions, format)
        try screen.show(report(query, screen.layout), as: format, of: query.answer)
        guard let output else { return }
        Diagnostics.say(
            "compile with -ffunction-sections (swiftc: -Xfrontend -function-sections); what was compiled without, as archives may be, stays "
                + "together, and then less is saved than is estimated")
        if let used, used.rawValue != linker.rawValue {
            Diagnostics.warn(
                "\(query.path) was linked by \(used == .bfd ? "GNU ld" : used.rawValue), and another linker lays out everything else anew, too: fathom order --verify tells which is better"
            )
        }
        Diagnostics.say("link with \(OrderFile(for: linker).flag(path: CommandText.file(output)))")
    }

    /// What stands behind `--` are the programs' arguments then.
    private func verifyStarts() throws {
        let paths: [String]
        do throws(RecordingError) {
            paths = [try findExecutable(verify[0]), try findExecutable(verify[1])]
        } catch {
            throw Diagnostics.fail(error.description, status: ExitStatus.failed.rawValue)
        }
        let seconds = Double(limit?.nanoseconds ?? 10_000_000_000) / 1e9
        let verification = StartVerification(old: paths[0], new: paths[1], sessions, runs: runs, limit: seconds)
        let outcome: StartVerification.Outcome
        do throws(StartVerification.Failure) {
            outcome = try verification.run()
        } catch {
            throw Diagnostics.fail(error.description, status: ExitStatus.failed.rawValue)
        }
        let facts = VerifyReport.Facts(old: verify[0], new: verify[1], runs: runs, notCold: outcome.notCold)
        try Screen(screenOptions, format).show(
            VerifyReport(outcome.comparison, facts), as: format,
            of: Answer(outcome.comparison, warnings: outcome.warnings))
        if !outcome.comparison.isBetter { throw ExitStatus.nothing.code }
    }

    private func report(_ query: OrderQuery, _ layout: TextLayout) -> OrderReport {
        let facts = OrderReport.Facts(
            path: query.path.visible, names: query.functions.map(\.name),
            bytes: query.functions.reduce(0) { $0 + UInt64($1.range.count) }, runs: query.runs,
            missing: query.missing, startPages: query.startPages)
        return OrderReport(query.answer.content, facts, showsStartPages: compat, layout: layout)
    }
}
