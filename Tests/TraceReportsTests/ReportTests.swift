import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceReports

extension GoldenTests {
    private func callPaths(_ cost: TracingCost? = nil) -> CallPathTree {
        Aggregation(of: session, resolver: resolver, filter: TreeFilter(), cost: cost).tree(
            of: session.processes.flatMap(\.threads))
    }

    private func written(_ format: TableReport.Format, _ report: TableReport) -> [UInt8] {
        ByteWriter.bytes { report.write(format, to: $0) }
    }

    @Test(arguments: [(TableReport.Format.text, "report.txt"), (.json, "report.json"), (.csv, "report.csv")])
    func functions(_ format: TableReport.Format, _ name: String) throws {
        let tree = callPaths()
        try expect(written(format, TableReport(SummedRows(.functions, tree.rows(by: .function), of: tree))), name)
    }

    @Test(arguments: [
        (TableReport.Format.text, "report-paths.txt"), (.json, "report-paths.json"), (.csv, "report-paths.csv"),
    ])
    func paths(_ format: TableReport.Format, _ name: String) throws {
        let tree = callPaths()
        try expect(
            written(format, TableReport(SummedRows(pathsOf: tree), order: .number(.calls), limit: 4)), name)
    }

    @Test(arguments: [
        (TableReport.Format.text, "report-lines.txt"), (.json, "report-lines.json"), (.csv, "report-lines.csv"),
    ])
    func lines(_ format: TableReport.Format, _ name: String) throws {
        let tree = Aggregation(of: session, resolver: resolver, filter: TreeFilter(), bySite: true).tree(
            of: session.processes.flatMap(\.threads))
        try expect(written(format, TableReport(SummedRows(.lines, tree.rows(by: .line), of: tree))), name)
    }

    @Test(arguments: [(TableReport.Format.text, "report-threads.txt"), (.json, "report-threads.json")])
    func threads(_ format: TableReport.Format, _ name: String) throws {
        let threads = session.processes.flatMap(\.threads)
        let aggregation = Aggregation(of: session, resolver: resolver, filter: TreeFilter())
        let rows = aggregation.threadSums(of: threads).map { $0.row(cost: nil) }
        try expect(written(format, TableReport(SummedRows(.threads, rows, of: aggregation.tree(of: [])))), name)
    }

    @Test(arguments: [(TableReport.Format.text, "report-processes.txt"), (.json, "report-processes.json")])
    func processes(_ format: TableReport.Format, _ name: String) throws {
        let sums = Aggregation(of: session, resolver: resolver, filter: TreeFilter())
            .threadSums(of: session.processes.flatMap(\.threads))
        let rows = ThreadSums.processRows(sums, cost: nil)
        try expect(
            written(
                format,
                TableReport(SummedRows(.processes, rows, functions: resolver.functions, cost: nil, dropped: CallSum()))),
            name)
    }

    @Test(arguments: [
        (TableReport.Format.text, "report-corrected.txt"), (.json, "report-corrected.json"),
        (.csv, "report-corrected.csv"),
    ])
    func corrected(_ format: TableReport.Format, _ name: String) throws {
        let tree = callPaths(TracingCost(perCall: 20))
        try expect(written(format, TableReport(SummedRows(.functions, tree.rows(by: .function), of: tree))), name)
    }

    @Test func correctedGraph() throws {
        let tree = callPaths(TracingCost(perCall: 20))
        try expect(
            ByteWriter.bytes { writer in
                var graph = GraphText(writer, options: GraphText.Options())
                graph.write(tree)
                GraphJSON(writer).write([("paths", tree)])
            }, "graph-corrected.txt")
    }

    @Test func aCostTooLittleToMeasureIsSaid() {
        let tree = callPaths(TracingCost(perCall: 0))
        let text = String(decoding: written(.text, TableReport(SummedRows(.functions, [], of: tree))), as: UTF8.self)
        #expect(text.contains("(times corrected by nothing: tracing cost too little to be measured)"))
    }

    @Test func filesModulesCallersAndCallees() throws {
        let tree = callPaths()
        let reports = try [
            TableReport(SummedRows(.files, tree.rows(by: .file), of: tree)),
            TableReport(SummedRows(.modules, tree.rows(by: .module), of: tree)),
            TableReport(SummedRows(.callers, tree.rows(callersOf: [Pattern("work")]), of: tree)),
            TableReport(SummedRows(.callees, tree.rows(calleesOf: [Pattern("main")]), of: tree), order: .name),
        ]
        try expect(reports.flatMap { written(.text, $0) + written(.json, $0) }, "report-others.txt")
    }

    @Test(arguments: ReportOrder.allCases)
    func everyOrderKeepsEveryRow(_ order: ReportOrder) throws {
        #expect(ReportOrder(rawValue: order.rawValue)?.rawValue == order.rawValue)
        let tree = callPaths()
        let report = TableReport(SummedRows(.functions, tree.rows(by: .function), of: tree), order: order)
        #expect(report.rows.count == tree.rows(by: .function).count)
        if case .number(let column) = order {
            let values = report.rows.map { column.value(of: $0) }
            #expect(values == values.sorted(by: >))
        }
    }

    @Test func costHidesRowsByTheirTotal() throws {
        let tree = callPaths()
        var filter = TreeFilter()
        filter.minCost = 1500
        let all = SummedRows(.functions, tree.rows(by: .function), of: tree)
        let rows = TableReport(all.longEnough(for: filter)).rows
        #expect(rows.allSatisfy { $0.total >= 1500 } && !rows.isEmpty && rows.count < all.count)
        // Functions with triggers have rows all the same.
        filter.triggers = [CallTrigger(try Pattern("*"))]
        #expect(TableReport(all.longEnough(for: filter)).rows.count == all.count)
    }

    @Test func graph() throws {
        let tree = callPaths()
        var options = GraphText.Options()
        options.threshold = 0.0005
        try expect(
            ByteWriter.bytes { writer in
                var graph = GraphText(writer, options: options)
                graph.write(tree)
            }, "graph.txt")
        let callers = tree.inverted(at: [try Pattern("work")])
        try expect(
            ByteWriter.bytes { GraphJSON($0).write([("paths", tree), ("callers", callers)]) },
            "graph.json")
    }

    @Test func graphTellsWhatWasNotRecorded() throws {
        let tree = callPaths()
        func lines(_ tree: CallPathTree) -> [Substring] {
            let bytes = ByteWriter.bytes { writer in
                var options = GraphText.Options()
                options.threshold = 0
                var graph = GraphText(writer, options: options)
                graph.write(tree)
            }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        }
        let whole = lines(tree)
        let row = try #require(whole.firstIndex { $0.hasSuffix("… 12 calls, 800 ns (not recorded)") })
        #expect(whole[row - 1].hasSuffix(" work"))
        // It was called, and is none of the callers.
        #expect(!lines(tree.inverted(at: [try Pattern("work")])).contains { $0.contains("not recorded") })
    }
}
