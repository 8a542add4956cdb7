import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceFindings
@testable import TraceReports

/// Reports as terminals of several widths show them, against the files `screen-*.txt`.
extension GoldenTests {
    static let widths = [80, 120, 200]

    private static let names: [UInt64: String] = [
        0x10: "main", 0x20: "project::step", 0x30: "数える(std::vector<int> const&)",
        0x40: "project::parsing::Parser<project::parsing::Token, project::Arena>::parse_expression"
            + "(project::parsing::Cursor const&, project::parsing::Precedence)",
    ]

    private static func layout(_ width: Int?, colour: Bool = false) -> TextLayout {
        var layout = TextLayout()
        layout.width = width
        layout.isColoured = colour
        layout.directory = "/home/me/project"
        return layout
    }

    /// What a terminal shows of everything that is fitted.
    private func screen(_ layout: TextLayout) -> [UInt8] {
        let functions = FunctionTable(
            resolve: { module, address in
                ResolvedFunction(
                    name: Self.names[address] ?? "0x" + String(address, radix: 16), module: module?.path,
                    file: module == nil ? nil : "/home/me/project/build/../src/parsing/expression.cpp",
                    line: Int(truncatingIfNeeded: address))
            },
            locate: { _, address in ("/home/me/project/build/../src/parsing/expression.cpp", Int(address)) })
        let resolver = FunctionResolver(functions)
        let threads = session.processes.flatMap(\.threads)
        func paths(_ cost: TracingCost? = nil) -> CallPathTree {
            Aggregation(of: session, resolver: resolver, filter: TreeFilter(), cost: cost).tree(of: threads)
        }
        let tree = paths()
        return ByteWriter.bytes { output in
            let writer = layout.width.map { .cuttingLines(to: $0, output) } ?? output
            defer { writer.flush() }
            func title(_ name: String) { writer.write("== \(name)\n") }
            title("report")
            TableReport(SummedRows(.functions, tree.rows(by: .function), of: tree), layout: layout).write(
                .text, to: writer)
            title("report, by path")
            TableReport(SummedRows(pathsOf: tree), limit: 3, layout: layout).write(.text, to: writer)
            title("report, by file")
            TableReport(SummedRows(.files, tree.rows(by: .file), of: tree), layout: layout).write(.text, to: writer)
            title("graph")
            var graphOptions = GraphText.Options()
            (graphOptions.layout, graphOptions.threshold, graphOptions.limit) = (layout, 0, 5)
            var graph = GraphText(writer, options: graphOptions)
            graph.write(tree)
            title("tree")
            var treeOptions = TreeText.Options()
            (treeOptions.layout, treeOptions.lines, treeOptions.callSites) = (layout, true, true)
            var text = TreeText(writer, functions: functions, options: treeOptions)
            let calls = CallTree(of: session, resolver: resolver, filter: TreeFilter(), layout: TreeLayout())
            for thread in threads { calls.walk(thread, &text) }
            text.finish()
            title("diff")
            let change = ComparisonBuilder()
            for run in 1...2 as ClosedRange<UInt64> {
                change.add(tree, to: .before, program: "/opt/program", moment: run)
                change.add(paths(TracingCost(perCall: 400)), to: .after, program: "/opt/program", moment: 10 + run)
            }
            var diffOptions = DiffReport.Options()
            diffOptions.layout = layout
            DiffReport(change.comparison(), options: diffOptions).write(.text, to: writer)
            title("info --tree")
            var processOptions = ProcessTreeReport.Options()
            processOptions.layout = layout
            ProcessTreeReport(writer, ProcessTree(of: session), options: processOptions).write(.text)
        }
    }

    @Test(arguments: widths) func screens(_ width: Int) throws {
        let shown = screen(Self.layout(width))
        for line in String(decoding: shown, as: UTF8.self).split(separator: "\n") {
            #expect(line.count <= width && String(line).columns <= width, "\(line)")
        }
        try expect(shown, "screen-\(width).txt")
    }

    /// Colours change nothing but colours, at any width.
    @Test(arguments: [nil, 40, 79, 80, 133] as [Int?]) func colours(_ width: Int?) throws {
        let plain = String(decoding: screen(Self.layout(width)), as: UTF8.self)
        let coloured = String(decoding: screen(Self.layout(width, colour: true)), as: UTF8.self)
        #expect(coloured.contains("\u{1b}[1m") && coloured.contains("\u{1b}[31m") && !plain.contains("\u{1b}"))
        let pieces = coloured.split(separator: "\u{1b}", omittingEmptySubsequences: false)
        let bare = pieces[0] + pieces.dropFirst().map { $0.drop { $0 != "m" }.dropFirst() }.joined()
        #expect(bare == plain)
    }

    /// Deep trees keep room for names; what is not indented any more tells how deep it is.
    @Test func deepTreesFit() throws {
        let directory = try TemporaryDirectory("deep")
        try TraceWriter.session(directory.file("x.fathom")) { records in
            for depth in 0..<100 as Range<UInt64> { records.enter(0x1000 + depth, at: depth) }
            for depth in 0..<100 as Range<UInt64> { records.exit(at: 200 + depth) }
        }
        let session = try Session(path: directory.file("x.fathom"))
        let functions = FunctionTable { _, address in
            ResolvedFunction(name: "function\(address)_of_a_long_name", module: nil, file: nil, line: 0)
        }
        let tree = Aggregation(of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), cost: nil)
            .tree(of: session.processes[0].threads)
        for width in [60, 80, 120] {
            let shown = ByteWriter.bytes { writer in
                var options = GraphText.Options()
                (options.layout, options.threshold) = (Self.layout(width), 0)
                var graph = GraphText(writer, options: options)
                graph.write(tree)
            }
            let lines = String(decoding: shown, as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 101)
            #expect(lines.allSatisfy { $0.count <= width })
            #expect(
                lines.last?.contains("+") == true && lines.last?.hasSuffix("long_name") == true, "\(lines.last ?? "")")
        }
    }
}
