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

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @OptionGroup var input: SessionOptions

    @Argument(
        help: ArgumentHelp("What leads to this function, and what it leads to.", valueName: "function"),
        completion: .function)
    var function: String?

    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var part: PartOptions
    @OptionGroup var correction: CorrectionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp(
            "Sum up paths that take less than this part of the time (default: 1%).", valueName: "percent"),
        transform: Percentage.init(argument:))
    var threshold = Percentage(percent: 1)

    @Option(
        help: ArgumentHelp(
            "Show this many lines of each tree; 0 for all. On a terminal, as many as fit.", valueName: "lines"))
    var limit: Int?

    @Option(help: "How to write it; JSON has all paths.")
    var format = Format.text

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of lines") }
    }

    func run() throws {
        let (input, function) = input.withFunction(function, isNeeded: false)
        let query = try input.aggregate(filters, times: correction, usesCache: cache.isUsed)
        let trees = try trees(of: query, function)
        let screen = Screen(screenOptions, isText: format == .text)
        let writer = screen.writer()
        switch format {
        case .text:
            var graph = GraphText(writer, options: options(query, screen))
            for (index, part) in trees.enumerated() {
                if index > 0 { writer.write(byte: UInt8(ascii: "\n")) }
                if let function { graph.write(title: part.name == "callers" ? "to \(function)" : "from \(function)") }
                graph.write(part.tree)
            }
        case .json:
            let content = query.session.content
            GraphJSON(writer, samplePeriod: content.samplePeriod, keepsTimes: content.keepsTimes).write(trees)
        }
        try StandardOutput.finish(writer)
        Diagnostics.warn(query.warnings, of: query.session)
    }

    private func trees(of query: AggregateQuery, _ function: String?) throws -> [(name: String, tree: CallPathTree)] {
        let tree = try query.tree().only(part.kind(of: query.session))
        guard let function else { return [("paths", tree)] }
        let pattern = try namePattern(function)
        var below = TreeFilter()
        below.only = [pattern]
        let callees = tree.filtered(below)
        try query.check(isEmpty: callees.paths.isEmpty, matching: pattern)
        return [("callers", tree.inverted(at: [pattern])), ("callees", callees)]
    }

    private func options(_ query: AggregateQuery, _ screen: Screen) -> GraphText.Options {
        var options = GraphText.Options()
        options.threshold = threshold.percent / 100
        options.minCost = query.filter.minCost
        options.samplePeriod = query.session.content.samplePeriod
        options.keepsTimes = query.session.content.keepsTimes
        options.limit = screen.rows(limit)
        options.layout = screen.layout
        return options
    }
}
