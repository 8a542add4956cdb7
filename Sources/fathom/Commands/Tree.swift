internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFormat
internal import TraceReports
internal import TraceText

struct Tree: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every thread's calls as an indented tree, with total and self time.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }
    enum Sort: String, ExpressibleByArgument, CaseIterable { case time }

    private typealias Selection = [(process: TracedProcess, threads: [TracedThread])]

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(
        help: ArgumentHelp(
            "Stop after this many lines; with --sort time, show this many of the longest calls of all threads.",
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
    var format = Format.text

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is a number of lines from 1") }
    }

    func run() throws {
        _ = try filters.treeFilter()  // bad usage is told before a bad session
        let session = try input.open()
        let symbols = try SymbolSource(for: session, input.threads, input.symbols, rawNames: filters.rawNames)
        let filter = try filters.treeFilter(of: session, symbols)
        let functions = symbols.functions(lines: lines || format == .json)
        let resolver = FunctionResolver(functions)
        var selection = try input.selection(of: session, joiningTasks: resolver)
        var layout = TreeLayout()
        layout.folds = !noFold
        layout.order = sort == .time ? .cost : .time
        var tree = CallTree(of: session, resolver: resolver, filter: filter, layout: layout)
        if sort == .time { selection = longestFirst(selection, of: &tree) }
        let writer = StandardOutput.writer()
        var isEmpty = false
        switch format {
        case .text:
            var report = TreeText(writer, functions: functions, options: textOptions(filter, session))
            walk(tree, selection, &report)
            report.finish()
            isEmpty = report.shown == 0 && !writer.isClosed
        case .json:
            var report = TreeJSON(writer, functions: functions, limit: sort == .time ? .max : limit ?? .max)
            walk(tree, selection, &report)
            report.finish()
        }
        try StandardOutput.finish(writer)
        Diagnostics.warn(session.damage)
        Diagnostics.warn(session.losses)
        let lost = selection.flatMap(\.threads).reduce(UInt64(0)) { $0 &+ $1.lostCalls }
        if lost > 0 { Diagnostics.warn("\(lost) calls left no record; their time is in their callers' self time") }
        if isEmpty { throw Diagnostics.failEmpty(session) }
    }

    /// The processes by their longest threads, and those by their longest calls; `tree` is to show the longest calls alone.
    private func longestFirst(_ selection: Selection, of tree: inout CallTree) -> Selection {
        var times = tree.rank(selection.flatMap(\.threads), limit: limit ?? .max)[...]
        func sorted<Element>(_ list: [(Element, longest: UInt64)]) -> [Element] {
            list.enumerated().sorted { ($1.element.longest, $0.offset) < ($0.element.longest, $1.offset) }.map(
                \.element.0)
        }
        return sorted(
            selection.map { process, threads in
                let longest = times.prefix(threads.count)
                times = times.dropFirst(threads.count)
                return ((process, sorted(Array(zip(threads, longest)))), longest.max() ?? 0)
            })
    }

    private func walk<Visitor: TreeVisitor>(_ tree: CallTree, _ selection: Selection, _ report: inout Visitor) {
        for (process, threads) in selection where report.wantsMore {
            report.begin(process)
            for thread in threads where report.wantsMore { tree.walk(thread, &report) }
            report.endProcess()
        }
    }

    private func textOptions(_ filter: TreeFilter, _ session: Session) -> TreeText.Options {
        var options = TreeText.Options()
        options.lines = lines
        options.callSites = callSites
        options.limit = sort == .time ? .max : limit ?? .max
        options.longest = sort == .time ? limit : nil
        options.begins = sort == .time
        options.colour = StandardOutput.hasColour
        options.maxDepth = filter.maxDepth
        options.minCost = filter.minCost
        let recorded = session.description?.options.first { $0.name == "min_cost_ns" }
        options.recordedMinCost = recorded.flatMap { UInt64($0.value) } ?? 0
        return options
    }
}
