internal import ArgumentParser
internal import TraceHistory
internal import TraceReports

struct HistoryChangesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show which functions changed, since which run, and what follows from it.",
        usage: "fathom history changes [<options>] [<file>]",
        discussion: """
            Numbers of calls come first: where a program makes the same calls in run after run, another number is no noise. Then come \
            times: of each function its own time, with the callers whose total changes with it.
            """,
        examples: [
            ("fathom history changes", "Shows what changed in the runs of the newest run's program."),
            ("fathom history changes --last 30 --format markdown", "Writes it of the last 30, for a pull request."),
        ])

    @OptionGroup var history: NamedHistoryOptions
    @OptionGroup(title: "Runs") var runs: RunOptions

    @Option(
        help: ArgumentHelp("Changes of times smaller than this do not matter, as 1%.", valueName: "percent"),
        transform: Percentage.init(argument:))
    var threshold = Percentage(percent: 1)

    @Option(help: ArgumentHelp("Show so many changes; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "How to write it.")
    var format = ChangesReport.Format.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let store = try history.open()
        var selection = runs.selection
        selection.needsTimes = false
        var options = HistoryChanges.Options()
        options.threshold = threshold.percent / 100
        let changes = try HistoryChanges(in: store, selection, options: options)
        RunOptions.tell(changes.selection)
        let screen = Screen(screenOptions, format)
        let report = ChangesReport(changes, limit: screen.rows(limit), layout: screen.layout)
        try screen.show(report, as: format)
    }
}
