import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TracePage
import TraceText

@testable import TraceFindings
@testable import TraceReports

/// Flame graphs of the golden session.
@Suite struct FlameGraphTests {
    private let directory: TemporaryDirectory
    private let session: Session
    private let tree: CallPathTree

    init() throws {
        directory = try TemporaryDirectory("flame")
        let path = directory.file("x.fathom")
        try GoldenSession.write(to: path)
        session = try Session(path: path)
        let functions = FunctionTable(resolve: { module, address in
            let name = GoldenSession.names[address] ?? "</script>"
            return ResolvedFunction(
                name: name, module: module?.path, file: name.contains("<int>") ? "a.cpp" : "a.c", line: 1)
        })
        let aggregation = Aggregation(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter())
        tree = aggregation.tree(of: session.processes.flatMap(\.threads))
    }

    private func text(_ body: (ByteWriter) -> Void) -> String {
        String(decoding: ByteWriter.bytes(body), as: UTF8.self)
    }

    /// The numbers of the page's `frames`.
    private func frames(_ page: String) throws -> [UInt64] {
        let start = try #require(page.split(separator: "\"frames\":[").last)
        return start.prefix { $0 != "]" }.split(separator: ",").compactMap { UInt64($0) }
    }

    /// The data of a page, whose other parts are files by themselves.
    private func data(_ graph: FlameGraph) throws -> String {
        let page = text { graph.writeHTML(to: $0) }
        let start = try #require(page.firstRange(of: "\"answer\":")?.upperBound)
        let data = page[start...].prefix(upTo: try #require(page[start...].firstRange(of: "\n</script>")?.lowerBound))
        // It is an answer among answers of the page's content.
        #expect(data.hasSuffix("}}}}"))
        return data.dropLast(3) + "\n"
    }

    /// What is drawn of a picture, without the page that it opens.
    private func drawing(_ graph: FlameGraph) throws -> String {
        let picture = text { graph.writeSVG(to: $0) }
        return String(picture[..<(try #require(picture.firstRange(of: "<script")?.lowerBound))])
    }

    @Test func golden() throws {
        let graph = FlameGraph(tree, options: FlameGraph.Options())
        try expectGolden("flame.svg") { $0.write(try drawing(graph)) }
        try expectGolden("flame-data.json") { $0.write(try data(graph)) }
    }

    @Test func goldenChart() throws {
        let calls = CallTree(
            of: session, resolver: FunctionResolver(tree.functions), filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        for thread in session.processes.flatMap(\.threads) { calls.walk(thread, &chart) }
        let graph = chart.graph(names: tree.functions, options: FlameGraph.Options())
        try expectGolden("flame-chart.svg") { $0.write(try drawing(graph)) }
        try expectGolden("flame-chart-data.json") { graph.writeJSON(to: $0) }
    }

    /// Of more stretches without a CPU than a page can hold, it has the longest, and says how many there were.
    @Test func theChartIsBounded() throws {
        let calls = CallTree(
            of: session, resolver: FunctionResolver(tree.functions), filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        for thread in session.processes.flatMap(\.threads) { calls.walk(thread, &chart) }
        func state(_ begin: UInt64, _ length: UInt64) -> FlameTimeline.State {
            FlameTimeline.State(begin: 1_000_000 + begin, length: length, wantsCPU: false)
        }
        chart.add(to: 0, [state(0, 5), state(10, 20), state(40, 7), state(50, 7)])
        chart.add(to: 1, [state(0, 7), state(10, 30)])
        chart.keepLongestStates(6)
        #expect(chart.statesLeftOut == nil)
        chart.keepLongestStates(3)
        #expect(try #require(chart.statesLeftOut) == (6, 7))
        let graph = chart.graph(names: tree.functions, options: FlameGraph.Options())
        #expect(graph.timeline?.bands.prefix(2).map { $0.states.map(\.length) } == [[20, 7], [30]])
    }

    @Test func goldenDifference() throws {
        let builder = ComparisonBuilder()
        builder.add(tree, to: .before, program: nil, moment: 0)
        let other = try madeSession { records in
            records.enter(0x10, at: 0)
            records.enter(0x30, at: 100_000)
            records.exit(at: 3_000_000)
            records.exit(at: 7_000_000)
        }
        builder.add(
            madeTree(of: other) { function(GoldenSession.names[$0] ?? "?", file: "a.c", line: 1) }, to: .after,
            program: nil, moment: 0)
        let graph = FlameGraph(builder.comparison(), options: FlameGraph.Options())
        try expectGolden("flame-diff.svg") { $0.write(try drawing(graph)) }
        try expectGolden("flame-diff-data.json") { $0.write(try data(graph)) }
    }

    @Test func thePageHoldsEveryPathExactly() throws {
        let page = text { FlameGraph(tree, options: FlameGraph.Options()).writeHTML(to: $0) }
        let numbers = try frames(page)
        try #require(numbers.count == tree.paths.count * 6)
        for (index, path) in tree.paths.enumerated() {
            #expect(Array(numbers[(index * 6 + 1)..<(index * 6 + 3)]) == [UInt64(path.depth), path.sums.calls])
            #expect(Array(numbers[(index * 6 + 4)..<(index * 6 + 6)]) == [path.sums.total, path.sums.selfTime])
        }
    }

    @Test func framesOfARowDoNotOverlap() {
        let graph = FlameGraph(tree, options: FlameGraph.Options())
        var ends: [UInt32: UInt64] = [:]
        for frame in graph.frames {
            #expect(frame.start >= ends[frame.depth, default: 0])
            ends[frame.depth] = frame.start + frame.total
        }
        #expect(graph.total == tree.total)
    }

    @Test func theChartHasEveryCallWhereItWas() throws {
        let functions = tree.functions
        let resolver = FunctionResolver(functions)
        let calls = CallTree(of: session, resolver: resolver, filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        let thread = session.processes[0].threads[0]
        calls.walk(thread, &chart)
        let graph = chart.graph(names: functions, options: FlameGraph.Options())
        // Eight on its own stack, one on another.
        #expect(graph.frames.map(\.calls).reduce(0, +) == 9)
        #expect(graph.frames[0].start == 0)
        #expect(graph.frames.allSatisfy { $0.start + $0.total <= graph.total })
    }

    /// Calls may go back in time where a recording is damaged in a way that no checksum shows.
    @Test func theChartBeginsWithItsEarliestCall() throws {
        let writer = TraceWriter()
        var chunk = TraceWriter.ChunkOptions()
        (chunk.begin, chunk.end, chunk.calls) = (5000, 5050, 1)
        var records = RecordWriter(time: 5000)
        records.enter(0x40_1000, at: 5000)
        records.exit(at: 5050)
        writer.add(chunk, records: records.bytes)
        // After a gap, the path tells of a call that is older than all there was.
        (chunk.sequence, chunk.begin, chunk.end, chunk.calls) = (2, 6000, 6050, 0)
        records = RecordWriter(time: 6000)
        records.exit(at: 6050)
        writer.add(chunk, path: [TraceWriter.PathCall(function: 0x40_2000, enter: 100)], records: records.bytes)
        let directory = try TemporaryDirectory("back")
        try writer.write(to: directory.file("back.fathom"))
        let session = try Session(path: directory.file("back.fathom"))
        let functions = FunctionTable(resolve: { _, _ in ResolvedFunction(name: "f", module: nil, file: nil, line: 0) })
        let calls = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        calls.walk(session.processes[0].threads[0], &chart)
        let graph = chart.graph(names: functions, options: FlameGraph.Options())
        #expect(graph.frames.count == 2 && graph.frames[0].start > graph.frames[1].start)
        #expect(graph.frames.map(\.start).min() == 0)
    }

    @Test func thePageNeedsNothingElse() {
        let page = text { FlameGraph(tree, options: FlameGraph.Options()).writeHTML(to: $0) }
        for reference in ["src=", "href=", "http:", "https:", "@import", "fetch("] {
            #expect(!page.contains(reference))
        }
        #expect(page.contains("content=\"default-src 'none'; script-src 'sha256-"))
    }

    @Test func namesAndTitlesCannotEndTheirElement() {
        var options = FlameGraph.Options()
        options.title = "a </title> & \"b\""
        let page = text { FlameGraph(tree, options: options).writeHTML(to: $0) }
        #expect(page.contains("a &lt;/title&gt; &amp; &quot;b&quot;"))
        #expect(page.contains(#"\u003c/script\u003e""#))
        // Of the palette, the data, the packed script and what unpacks it; and what stands behind them.
        #expect(page.split(separator: "</script>").count == 5)
    }

    @Test func minTotalLeavesOutPaths() throws {
        var options = FlameGraph.Options()
        options.minTotal = 100_000
        let page = text { FlameGraph(tree, options: options).writeHTML(to: $0) }
        let totals = try frames(page).enumerated().filter { $0.offset % 6 == 4 }.map(\.element)
        #expect(totals.allSatisfy { $0 >= 100_000 })
        #expect(totals.count < tree.paths.count)
    }

    @Test func kindsAreLanguages() {
        let graph = FlameGraph(tree, options: FlameGraph.Options())
        #expect(graph.groups[.kind].map { Set($0.names) } == ["C", "C++"])
        #expect(graph.groups[.module]?.names.contains("program") == true)
    }

    @Test func summingLosesNeitherTimeNorFrames() {
        let graph = FlameGraph(tree, options: FlameGraph.Options())
        for least in [1.0, 50_000, 1_000_000_000_000] {
            let summed = graph.summing(narrowerThan: least)
            let sums = summed.frames.filter { $0.function == FlameGraph.summed }
            #expect(summed.frames.count - sums.count + sums.map { Int($0.calls) }.reduce(0, +) == graph.frames.count)
            #expect(sums.isEmpty == (least == 1))
            func roots(_ graph: FlameGraph) -> UInt64 {
                graph.frames.filter { $0.depth == 0 }.reduce(0) {
                    $0 + ($1.function == FlameGraph.summed ? $1.selfTime : $1.total)
                }
            }
            #expect(roots(summed) == roots(graph))
            #expect(summed.frames.allSatisfy { Double($0.total) >= least || $0.function == FlameGraph.summed })
        }
    }

    /// A chart of all threads: a band for each, which holds its calls, and none is summed away.
    @Test func everyThreadIsABand() {
        let resolver = FunctionResolver(tree.functions)
        let calls = CallTree(of: session, resolver: resolver, filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        let threads = session.processes.flatMap(\.threads)
        for thread in threads { calls.walk(thread, &chart) }
        let graph = chart.graph(names: tree.functions, options: FlameGraph.Options())
        let bands = graph.frames.filter { graph.band(of: $0) != nil }
        #expect(threads.count > 1 && bands.count == graph.timeline?.bands.count && bands.count >= threads.count)
        #expect(bands.compactMap { graph.band(of: $0) } == Array(bands.indices))
        #expect(bands.allSatisfy { $0.depth == 0 })
        #expect(Set(graph.timeline?.bands.map(\.name) ?? []).count == bands.count)
        var band = bands[0]
        for frame in graph.frames {
            if graph.band(of: frame) != nil { band = frame }
            #expect(frame.start >= band.start && frame.start + frame.total <= band.start + band.total)
        }
        let summed = graph.summing(narrowerThan: 1_000_000_000_000)
        #expect(summed.frames.filter { summed.band(of: $0) != nil }.count == bands.count)
        let picture = text { graph.writeSVG(to: $0) }
        for band in graph.timeline?.bands ?? [] { #expect(picture.contains(">\(band.name)</text>")) }
    }

    /// A counter has rows of its own, between its thread's name and calls; values beyond numbers spoil no picture.
    @Test(arguments: [false, true]) func countersAreSteps(isInverted: Bool) throws {
        let path = directory.file("counters.fathom")
        let writer = TraceWriter()
        var items = MetadataWriter()
        items.process(pid: 100, path: "/opt/program")
        items.mark(1, "queued")
        items.mark(2, "odd")
        items.mark(3, "jump")
        var options = TraceWriter.ChunkOptions()
        (options.pid, options.isMetadata) = (100, true)
        writer.add(options, records: items.bytes)
        var records = RecordWriter(time: 0)
        records.enter(0x10, at: 1000)
        records.counter(1, 4, at: 1000)
        records.counter(1, -2.5, at: 601_000)
        let values: [Double] = [.infinity, .nan, 1e308, -1e308]
        for value in values {
            records.counter(2, value, at: 700_000)
        }
        for value in [5.0, 3] { records.counter(3, value, at: 800_000) }
        records.exit(at: 1_201_000)
        options = TraceWriter.ChunkOptions()
        (options.pid, options.thread, options.tid, options.calls, options.end) = (100, 1, 100, 1, 1_201_000)
        writer.add(options, records: records.bytes)
        try writer.write(to: path)
        let session = try Session(path: path)
        let functions = FunctionTable(resolve: { _, _ in ResolvedFunction(name: "f", module: nil, file: nil, line: 0) })
        let calls = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), layout: FlameChart.layout)
        var chart = FlameChart()
        calls.walk(session.processes[0].threads[0], &chart)
        var drawing = FlameGraph.Options()
        drawing.isInverted = isInverted
        let picture = text { chart.graph(names: functions, options: drawing).writeSVG(to: $0) }
        // A pixel is a microsecond. The title has the first row, then come the name, two rows a counter, and the call.
        let row = { (place: Int) in (isInverted ? 8 - place : 1 + place) * 17 + 4 }
        let (top, zero) = (Double(row(isInverted ? 2 : 1)), 30 * 4 / 6.5)
        func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
        #expect(
            picture.contains(
                "<rect class=\"c\" x=\"0.0\" y=\"\(top + 2)\" width=\"600.0\" height=\"\(rounded(zero))\"><title>queued\n4\nat 1.00 us"
            ),
            "\(picture.prefix(3000))")
        #expect(
            picture.contains(
                "x=\"600.0\" y=\"\(rounded(top + 2 + zero))\" width=\"600.0\" height=\"\(rounded(30 - zero))\"><title>queued\n-2.5\n"
            ),
            "\(picture.prefix(3000))")
        #expect(picture.contains(">queued  -2.5 … 4</text>"))
        let numbers = picture.split(separator: "<rect class=\"c\" ").dropFirst().map { $0.prefix { $0 != ">" } }
        #expect(numbers.count == 6 && !numbers.contains { $0.contains("inf") || $0.contains("nan") }, "\(numbers)")
        let call = try #require(picture.split(separator: "<title>f\n").first?.split(separator: "<rect ").last)
        #expect(call.contains(" y=\"\(row(7))\" "), "\(call)")
        // What was there for a moment is as wide as a pixel, and what came of it goes on.
        let jump = picture.split(separator: "<rect class=\"c\" ").filter { $0.contains("<title>jump\n3") }
        #expect(jump.count == 2 && jump[0].contains("width=\"401.0\" height=\"18.0\""), "\(jump)")
        #expect(jump.last?.contains("width=\"1.0\" height=\"30.0\"") == true, "\(jump)")
    }

    /// The step of own time's colours grows with it, and the longest has the last.
    @Test func ownTimeHasSteps() {
        let graph = FlameGraph(tree, options: FlameGraph.Options())
        let steps = graph.frames.sorted { $0.selfTime < $1.selfTime }.map(graph.ownTimeStep)
        #expect(steps == steps.sorted() && steps.last == FlamePalette.stepCount)
    }

    @Test(arguments: FlameGraph.Colouring.allCases) func picturesHaveEveryColouring(_ colouring: FlameGraph.Colouring) {
        var options = FlameGraph.Options()
        options.colouring = colouring
        let picture = text { FlameGraph(tree, options: options).writeSVG(to: $0) }
        let classes = Set(picture.split(separator: "<rect class=\"").dropFirst().map { $0.prefix { $0 != "\"" } })
        #expect(classes.count > 1)
        for each in classes { #expect(picture.contains(".\(each){fill:#")) }
    }

    @Test func thePictureSumsWhatIsTooNarrow() {
        let picture = text { FlameGraph(tree, options: FlameGraph.Options()).writeSVG(to: $0) }
        #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
        #expect(picture.contains(" too narrow to show: total "))
        // One rectangle has no title: what is behind all.
        #expect(picture.split(separator: "<rect ").count == picture.split(separator: "</rect>").count + 1)
    }
}
