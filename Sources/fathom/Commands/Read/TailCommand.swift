internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct TailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show why the slowest calls of a function are slow: what each path below it adds.",
        discussion: """
            The slowest calls are compared with typical ones, which are those from the 25th to the 75th percentile. A call of the \
            function inside another one is part of that. A call is left out if the recording lacks its begin or its end. Filters by \
            name and depth say which calls below the function are shown.
            """,
        examples: [
            ("fathom tail prog.fathom work", "Compares the slowest 1 % of the calls of work with typical ones."),
            (
                "fathom tail prog.fathom work --slowest 2 -o work.html",
                "Draws what the two slowest calls do, coloured by what they do longer."
            ),
        ])

    @OptionGroup var input: SessionOptions

    @Argument(
        help: ArgumentHelp("The function whose calls are compared.", valueName: "function"), completion: .function)
    var function: String?

    @Option(
        help: ArgumentHelp(
            "How many calls count as the slowest: a number, or a part of all (default: 1%).", valueName: "n|percent"),
        transform: SlowestPart.init(argument:))
    var slowest = SlowestPart.percent(1)

    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @OptionGroup var change: ChangeOptions

    @Option(
        help: ArgumentHelp(
            "Show this many lines of the tree, and this many calls; 0 for all. On a terminal, as many as fit.",
            valueName: "lines"))
    var limit: Int?

    @Option(help: "How to write it; JSON has all paths.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of lines") }
    }

    func run() throws {
        let (input, function) = try subject()
        let pattern = try namePattern(function)
        let file = try change.flameFile()
        let options = try input.options(filters)
        let query = try TailQuery(
            input.open(), options, function: pattern, slowest: slowest, listener: Diagnostics.listener())
        let screen = Screen(screenOptions, format)
        let report = TailReport(query.answer.content, options: reportOptions(query, screen, function))
        try screen.show(report, as: format, of: query.answer)
        if let file { try file.draw(query.answer.content.change, options: flameOptions(query, function)) }
    }

    private func subject() throws -> (SessionOptions, String) {
        let (input, function) = input.withFunction(function, isNeeded: true)
        guard let function else { throw ValidationError("name the function whose calls are to be compared") }
        return (input, function)
    }

    private func reportOptions(_ query: TailQuery, _ screen: Screen, _ function: String) -> TailReport.Options {
        var options = TailReport.Options()
        options.function = function
        options.threshold = change.least
        options.minCost = query.query.filter.minCost
        options.lines = screen.rows(limit)
        options.calls = screen.rows(limit)
        options.layout = screen.layout
        return options
    }

    private func flameOptions(_ query: TailQuery, _ function: String) -> FlameGraph.Options {
        let (slow, typical) = (query.answer.content.slow.calls, query.answer.content.typical.calls)
        var options = FlameGraph.Options()
        options.title = "\(function): the slowest \(slow) calls; before: as many typical ones (of \(typical))"
        options.minTotal = query.query.filter.minCost
        return options
    }
}
