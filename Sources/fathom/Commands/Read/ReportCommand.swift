internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceSymbols
internal import TraceText

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
    @OptionGroup var splitOptions: SplitOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: ArgumentHelp("Sort rows by this column.", valueName: "column"))
    var sort: ReportOrder?

    @Option(help: ArgumentHelp("What a row is of.", valueName: "what"))
    var by = Grouping.function

    @Option(
        help: ArgumentHelp(
            "A row for each value of this argument, which record --args recorded. Times are as recorded.",
            valueName: "glob:name"), completion: .function)
    var byArg: String?

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
        if [by != .function, byArg != nil, callers != nil, callees != nil].count(where: \.self) > 1 {
            throw ValidationError("--by, --by-arg, --callers and --callees exclude each other")
        }
        if let byArg { _ = try argument(byArg) }
        if byArg != nil, splitOptions.times != nil || sort?.part != nil {
            throw ValidationError("--by-arg shows no parts of times")
        }
        if byArg != nil, sort?.isOfMemory == true || sort?.isOfFaults == true {
            throw ValidationError("--by-arg shows no memory and no page faults")
        }
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    /// The functions and their argument, as in `handle:r->path`.
    private func argument(_ text: String) throws -> (pattern: Pattern, name: String) {
        do {
            let request = try ArgumentRequest(text)
            guard let path = request.paths.first, request.paths.count == 1 else {
                throw ValidationError("--by-arg takes a function and one argument, as in 'handle:path'")
            }
            return (try namePattern(request.pattern), path.text)
        } catch let error as ArgumentRequest.Invalid {
            throw ValidationError(error.description)
        }
    }

    func run() throws {
        if let byArg { return try run(by: argument(byArg)) }
        let query = try input.aggregate(filters, times: correction, usesCache: cache.isUsed)
        let screen = Screen(screenOptions, isText: format == .text)
        var report = try report(query, screen)
        report.samplePeriod = query.session.content.samplePeriod
        let writer = screen.writer()
        report.write(format, to: writer)
        try StandardOutput.finish(writer)
        Diagnostics.warn(query.warnings, of: query.session)
        guard report.isEmpty else { return }
        switch (callers, callees) {
        case (let function?, _) where query.filter.minCost == 0: throw QueryError.noCallers(function)
        case (_, let function?) where query.filter.minCost == 0: throw QueryError.noCallees(function)
        default: throw QueryError.nothingLeft(near: .none)
        }
    }

    private func run(by argument: (pattern: Pattern, name: String)) throws {
        let query = try input.query(filters)
        var layout = TreeLayout()
        layout.folds = false
        let calls = try CallsQuery(query, layout: layout, onProgress: Diagnostics.progress())
        var values = ArgumentRows(argument.name, matches: query.functions.matching([argument.pattern]))
        calls.walk(&values)
        guard values.calls > 0 else {
            let recorded = calls.selection.flatMap {
                $0.process.argumentLayouts.values.flatMap { $0.values.map(\.name) }
            }
            throw values.others > 0
                ? QueryError.noArgument(
                    argument.pattern.text, argument.name, near: NearNames(to: argument.name, among: recorded))
                : .noFunction(argument.pattern.text, near: NearNames(to: argument.pattern, in: query.functions))
        }
        let screen = Screen(screenOptions, isText: format == .text)
        let report = Report(
            .values, values.rows, functions: query.functions, cost: nil, dropped: CallSum(),
            order: sort ?? .number(.total), minCost: query.filter.minCost, limit: screen.rows(limit),
            layout: screen.layout)
        let writer = screen.writer()
        report.write(format, to: writer)
        try StandardOutput.finish(writer)
        if values.others > 0 {
            Diagnostics.say("\(CountText.grouped(values.others)) calls have no such argument recorded")
        }
        Diagnostics.warn(calls.warnings, of: query.session)
    }

    private func report(_ query: AggregateQuery, _ screen: Screen) throws -> Report {
        let (minCost, limit) = (query.filter.minCost, screen.rows(limit))
        let split = try splitOptions.split(of: query.session, needsParts: sort?.part != nil)
        if sort?.isOfMemory == true { try query.session.requireMemory() }
        if sort?.isOfFaults == true { try query.session.requireFaults() }
        let sort = sort ?? .number(split.order)
        func report(_ kind: Report.Kind, _ rows: [AggregateRow], dropped: CallSum = CallSum()) -> Report {
            Report(
                kind, rows, functions: query.functions, cost: query.cost, dropped: dropped, order: sort,
                minCost: minCost, limit: limit, layout: screen.layout, split: split)
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
                pathsOf: query.tree(), order: sort, minCost: minCost, limit: limit, layout: screen.layout,
                split: split)
        case .file, .module:
            let tree = try query.tree()
            return report(by == .file ? .files : .modules, tree.rows(by: by), dropped: tree.dropped)
        }
    }
}
