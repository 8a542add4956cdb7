internal import ArgumentParser
internal import TraceAnalysis
internal import TraceReports

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what has changed between two recordings, or between repeated ones of two kinds.",
        usage: "fathom diff [options] A B\nfathom diff [options] A1 A2 ... -- B1 B2 ...")

    @Argument(help: ArgumentHelp("Sessions before, then one after.", valueName: "session"))
    var sessions: [String]

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("Sessions after, when there are several on a side.", valueName: "after"))
    var after: [String] = []

    @OptionGroup var threads: ThreadOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(help: "What a row is of.")
    var by = DiffReport.Subject.function

    @Option(help: "Sort rows by this; change puts first what has changed itself and beyond noise.")
    var sort = DiffReport.Order.change

    @Option(help: ArgumentHelp("Show this many rows.", valueName: "rows"))
    var limit: Int?

    @Flag(help: "Show also what has not changed, or not beyond noise.")
    var all = false

    @Option(help: ArgumentHelp("Changes of a smaller part do not matter.", valueName: "percent"))
    var threshold = Percentage(percent: 1)

    @Option(
        help: ArgumentHelp(
            "Exit with 1 when more is added: 'total>5%', 'self(parse*)>10ms', 'calls(malloc)>0'.",
            valueName: "limit"))
    var failOn: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Draw a flame graph of what is after, coloured by change: a page, or a picture if it ends in .svg.",
            valueName: "file"))
    var output: String?

    @Option(help: "How to write it.")
    var format = DiffReport.Format.text

    @Flag(help: "Read the recordings even if their sums are known, and do not keep them.")
    var noCache = false

    func validate() throws {
        if after.isEmpty, sessions.count != 2 {
            throw ValidationError("give two sessions, A B, or several on each side, A1 A2 -- B1 B2")
        }
        if !after.isEmpty, sessions.isEmpty { throw ValidationError("no sessions stand before --") }
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
        _ = try limits()
    }

    func run() throws {
        let limits = try limits()
        var options = SessionComparison.Options()
        options.threshold = threshold.percent / 100
        let input = try ComparisonInput(
            before: after.isEmpty ? [sessions[0]] : sessions, after: after.isEmpty ? [sessions[1]] : after, threads,
            filters, usesCache: !noCache, options: options)
        let writer = StandardOutput.writer()
        DiffReport(input.comparison, options: reportOptions(input.filter)).write(format, to: writer)
        try StandardOutput.finish(writer)
        if let output {
            var flame = FlameGraph.Options()
            flame.title = (after.isEmpty ? sessions : sessions + ["→"] + after).joined(separator: " ")
            flame.minTotal = input.filter.minCost
            try input.draw(options: flame, to: output)
        }
        input.warn()
        let exceeded = limits.compactMap { DiffReport.excess(of: $0, in: input.comparison) }
        for line in exceeded { Diagnostics.say(line) }
        if !exceeded.isEmpty { throw ExitCode(1) }
    }

    private func limits() throws -> [ChangeLimit] {
        try failOn.map { text in
            do throws(ChangeLimit.InvalidExpression) {
                return try ChangeLimit(text)
            } catch {
                throw ValidationError("--fail-on \(error)")
            }
        }
    }

    private func reportOptions(_ filter: TreeFilter) -> DiffReport.Options {
        var options = DiffReport.Options()
        options.subject = by
        options.order = sort
        options.limit = limit ?? .max
        options.showsAll = all
        options.minCost = filter.minCost
        return options
    }
}
