internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct WaitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waits", abstract: "Show what threads waited for, where, and who made them go on.",
        usage: "fathom waits [<options>] [<session>]",
        discussion: "Of sessions that were recorded with fathom record --blocked.",
        examples: [
            ("fathom waits prog.fathom", "Shows the places where threads waited, those of most time first."),
            (
                "fathom waits prog.fathom --thread main --longest 10",
                "Shows the ten longest waits of the main thread, with their moments."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        name: [.customShort("t", allowingJoined: true), .long],
        help: ArgumentHelp("Leave out what was waited for less: 10us, 1.5ms, 2s.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var minCost: TimeSpan?

    @Option(help: ArgumentHelp("Show this many single waits, the longest, each with its moment.", valueName: "waits"))
    var longest: Int?

    @Option(help: ArgumentHelp("Show this many rows; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @Option(help: "How to write it.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
        if let longest, longest < 1 { throw ValidationError("--longest is a number of waits") }
    }

    func run() throws {
        let sums = try input.query { $0.joinsTasks = false }.waits(minCost: minCost?.nanoseconds ?? 0)
        let screen = Screen(screenOptions, format)
        let report = WaitsReport(
            sums.content, limit: screen.rows(limit, lines: 4), longest: longest, layout: screen.layout)
        try screen.show(report, as: format, of: sums)
    }
}
