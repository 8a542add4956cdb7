internal import ArgumentParser
internal import TraceAnalysis
internal import TraceQuery
internal import TraceReports

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Show what the calls of each function add up to.",
        examples: [
            (
                "fathom report prog.fathom --sort self --limit 10",
                "Shows the ten functions that took the most time themselves."
            ),
            (
                "fathom report prog.fathom --callers work",
                "Shows who calls work, how often, and for how long."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var correction: CorrectionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: ArgumentHelp("Sort rows by this column.", valueName: "column"))
    var sort = ReportOrder.number(.total)

    @Option(help: ArgumentHelp("What a row is of.", valueName: "what"))
    var by = Grouping.function

    @Option(
        help: ArgumentHelp("Show this function's calls by direct caller.", valueName: "glob|/regex/"),
        completion: .function)
    var callers: String?

    @Option(
        help: ArgumentHelp("Show the calls that this function makes directly.", valueName: "glob|/regex/"),
        completion: .function)
    var callees: String?

    @Option(help: ArgumentHelp("Show this many rows; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @Option(help: "How to write it.")
    var format = Report.Format.text

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if callers != nil && callees != nil || by != .function && (callers ?? callees) != nil {
            throw ValidationError("--by, --callers and --callees exclude each other")
        }
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let query = try input.aggregate(filters, times: correction, usesCache: cache.isUsed)
        let screen = Screen(screenOptions, isText: format == .text)
        let report = try report(query, screen)
        let writer = screen.writer()
        report.write(format, to: writer)
        try StandardOutput.finish(writer)
        Diagnostics.warn(query.warnings, of: query.session)
    }

    private func report(_ query: AggregateQuery, _ screen: Screen) throws -> Report {
        let (minCost, limit) = (query.filter.minCost, screen.rows(limit))
        func report(_ kind: Report.Kind, _ rows: [AggregateRow], dropped: CallSum = CallSum()) -> Report {
            Report(
                kind, rows, functions: query.functions, cost: query.cost, dropped: dropped, order: sort,
                minCost: minCost, limit: limit, layout: screen.layout)
        }
        if let function = callers ?? callees {
            let pattern = try namePattern(function)
            let tree = try query.tree()
            let matches = tree.matching([pattern])
            try query.check(isEmpty: !tree.paths.contains { matches($0.function) }, matching: pattern)
            return callers != nil
                ? report(.callers, tree.rows(callersOf: [pattern]), dropped: tree.dropped)
                : report(.callees, tree.rows(calleesOf: [pattern]), dropped: tree.dropped)
        }
        switch by {
        case .function:
            let (rows, dropped) = try query.functionRows()
            return report(.functions, rows, dropped: dropped)
        case .thread: return try report(.threads, query.threadSums().map { $0.row(cost: query.cost) })
        case .process:
            return try report(.processes, ThreadSums.processRows(query.threadSums(), cost: query.cost))
        case .path:
            return try Report(
                pathsOf: query.tree(), order: sort, minCost: minCost, limit: limit, layout: screen.layout)
        case .file, .module:
            let tree = try query.tree()
            return report(by == .file ? .files : .modules, tree.rows(by: by), dropped: tree.dropped)
        }
    }
}
