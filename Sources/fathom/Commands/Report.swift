internal import ArgumentParser
internal import TraceAnalysis
internal import TraceReports

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Show what the calls of each function add up to.")

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var correction: CorrectionOptions

    @Option(help: ArgumentHelp("Sort rows by this column.", valueName: "column"))
    var sort = ReportOrder.number(.total)

    @Option(help: ArgumentHelp("What a row is of.", valueName: "what"))
    var by = Grouping.function

    @Option(help: ArgumentHelp("Show this function's calls by direct caller.", valueName: "glob|/regex/"))
    var callers: String?

    @Option(help: ArgumentHelp("Show the calls that this function makes directly.", valueName: "glob|/regex/"))
    var callees: String?

    @Option(help: ArgumentHelp("Show this many rows.", valueName: "rows"))
    var limit: Int?

    @Option(help: "How to write it.")
    var format = Report.Format.text

    @Flag(help: "Read the recording even if its sums are known, and do not keep them.")
    var noCache = false

    func validate() throws {
        if callers != nil && callees != nil || by != .function && (callers ?? callees) != nil {
            throw ValidationError("--by, --callers and --callees exclude each other")
        }
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows") }
    }

    func run() throws {
        let input = try AggregateInput(input, filters, usesCache: !noCache, times: correction)
        let (tree, kind, rows) = try rows(of: input)
        let report = Report(
            kind, rows, of: tree, order: sort, minCost: input.filter.minCost, limit: limit ?? .max)
        let writer = StandardOutput.writer()
        report.write(format, to: writer)
        try StandardOutput.finish(writer)
        input.warn()
    }

    private func rows(of input: AggregateInput) throws -> (CallPathTree, Report.Kind, [AggregateRow]) {
        if by == .thread {
            let rows = input.rowsByThread()
            try input.check(isEmpty: rows.isEmpty)
            return (input.aggregation.tree(of: []), .threads, rows)
        }
        let tree = try input.tree()
        if let function = callers ?? callees {
            let pattern = try namePattern(function)
            let matches = tree.matching([pattern])
            try input.check(isEmpty: !tree.paths.contains { matches($0.function) }, matching: function)
            if callers != nil { return (tree, .callers, tree.rows(callersOf: [pattern])) }
            return (tree, .callees, tree.rows(calleesOf: [pattern]))
        }
        let kind: Report.Kind =
            switch by {
            case .function: .functions
            case .path: .paths
            case .file: .files
            case .module: .modules
            case .thread: .threads
            }
        return (tree, kind, tree.rows(by: by))
    }
}
