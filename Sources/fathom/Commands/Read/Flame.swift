internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceRequest
internal import TraceText

struct Flame: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw a flame graph: a page to search and zoom, or a picture.",
        usage: "fathom flame [<options>] [<session>]",
        examples: [
            ("fathom flame prog.fathom", "Draws a page for a web browser, prog.flame.html."),
            (
                "fathom flame prog.fathom --thread main --time-order -o prog.svg",
                "Draws every call of the main thread where it was in time."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Filters") var clip: ClipOptions
    @OptionGroup var part: PartOptions

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The file to write: a page, or a picture if it ends in .svg (default: <session>.flame.html in this directory).",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Open the page with $BROWSER or xdg-open.")
    var open = false

    @Option(
        help: ArgumentHelp(
            "Instead of time, the bytes that were allocated, or those that were live at the end: bytes or live.",
            valueName: "what"))
    var memory: Memory?

    enum Memory: String, ExpressibleByArgument, CaseIterable { case bytes, live }

    @Option(
        help: ArgumentHelp(
            "Instead of time, the page faults: minor, or major, for which the page was read.", valueName: "what"))
    var faults: Faults?

    enum Faults: String, ExpressibleByArgument, CaseIterable { case minor, major }

    /// What is drawn in place of times.
    private var measure: MemorySums.Measure? {
        faults.map { $0 == .minor ? .minorFaults : .majorFaults } ?? memory.map { $0 == .bytes ? .bytes : .live }
    }

    @Option(
        help: """
            Colour frames by module, kind (the language they are written in), file, namespace, or self (own time); by default \
            by module, or by what tells more where one module has nearly all own time.
            """)
    var colour: FlameGraph.Colouring?

    @Option(
        help: ArgumentHelp(
            "Colour frames by how their own time has changed since this session: red is longer, blue shorter.",
            valueName: "session"), completion: .session)
    var diff: String?

    @Flag(help: "Draw the root at the bottom, instead of at the top; not on the timeline of a page with --time-order.")
    var inverted = false

    @Flag(help: "A flame chart: every call of every thread, where it was in time.")
    var timeOrder = false

    @Option(
        help: "html, svg, or json: the data that the page shows; by default what the name of the file ends in.")
    var format: FlameFile.Format?

    @Option(help: "The title to show, instead of the command that was recorded.")
    var title: String?

    func validate() throws {
        try clip.check(filters)
        if part.time != nil, diff != nil || timeOrder {
            throw ValidationError("--time is for flame graphs, without --diff and --time-order")
        }
        if memory != nil, part.time != nil || diff != nil || timeOrder {
            throw ValidationError("--memory is for flame graphs, without --time, --diff and --time-order")
        }
        if faults != nil, memory != nil || part.time != nil || diff != nil || timeOrder {
            throw ValidationError("--faults is for flame graphs, without --memory, --time, --diff and --time-order")
        }
        if clip.clip, diff != nil || timeOrder {
            throw ValidationError("--clip is for flame graphs, without --diff and --time-order")
        }
        if diff != nil, timeOrder { throw ValidationError("--diff and --time-order exclude each other") }
        if open, format == .json { throw ValidationError("--open is for pages and pictures, not for --format json") }
        if open, output == "-" { throw ValidationError("--open is for a file, not for standard output") }
    }

    func run() throws {
        var command = self
        if output == nil, input.given == nil { command.input.given = try newestSession() }
        let path =
            output ?? "\(SessionName.withoutEnding(command.input.given ?? "")).flame.\(format?.rawValue ?? "html")"
        let file = try FlameFile(path, format)  // bad usage is told before a bad session
        try command.draw(to: file)
        if output == nil { Diagnostics.say("wrote \(CommandText.file(path))") }
        if open { BrowserWindow.open(path) }
    }

    private func draw(to file: FlameFile) throws {
        if let diff { return try drawChange(since: diff, to: file) }
        let aggregate = try input.aggregate(filters, usesCache: true, clip.apply)
        if timeOrder { try aggregate.session.requireCalls(for: "--time-order shows single calls") }
        try aggregate.session.requireTimes(for: "fathom flame shows times")
        let kind = try part.kind(of: aggregate.session)
        if memory != nil { try aggregate.session.requireMemory() }
        if faults != nil { try aggregate.session.requireFaults() }
        let graph: FlameGraph
        if timeOrder {
            graph = try chart(of: aggregate)
        } else {
            let tree = try aggregate.tree()
            graph = FlameGraph(measure.map(tree.only) ?? tree.only(kind), options: options(aggregate))
        }
        try aggregate.check(isEmpty: graph.isEmpty)
        if !timeOrder, graph.frameCount > FlameGraph.comfortableFrames {
            Diagnostics.warn(
                "\(CountText.grouped(UInt64(graph.frameCount))) frames make a large page; --min-cost, --from and --to draw fewer"
            )
        }
        try file.draw(graph)
        try aggregate.answer(graph).say()
    }

    private func options(_ aggregate: AggregateQuery) -> FlameGraph.Options {
        let session = aggregate.session
        var options = FlameGraph.Options()
        let shown =
            part.time.map { "\($0.rawValue) time of " }
            ?? memory.map { $0 == .bytes ? "bytes allocated by " : "bytes live at the end of " }
            ?? faults.map { "\($0.rawValue) page faults of " } ?? ""
        options.title = title ?? shown + (session.description?.command.joined(separator: " ") ?? session.path)
        options.colouring = colour
        options.isInverted = inverted
        options.unit = faults != nil ? .faults : memory != nil ? .bytes : .time
        options.minTotal = measure != nil ? 0 : aggregate.filter.minCost
        options.began = session.startRealtimeNanoseconds
        return options
    }

    private func drawChange(since before: String, to file: FlameFile) throws {
        var query = try QueryOptions(input.threads, input.symbols, filters)
        query.usesCache = true
        let change = try ComparisonQuery.changes(
            before: [openSession(before)], after: [input.open()], query, listener: Diagnostics.listener())
        var options = FlameGraph.Options()
        options.title = title ?? "\(before) → \(input.given ?? "newest session")"
        options.isInverted = inverted
        options.minTotal = query.filter.minCost
        try file.draw(change.content, options: options)
        try change.say()
    }

    private func chart(of aggregate: AggregateQuery) throws -> FlameGraph {
        let threads = aggregate.threads
        let calls = CallsQuery(aggregate.query, of: threads, layout: FlameChart.layout, most: FlameChart.mostCalls)
        var chart = FlameChart(calls: calls.callCount)
        calls.walk(&chart)
        if aggregate.session.description?.waitSources != nil || aggregate.session.splitsTimes {
            chart.show(aggregate.query.waits(of: threads.filter { $0.task == nil && !$0.isJoined }))
        }
        var options = options(aggregate)
        if let (all, least) = calls.leftOut {
            let shown =
                "the \(CountText.grouped(UInt64(FlameChart.mostCalls))) longest of \(CountText.grouped(all)) calls"
            options.title += " · \(shown)"
            Diagnostics.warn(
                "the chart shows \(shown), from \(String(time: least)) on; --from and --to draw a shorter stretch whole"
            )
        }
        if let (all, least) = chart.statesLeftOut {
            let shown =
                "the \(CountText.grouped(UInt64(FlameChart.mostCalls))) longest of \(CountText.grouped(UInt64(all))) stretches without a CPU"
            options.title += " · \(shown)"
            Diagnostics.warn("the chart shows \(shown), from \(String(time: least)) on")
        }
        var graph = chart.graph(names: aggregate.functions, options: options)
        if format != .json, !graph.isEmpty {
            let (tree, sums) = try (aggregate.tree(), aggregate.rows(.all(by: .function)))
            let session = aggregate.session
            let split = SplitTimes(isKnown: session.splitsTimes, knowsRunnable: session.switches != nil)
            let table = TableReport(sums.content, split: split)
            graph.panes = [
                ("flame", ByteWriter.bytes { FlameGraph(tree, options: options).writeJSON(to: $0) }),
                ("report", ByteWriter.bytes { table.write(.json, to: $0) }),
            ]
        }
        return graph
    }
}
