internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFindings
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what has changed between two recordings, or between repeated ones of two kinds.",
        usage: "fathom diff [<options>] <A> <B>\nfathom diff [<options>] <A1> <A2> ... -- <B1> <B2> ...",
        discussion: "Where a side has only one run, --fail-on cannot tell noise from a change, and judges both.",
        examples: [
            (
                "fathom diff before.fathom after.fathom",
                "Shows which functions took longer or less, or were called more or less often."
            ),
            (
                "fathom diff --fail-on 'calls>1000%' before.fathom after.fathom",
                "Ends with status 1 when more than eleven times as many calls are made."
            ),
        ])

    @Argument(
        help: ArgumentHelp(
            "Two sessions, before and after; or several before, --, and several after.", valueName: "session"),
        completion: .session)
    var sessions: [String]

    @OptionGroup var threads: ThreadOptions
    @OptionGroup var symbols: SymbolOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var part: PartOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(help: "What a row is of.")
    var by = DiffReport.Subject.function

    @Option(help: "Sort rows by this; change puts first what has itself changed beyond noise, then what calls it.")
    var sort = DiffReport.Order.change

    @Option(help: ArgumentHelp("Show this many rows; 0 for all. On a terminal, as many as fit.", valueName: "rows"))
    var limit: Int?

    @Flag(help: "Show also what has not changed, or not beyond noise.")
    var all = false

    @OptionGroup var change: ChangeOptions

    @Option(
        help: ArgumentHelp(
            "Exit with 1 when more is added: 'total>5%', 'self(parse*)>10ms', 'calls(malloc)>0'. Times need a unit.",
            valueName: "limit"))
    var failOn: [String] = []

    @Option(help: "How to write it.")
    var format = DiffReport.Format.text

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        let (before, after) = sides
        if before.isEmpty || after.isEmpty
            || sessions.lastIndex(of: Diff.divider) != sessions.firstIndex(of: Diff.divider)
        {
            throw ValidationError("give two sessions, A B, or several on each side, A1 A2 -- B1 B2")
        }
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
        _ = try limits()
    }

    /// Stands in place of `--`, which would end the options, because here options may follow it as well.
    private static let divider = " -- "

    /// The command-line arguments in the form that the parser is to see.
    static func arguments(_ arguments: [String]) -> [String] {
        arguments.first == configuration.commandName ?? "diff" ? arguments.map { $0 == "--" ? divider : $0 } : arguments
    }

    private var sides: (before: [String], after: [String]) {
        if let index = sessions.firstIndex(of: Diff.divider) {
            return (Array(sessions[..<index]), Array(sessions[(index + 1)...]))
        }
        return sessions.count == 2 ? ([sessions[0]], [sessions[1]]) : (sessions, [])
    }

    func run() throws {
        let exceeded: [String]
        do {
            exceeded = try compare()
        } catch {
            let end = Diagnostics.ended(by: error)
            // Status 1 says that a limit is exceeded, and nothing else.
            throw end as? ExitCode == ExitStatus.nothing.code ? ExitStatus.failed.code : end
        }
        for line in exceeded { Diagnostics.say(line) }
        if !exceeded.isEmpty { throw ExitCode.failure }
    }

    /// Writes the comparison.
    ///
    /// - Returns: a line for each limit that is exceeded.
    private func compare() throws -> [String] {
        let limits = try limits()
        let file = try change.flameFile()
        var options = SessionComparison.Options()
        options.threshold = change.least
        let (before, after) = sides
        var asked = try QueryOptions(threads, symbols, filters)
        asked.usesCache = cache.isUsed
        let changes = try ComparisonQuery.changes(
            before: before.map(openSession), after: after.map(openSession), asked, options, part: part.kind,
            listener: Diagnostics.listener())
        let comparison = changes.content
        if let moot = limits.first(where: { $0.isMoot(in: comparison) }) {
            Diagnostics.warn(changes.warnings)
            let near = moot.pattern.map { NearNames(to: $0, in: comparison.functions) } ?? .none
            throw Diagnostics.fail(
                "--fail-on '\(moot.expression)': no function on either side matches\(near.question)", .failed)
        }
        let screen = Screen(screenOptions, format)
        let shown = reportOptions(comparison, asked.filter, screen)
        try screen.show(DiffReport(comparison, options: shown), as: format, of: changes)
        if let file {
            var flame = FlameGraph.Options()
            flame.title = (before + ["→"] + after).joined(separator: " ")
            flame.minTotal = asked.filter.minCost
            try file.draw(comparison, options: flame)
        }
        if !limits.isEmpty, let caution = ComparisonQuery.caution(comparison) { Diagnostics.warn(caution) }
        return limits.compactMap { DiffReport.excess(of: $0, in: comparison) }
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

    private func reportOptions(
        _ comparison: SessionComparison, _ filter: TreeFilter, _ screen: Screen
    ) -> DiffReport.Options {
        var options = DiffReport.Options()
        options.subject = by
        options.order = sort
        options.limit = screen.rows(limit, notes: 2)
        options.layout = screen.layout
        options.showsAll = all
        options.minCost = filter.minCost
        let isKept = comparison.functions.matching(filter.triggers.map(\.function))
        options.kept = Set(comparison.functions.functions.indices.map { UInt32($0) }.filter(isKept))
        options.part = part.time?.rawValue
        return options
    }
}
