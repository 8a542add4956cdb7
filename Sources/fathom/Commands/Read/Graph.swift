internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct Graph: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the call tree with equal paths merged, or what leads to a function and what it leads to.",
        examples: [
            (
                "fathom graph prog.fathom --threshold 5",
                "Shows the call paths that take at least 5 % of the time."
            ),
            ("fathom graph prog.fathom work", "Shows what leads to work, and what work leads to."),
        ])

    @OptionGroup var input: SessionOptions

    @Argument(
        help: ArgumentHelp("What leads to this function, and what it leads to.", valueName: "function"),
        completion: .function)
    var function: String?

    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Filters") var clip: ClipOptions
    @OptionGroup var part: PartOptions
    @OptionGroup var correction: CorrectionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp(
            "Put paths together in one line that take less than this part of the time (default: 1%).",
            valueName: "percent"),
        transform: Percentage.init(argument:))
    var threshold = Percentage(percent: 1)

    @Option(
        help: ArgumentHelp(
            "Show this many lines of each tree; 0 for all. On a terminal, as many as fit.", valueName: "lines"))
    var limit: Int?

    @Option(help: "How to write it; JSON has all paths.")
    var format = ReportFormat.text

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        try clip.check(filters)
        if let limit, limit < 0 { throw ValidationError("--limit is a number of lines") }
    }

    func run() throws {
        let (input, function) = input.withFunction(function, isNeeded: false)
        let query = try input.aggregate(filters, times: correction, usesCache: cache.isUsed, clip.apply)
        let paths = try query.paths(around: function.map(namePattern), of: part.kind(of: query.session))
        let screen = Screen(screenOptions, format)
        var options = GraphText.Options()
        options.threshold = threshold.percent / 100
        options.minCost = query.filter.minCost
        options.samplePeriod = query.session.content.samplePeriod
        options.keepsTimes = query.session.content.keepsTimes
        options.split = SplitTimes(isKnown: query.session.splitsTimes)
        options.limit = screen.rows(limit)
        options.layout = screen.layout
        try screen.show(GraphReport(paths.content, around: function, options), as: format, of: paths)
    }
}
