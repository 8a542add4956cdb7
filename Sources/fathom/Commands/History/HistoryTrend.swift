internal import ArgumentParser
internal import TraceHistory
internal import TraceReports
internal import TraceText

struct HistoryTrend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trend",
        abstract: "Show one number of each run, by version, and where it changed.",
        usage: "fathom history trend [<options>] <subject> [<file>]",
        discussion: """
            The number is the total of a function in the run, unless --metric says otherwise. Percentiles are by nearest rank, over the \
            runs of a version; with --metric call, over all calls of these runs.
            """,
        examples: [
            ("fathom history trend work --by version", "Shows the time of work in each version."),
            ("fathom history trend total --p 50 -o trend.html", "Draws the median of all time as a page."),
        ])

    @Argument(
        help: ArgumentHelp(
            "A function; a call path, as 'main;parse;read'; total, 'cpu time', instructions or allocations; 'mark NAME', 'counter NAME', 'phase NAME' or 'initializer NAME'.",
            valueName: "subject"), completion: .subject)
    var subject: String

    @OptionGroup var history: NamedHistoryOptions

    @Option(help: ArgumentHelp("Group runs by this label (default: version, if runs have it).", valueName: "label"))
    var by: String?

    @Option(name: .customLong("p"), help: ArgumentHelp("The percentile to tell of each group.", valueName: "percent"))
    var percent = 90.0

    @Option(help: "What of the function or path.")
    var metric = HistoryMetric.total

    @OptionGroup(title: "Runs") var runs: RunOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "How to write it (default: as the file's ending says, html, svg or json, else text).")
    var format: TrendReport.Format?

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp("Write to this file.", valueName: "file"), completion: .file())
    var output: String?

    func validate() throws {
        guard percent > 0, percent <= 100 else {
            throw ValidationError("--p is a percentile: more than 0, at most 100")
        }
        if subject.isEmpty { throw ValidationError("name a function, a path, or total") }
    }

    func run() throws {
        let store = try history.open()
        let hasVersions = try store.runs().contains { $0.label("version") != nil }
        let trend = try Trend(
            of: HistorySubject(subject), metric, in: store, runs.selection, by: by ?? (hasVersions ? "version" : nil),
            percent: percent)
        if let by, trend.selection.runs.allSatisfy({ $0.label(by) == nil }) {
            let near = NearNames(to: by, among: trend.selection.runs.flatMap { $0.labels.map(\.name) })
            throw Diagnostics.fail("--by \(by): no run has such a label\(near.question)", .nothing)
        }
        RunOptions.tell(trend.selection)
        let format = format ?? output.flatMap { TrendReport.Format(rawValue: FileName.ending($0)) } ?? .text
        let file = try output.map { try OutputFile($0) }
        let screen = Screen(screenOptions, format)
        let report = TrendReport(trend, layout: file == nil ? screen.layout : TextLayout())
        try screen.show(report, as: format, into: file)
        if output == nil, trend.points.isEmpty { throw ExitStatus.nothing.code }
    }
}
