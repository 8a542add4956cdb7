internal import ArgumentParser
internal import TraceAnalysis
internal import TraceBuild
internal import TraceFile
internal import TraceFindings
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct Unused: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the functions that no run called, and what they take.",
        usage: "fathom unused [<options>] [<session> ...]",
        discussion: """
            What other modules, tables or pointers may call is marked 'verify', what a linker drops by --gc-sections is said so. \
            Nobody knows whether functions without hooks were called, so they are only counted.
            """,
        examples: [
            ("fathom unused prog.fathom --by file", "Shows in which files most code is that was not run."),
            (
                "fathom unused before.fathom after.fathom --seldom 2",
                "Lists the functions that only one of two runs called, or none."
            ),
        ])

    @Argument(
        help: ArgumentHelp(
            "Sessions, whose calls are put together; the newest session here if left out.", valueName: "session"),
        completion: .session)
    var sessions: [String] = []

    @OptionGroup var threads: ThreadOptions
    @OptionGroup var symbols: SymbolOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: ArgumentHelp("Only functions of modules of this path or name.", valueName: "glob|/regex/"))
    var module: String?

    @Option(help: ArgumentHelp("List the functions that fewer runs than this called.", valueName: "runs"))
    var seldom = 1

    @Option(help: "What a row is of.")
    var by = UnusedFunctions.Group.function

    @Option(help: ArgumentHelp("Show this many rows; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @Flag(
        help: "Full names: in C++ with default template arguments, in Swift with every version of a function by itself."
    )
    var rawNames = false

    @Flag(help: "Write a list for fathom build --exclude-list.")
    var list = false

    @Option(help: "How to write it; JSON and CSV have all functions.")
    var format = UnusedReport.Format.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
        if seldom < 1 { throw ValidationError("--seldom is a number of runs, at least 1") }
        if list, format != .text { throw ValidationError("--list is text: leave out --format \(format.rawValue)") }
        if seldom > max(sessions.count, 1) {
            throw ValidationError(
                "--seldom \(seldom): \(sessions.count < 2 ? "one run is" : "\(sessions.count) runs are") read")
        }
    }

    func run() throws {
        var options = try QueryOptions(threads, symbols, nil)
        options.rawNames = rawNames
        let pattern = try module.map(namePattern)
        let opened = try (sessions.isEmpty ? [newestSession()] : sessions).map(openSession)
        let query = try UnusedQuery.unused(
            in: opened, options, module: pattern, calledByFewerThan: seldom, listener: Diagnostics.listener())
        let screen = Screen(screenOptions, format)
        var reportOptions = UnusedReport.Options()
        reportOptions.group = by
        reportOptions.limit = screen.rows(limit)
        reportOptions.layout = screen.layout
        let report = UnusedReport(query.content, options: reportOptions)
        guard list else { return try screen.show(report, as: format, of: query) }
        try screen.show(cutsLines: false) { writer in
            let others = KeptNames(query.content.otherNames)
            report.writeList(to: writer, pattern: ExcludePattern.of, leavesOut: others.areLeftOut)
            return query
        }
    }
}
