internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceRequest
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
    @OptionGroup(title: "Filters") var clip: ClipOptions
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
    var format = TableReport.Format.text

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        try clip.check(filters)
        if [by != .function, byArg != nil, callers != nil, callees != nil].count(where: \.self) > 1 {
            throw ValidationError("--by, --by-arg, --callers and --callees exclude each other")
        }
        if byArg != nil, clip.clip { throw ValidationError("--by-arg counts whole calls, without --clip") }
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
        let rows: Answer<SummedRows>
        var split = SplitTimes()
        if let byArg {
            let (pattern, name) = try argument(byArg)
            rows = try input.query(filters).rows(byArgument: name, of: pattern)
        } else {
            let query = try input.aggregate(filters, times: correction, usesCache: cache.isUsed, clip.apply)
            split = try splitOptions.split(of: query.session, for: sort)
            rows = try query.rows(subject(), of: split.measure)
        }
        let screen = Screen(screenOptions, format)
        let report = TableReport(
            rows.content, order: sort ?? .number(split.order), limit: screen.rows(limit), layout: screen.layout,
            split: split, samplePeriod: byArg == nil ? rows.sessions.first?.content.samplePeriod : nil)
        try screen.show(report, as: format, of: rows)
    }

    private func subject() throws -> AggregateQuery.RowSubject {
        if let callers { return try .callers(namePattern(callers)) }
        return try callees.map { try .callees(namePattern($0)) } ?? .all(by: by)
    }
}
