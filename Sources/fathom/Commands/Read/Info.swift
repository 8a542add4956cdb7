internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceRequest
internal import TraceSymbols
internal import TraceText

struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what a session holds: the command, processes, threads, modules, sizes, damage.",
        usage: "fathom info [<options>] [<session>]\nfathom info [<options>] <program>",
        discussion: "Of a program or library: which of its functions have hooks.",
        examples: [
            (
                "fathom info prog.fathom",
                "Tells what was recorded, of which processes and threads, and what is missing."
            ),
            ("fathom info ./prog", "Lists the program's functions, and which have hooks."),
        ])

    @Argument(
        help: ArgumentHelp(
            "A session directory, or a program; the newest session here if left out.", valueName: "session"),
        completion: .file())
    var given: String?

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Flag(help: "List the modules of each process.")
    var modules = false

    @Flag(help: "Look for damage in all of the recording. Without it, only headers and metadata are looked at.")
    var check = false

    @Flag(help: "Show which process came from which, what each was called, when it began, and how long it lasted.")
    var tree = false

    @Option(
        name: [.customShort("t", allowingJoined: true), .long],
        help: ArgumentHelp("Of the tree: sum up processes that lasted less: 10us, 1.5ms, 2s.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var minCost: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Of the tree: show this many lines; 0 for all. On a terminal, as many as fit.", valueName: "lines"))
    var limit: Int?

    @Flag(name: .customLong("no-fold"), help: "Of the tree: a line for each process, also for those that are alike.")
    var noFold = false

    @Flag(help: "Of a program: show Swift's names in full, with modules and types.")
    var rawNames = false

    @Option(help: "text or json.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of lines") }
        if !tree, minCost != nil || limit != nil || noFold {
            throw ValidationError("--min-cost, --limit and --no-fold are for --tree")
        }
        if tree, modules { throw ValidationError("--tree and --modules exclude each other") }
        if tree, check { throw ValidationError("--tree and --check exclude each other") }
    }

    func run() throws {
        let screen = Screen(screenOptions, format)
        if let given, isProgram(given) { return try tellHooks(of: given, on: screen) }
        let opened = try openSession(given ?? newestSession())
        if tree { return try tellProcesses(of: opened, on: screen) }
        try screen.show { writer in
            InfoReport(writer, session: opened, showsModules: modules, checksPayloads: check, layout: screen.layout)
                .write(format)
            return Answer(opened, warnings: opened.damage.entries.map(\.description), sessions: [opened])
        }
    }

    private func tellProcesses(of session: Session, on screen: Screen) throws {
        var options = ProcessTreeReport.Options()
        options.minCost = minCost?.nanoseconds ?? 0
        options.folds = !noFold
        options.limit = screen.rows(limit)
        options.layout = screen.layout
        try screen.show { writer in
            ProcessTreeReport(writer, ProcessTree(of: session), options: options).write(format)
            return Answer(session, warnings: session.warnings, sessions: [session])
        }
    }

    private func isProgram(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let file = fopen(path, "re") else {
            return false
        }
        defer { fclose(file) }
        var magic = [UInt8](repeating: 0, count: 4)
        return fread(&magic, 1, 4, file) == 4 && magic == [0x7f] + Array("ELF".utf8)
    }

    private func tellHooks(of program: String, on screen: Screen) throws {
        let report: HooksReport
        do throws(SymbolProblem) {
            report = HooksReport(
                try hookedModules(of: program).map { module in
                    HooksReport.Module(
                        path: module.path,
                        functions: module.functions.functions.map { ($0.name(raw: rawNames), $0.isHooked) },
                        includesLibraries: module.functions.includesLibraries)
                })
        } catch {
            throw Diagnostics.fail("\(program): which functions have hooks cannot be told: \(error)", .failed)
        }
        try screen.show(report, as: format)
    }
}
