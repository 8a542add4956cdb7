internal import ArgumentParser
internal import TraceHistory
internal import TraceReports
internal import TraceText

struct HistoryShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of one run, and what its functions add up to.",
        usage: "fathom history show [<options>] <run> [<file>]",
        examples: [
            ("fathom history show 2", "Shows the second run."),
            ("fathom history show 2 --limit 0 --no-pager", "Shows all its functions."),
        ])

    @Argument(help: ArgumentHelp("The run's number, as history list shows it.", valueName: "run"))
    var number: Int64

    @OptionGroup var history: NamedHistoryOptions

    @Option(help: ArgumentHelp("Show so many functions; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "How to write it; JSON has all functions.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let store = try history.open()
        guard let found = try store.runs().first(where: { $0.id == number }) else {
            throw HistoryError.noRun(path: store.path, run: number)
        }
        let content = try store.content(of: number, try store.catalog(paths: true))
        let screen = Screen(screenOptions, format)
        let report = HistoryRunReport(found, content, limit: screen.rows(limit), layout: screen.layout)
        try screen.show(report, as: format)
    }
}
