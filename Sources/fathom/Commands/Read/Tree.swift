internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceRequest
internal import TraceText

struct Tree: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every thread's calls as an indented tree, with total and self time.",
        examples: [
            (
                "fathom tree prog.fathom -D 3 -t 10us",
                "Shows the calls down to depth 3 that took at least 10 us."
            ),
            ("fathom tree prog.fathom --sort time --limit 10", "Shows the ten longest calls."),
            ("fathom tree prog.fathom --watch leaf --limit 9", "Shows calls of leaf, and how the program came there."),
        ])

    enum Sort: String, ExpressibleByArgument, CaseIterable { case time }

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @Option(
        help: ArgumentHelp(
            "Only calls with these arguments and what they call: 'handle(path==\"/slow\", id>7)'. It takes record --args. With -F, the calls that -F asks for are shown, too.",
            valueName: "func(argument==value)"),
        transform: Tree.argumentFilter)
    var when: [ArgumentFilter] = []

    @OptionGroup(title: "Watch list") var watchOptions: WatchOptions
    @OptionGroup var splitOptions: SplitOptions
    @OptionGroup var memoryOptions: MemoryOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp(
            "Stop after this many lines; 0 for no limit. With --sort time, show this many of the longest calls of all threads.",
            valueName: "lines"))
    var limit: Int?

    @Option(
        help:
            "Longest processes, threads and calls first, and when each began, instead of the order in which things happened."
    )
    var sort: Sort?

    @Flag(name: .customLong("no-fold"), help: "Do not fold equal neighbouring leaf calls into one line.")
    var noFold = false

    @Flag(help: "Show the file and line of each function's definition.")
    var lines = false

    @Flag(help: "Show the file and line of each call.")
    var callSites = false

    @Option(help: "text or json.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of lines") }
    }

    func run() throws {
        let watch = try watchOptions.list()
        let query = try input.query(filters) {
            $0.lines = lines || format == .json
            $0.filter.watch = watch
            $0.filter.withArguments = when
            $0.filter.measure = SplitTimes(shown: splitOptions.times).measure
        }
        var split = try splitOptions.split(of: query.session)
        try query.session.requireCalls(for: "fathom tree shows single calls")
        let memory = try memoryOptions.columns(of: query.session, everything: format == .json)
        var layout = TreeLayout()
        // Every watched call has its line.
        layout.folds = !noFold && watch == nil
        layout.order = sort == .time ? .cost : .time
        layout.tellsMemory = !memory.isEmpty
        let calls = try CallsQuery(query, layout: layout, longest: sort == .time ? mostLines : nil)
        if format == .text, split.isKnown, let (blocked, whole) = calls.blocked, split.tellsWaits(blocked, in: whole) {
            split.shown = .blocked
        }
        let screen = Screen(screenOptions, format)
        // What was watched while it was recorded stands out as well.
        let recorded = (query.session.description?.watched ?? []).compactMap { try? namePattern($0) }
        let isWatched = (watch?.patterns ?? (recorded.isEmpty ? nil : recorded)).map(query.functions.matching)
        try screen.show { writer in
            switch format {
            case .text:
                var page = TreeText(
                    writer, functions: query.functions, options: textOptions(query, screen, split, memory),
                    isWatched: isWatched)
                return calls.answer(on: &page)
            case .json:
                var page = TreeJSON(
                    writer, functions: query.functions, limit: sort == .time ? .max : mostLines,
                    knowsRunnable: split.knowsRunnable, memory: memory, isWatched: isWatched)
                return calls.answer(on: &page)
            }
        }
    }

    private static func argumentFilter(_ text: String) throws -> ArgumentFilter {
        let condition = try FlightCondition(text)
        guard !condition.comparisons.isEmpty, !condition.hasLimit else {
            throw ValidationError("it takes arguments, as 'handle(path==\"/slow\")'; -t and -F select by time and name")
        }
        return ArgumentFilter(condition.function, condition.comparisons)
    }

    private var mostLines: Int { limit.map { $0 == 0 ? .max : $0 } ?? .max }

    private func textOptions(
        _ query: SessionQuery, _ screen: Screen, _ split: SplitTimes, _ memory: [MemoryColumn]
    ) -> TreeText.Options {
        var options = TreeText.Options()
        options.lines = lines
        options.callSites = callSites
        options.limit = sort == .time ? .max : mostLines
        options.longest = sort == .time && limit != 0 ? limit : nil
        options.begins = sort == .time
        options.layout = screen.layout
        options.split = split.columns
        options.memory = memory
        options.maxDepth = query.filter.maxDepth
        options.minCost = query.filter.minCost
        options.recordedMinCost = query.session.description?.option(.minCost).flatMap { UInt64($0) } ?? 0
        return options
    }
}
