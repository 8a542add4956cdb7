import TestSupport
import Testing
import TraceAnalysis

@testable import TraceExport

/// What filters hide loses no time, and files that would be beyond all measure are refused.
@Suite struct LeftOutTests {
    /// main calls a twice, which calls b; 12 calls of 50 ns below a were not recorded.
    private func calls() throws -> ExportFixture {
        try ExportFixture(["main", "a", "b"]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            for start in [2100, 2500] as [UInt64] {
                records.enter(ExportFixture.address(1), at: start)
                records.enter(ExportFixture.address(2), at: start + 100)
                records.exit(at: start + 150)
                records.dropped(6, ticks: 50)
                records.exit(at: start + 300)
            }
            records.exit(at: 3000)
        }
    }

    private func filter(_ change: (inout TreeFilter) -> Void) -> TreeFilter {
        var filter = TreeFilter()
        change(&filter)
        return filter
    }

    private func count(_ lines: [String]) -> Int {
        lines.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }

    @Test func foldedLinesAddUpToTheRoot() throws {
        let fixture = try calls()
        #expect(fixture.lines(.folded, filter { $0.maxDepth = 0 }) == ["main 400", "main;(left out) 600"])
        #expect(
            fixture.lines(.folded, filter { $0.maxDepth = 1 }) == [
                "main 400", "main;a 400", "main;a;(not recorded) 100", "main;a;(left out) 100",
            ])
        #expect(
            fixture.lines(.folded, filter { $0.without = [try! Pattern("a")] }) == [
                "main 400", "main;(left out) 600",
            ])
        for filter in [filter { _ in }, filter { $0.hidden = [try! Pattern("a")] }, filter { $0.minCost = 101 }] {
            #expect(count(fixture.lines(.folded, filter)) == 1000)
        }
        #expect(fixture.lines(.folded).allSatisfy { !$0.contains("(left out)") })
    }

    @Test func graphsHaveAFunctionForIt() throws {
        let fixture = try calls()
        let filter = filter { $0.maxDepth = 1 }
        let graph = CallGraph(fixture.source(filter).callPaths())
        #expect(graph.total == 1000)
        #expect(graph.nodes.reduce(0) { $0 + $1.selfTime } == 1000)
        let used = graph.nodes.indices.filter { graph.nodes[$0].isUsed }
        #expect(used.map { graph.function($0).name } == ["main", "a", "(not recorded)", "(left out)"])
        #expect(used.map { graph.nodes[$0].total } == [1000, 600, 100, 100])
        let lines = fixture.lines(.callgrind, filter)
        #expect(lines.contains("summary: 1000"))
        for (name, calls) in [("(not recorded)", "calls=12 0"), ("(left out)", "calls=0 0")] {
            let edge = try #require(lines.firstIndex { $0.hasPrefix("cfn=") && $0.hasSuffix(name) })
            #expect(lines[edge...].dropFirst().prefix(2) == [calls, "2 100"])
        }
        let dot = fixture.lines(.dot, filter)
        #expect(dot.count { $0.contains("(left out)\\n100 ns total") } == 1)
        #expect(dot.count { $0.contains(" -> ") } == 3)
    }

    @Test func pprofSamplesAddUpToTheRoot() throws {
        let directory = try TemporaryDirectory("left-out")
        let bytes = try calls().export(.pprof, filter { $0.maxDepth = 0 }).bytes
        try writeFile(bytes, to: directory.file("profile.gz"))
        #expect(try run("gzip", ["-d", directory.file("profile.gz")]).status == 0)
        let profile = try readFile(directory.file("profile"))
        let samples = ProtobufReader.messages(2, of: profile)
        #expect(
            samples.map { ProtobufReader.packed(ProtobufReader.messages(2, of: $0)[0]) } == [[1, 400], [0, 600]])
        #expect(ProtobufReader.packed(ProtobufReader.messages(1, of: samples[1])[0]).count == 2)
        let strings = ProtobufReader.messages(6, of: profile).map { String(decoding: $0, as: UTF8.self) }
        #expect(strings.contains("(left out)"))
        #expect(!strings.contains("(not recorded)"))
    }

    @Test func parquetHasARowForIt() throws {
        #expect(try calls().export(.parquet, filter { $0.maxDepth = 1 }).1.written == 4)
    }

    /// down, `depth` times within itself.
    private func recursion(_ depth: Int) throws -> ExportFixture {
        try ExportFixture(["down"]) { records in
            for level in 0..<UInt64(depth) { records.enter(ExportFixture.address(0), at: 2000 + 100 * level) }
            for level in 0..<UInt64(depth) { records.exit(at: 1_000_000 + 100 * level) }
        }
    }

    @Test func sizesAreKnownBeforeTheyAreWritten() throws {
        let format = ExportFormat.folded
        let fixture = try recursion(500)
        let source = fixture.source()
        var size = PathFileSize()
        size.add(source.callPaths(), minTotal: 0, remainder: 12) { _ in 12 }
        let written = UInt64(fixture.export(format).bytes.count)
        #expect(size.total > written - written / 10 && size.total < written + written / 10)
        #expect(size.refusal() == nil)
        #expect(format.exporter?.refusal(source) == nil)
        let depth = try #require(size.maxDepth(within: 100_000))
        #expect(depth > 10 && depth < 499)
        #expect(fixture.export(format, filter { $0.maxDepth = UInt32(depth) }).bytes.count <= 110_000)
        let refusal = try #require(size.refusal(limit: 100_000))
        #expect(refusal.contains("--max-depth \(depth) fits"))
        #expect(size.maxDepth(within: 1) == nil)
    }

    @Test func aRecursionTooDeepIsRefused() throws {
        let source = try recursion(25_000).source()
        for format in [ExportFormat.folded, .parquet] {
            let refusal = try #require(format.exporter?.refusal(source))
            let size = format == .folded ? "1.6 GB" : "1.6 GB before compression"
            #expect(refusal.contains("about \(size), more than 1 GB"), "\(refusal)")
            #expect(refusal.contains("--max-depth 19"), "\(refusal)")
        }
        // Its rows have numbers in place of names.
        #expect(ExportFormat.pprof.exporter?.refusal(source) == nil)
        let refusal = try #require(try ExportFormat.pprof.exporter?.refusal(recursion(50_000).source()))
        #expect(refusal.contains("about 1.3 GB before compression, more than 1 GB"), "\(refusal)")
    }
}
