internal import ArgumentParser
internal import TraceHistory
internal import TraceReports
internal import TraceText

struct HistoryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the runs of a history.",
        usage: "fathom history list [<options>] [<file>]",
        examples: [
            ("fathom history list", "Shows the runs, with what was said of each."),
            ("fathom history list fathom-history.db --format json", "Writes them for programs."),
        ])

    @OptionGroup var history: NamedHistoryOptions

    @Option(
        help: ArgumentHelp("Show so many of the newest; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "How to write it.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let store = try history.open()
        let runs = try store.runs()
        if runs.isEmpty { throw Diagnostics.fail("\(store.path): has no runs", .nothing) }
        let screen = Screen(screenOptions, format)
        let report = HistoryListReport(runs, limit: screen.rows(limit), layout: screen.layout)
        try screen.show(report, as: format)
    }
}
