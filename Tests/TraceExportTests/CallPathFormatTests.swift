import TestSupport
import Testing
import TraceAnalysis

@testable import TraceExport

/// The formats that hold call paths, or what is left of them.
@Suite struct CallPathFormatTests {
    /// main -> a -> b -> a -> a -> c, each call entered 100 ns after its caller and 50 ns long after its callee.
    private func recursive() throws -> ExportFixture {
        try ExportFixture(["main", "a", "b", "c"]) { records in
            for (level, function) in [0, 1, 2, 1, 1, 3].enumerated() {
                records.enter(ExportFixture.address(function), at: 2000 + 100 * UInt64(level))
            }
            for level in 0..<6 { records.exit(at: 3000 + 50 * UInt64(level)) }
        }
    }

    @Test func foldedLinesAreSelfTimes() throws {
        #expect(
            try recursive().lines(.folded) == [
                "main 150", "main;a 150", "main;a;b 150", "main;a;b;a 150", "main;a;b;a;a 150", "main;a;b;a;a;c 500",
            ])
    }

    @Test(arguments: [
        ("thread 2", "thread_2"), ("a;b", "a:b"), ("operator() 1.5", "operator()_1.5"), ("f2", "f2"), ("x\ny", "x y"),
        ("12", "12"), ("a 2 b", "a 2 b"),
    ])
    func foldedFrames(_ name: String, _ expected: String) {
        #expect(String(decoding: FoldedExporter.frame(name), as: UTF8.self) == expected)
    }

    @Test func callsThatWereNotRecordedAreACalleeOfTheirOwn() throws {
        let fixture = try ExportFixture(["main"]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            records.dropped(7, ticks: 300)
            records.exit(at: 3000)
        }
        #expect(fixture.lines(.folded) == ["main 700", "main;(not recorded) 300"])
        let lines = fixture.lines(.callgrind)
        #expect(lines.contains("summary: 1000"))
        let edge = try #require(lines.firstIndex { $0.hasSuffix("(not recorded)") })
        #expect(lines[edge...].dropFirst().prefix(2) == ["calls=7 0", "1 300"])
    }

    @Test func edgesOfRecursionCountNoTimeTwice() throws {
        let graph = CallGraph(try recursive().source().callPaths())
        #expect(graph.total == 1250)
        for (index, node) in graph.nodes.enumerated() {
            let edges = graph.edges.filter { $0.callee == UInt32(index) }
            #expect(node.roots.time + edges.reduce(0) { $0 + $1.time } == node.total)
        }
        #expect(graph.nodes.filter(\.isUsed).map(\.total) == [1250, 1100, 950, 500])
        #expect(graph.edges.filter { $0.caller == $0.callee }.map(\.calls) == [1])
    }

    @Test func aRootThatIsAlsoCalledHasAnEdgeFromNowhere() throws {
        let fixture = try ExportFixture(["main", "a"]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            records.enter(ExportFixture.address(1), at: 2100)
            records.exit(at: 2200)
            records.exit(at: 2300)
            records.enter(ExportFixture.address(1), at: 2400)
            records.exit(at: 2800)
        }
        let lines = fixture.lines(.callgrind)
        let start = try #require(lines.firstIndex { $0.hasSuffix("(no caller)") })
        #expect(lines[start...].dropFirst() == ["0 0", "cob=(1)", "cfi=(1)", "cfn=(2)", "calls=1 2", "0 400"])
    }

    @Test func callgrindNamesFilesAndSums() throws {
        let lines = try recursive().lines(.callgrind)
        #expect(lines.contains("summary: 1250"))
        #expect(lines.contains("fl=(1) program.c"))
        #expect(lines.contains("fn=(1) main"))
        #expect(lines.count { $0.hasPrefix("fl=") } == 4)
    }

    @Test func callgrindHasAPartForAThread() throws {
        let lines = try recursive().lines(.callgrind)
        let head = try #require(lines.firstIndex { $0.hasPrefix("pid: ") })
        #expect(
            lines[head...].prefix(7) == [
                "pid: 1000", "part: 1", "thread: 1000", "desc: Trigger: program", "positions: line", "events: ns",
                "summary: 1250",
            ])
    }

    /// pprof takes a system name that is the name for mangled.
    @Test func pprofHasNoSystemNamesButMappingsAndLabels() throws {
        let directory = try TemporaryDirectory("pprof")
        try writeFile(try recursive().export(.pprof).bytes, to: directory.file("profile.gz"))
        #expect(try run("gzip", ["-d", directory.file("profile.gz")]).status == 0)
        let profile = try readFile(directory.file("profile"))
        let strings = ProtobufReader.messages(6, of: profile).map { String(decoding: $0, as: UTF8.self) }
        for function in ProtobufReader.messages(5, of: profile) {
            #expect(ProtobufReader.numbers(3, of: function).isEmpty)
        }
        let mappings = ProtobufReader.messages(3, of: profile)
        #expect(mappings.count == 1)
        #expect(ProtobufReader.numbers(5, of: mappings[0]).map { strings[Int($0)] } == ["/opt/program"])
        #expect(ProtobufReader.numbers(6, of: mappings[0]).map { strings[Int($0)] } == ["01"])
        for location in ProtobufReader.messages(4, of: profile) {
            #expect(ProtobufReader.numbers(2, of: location) == [1])
            let address = ProtobufReader.numbers(3, of: location)[0]
            #expect((0..<4).contains { ExportFixture.address($0) == address })
        }
        for sample in ProtobufReader.messages(2, of: profile) {
            let labels = ProtobufReader.messages(3, of: sample).map { label in
                let key = strings[Int(ProtobufReader.numbers(1, of: label)[0])]
                let text = ProtobufReader.numbers(2, of: label).first.map { strings[Int($0)] }
                return "\(key)=\(text ?? "\(ProtobufReader.numbers(3, of: label)[0])")"
            }
            #expect(labels == ["process=program 1000", "thread=program", "tid=1000"])
        }
    }

    @Test func pprofSamplesAreLeafFirst() throws {
        let directory = try TemporaryDirectory("pprof")
        try writeFile(try recursive().export(.pprof).bytes, to: directory.file("profile.gz"))
        #expect(try run("gzip", ["-d", directory.file("profile.gz")]).status == 0)
        let profile = try readFile(directory.file("profile"))
        let strings = ProtobufReader.messages(6, of: profile).map { String(decoding: $0, as: UTF8.self) }
        #expect(strings.first == "")
        #expect(strings[Int(ProtobufReader.numbers(14, of: profile)[0])] == "time")
        let functions = ProtobufReader.messages(5, of: profile)
        func name(_ location: UInt64) -> String {
            let function = functions.first { ProtobufReader.numbers(1, of: $0) == [location] } ?? []
            return strings[Int(ProtobufReader.numbers(2, of: function)[0])]
        }
        let last = try #require(ProtobufReader.messages(2, of: profile).last)
        let locations = ProtobufReader.packed(ProtobufReader.messages(1, of: last)[0])
        #expect(locations.map(name) == ["c", "a", "a", "b", "a", "main"])
        #expect(ProtobufReader.packed(ProtobufReader.messages(2, of: last)[0]) == [1, 500])
    }

    @Test func dotQuotesNames() {
        #expect(DotExporter.escape("operator\"\" _x\\y") == "operator\\\"\\\" _x\\\\y")
    }

    @Test func parquetBeginsAndEndsAsItShould() throws {
        let bytes = try recursive().export(.parquet).bytes
        #expect(bytes.prefix(4) == bytes.suffix(4))
        let size = bytes.dropLast(4).suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(size < bytes.count - 12)
    }

    @Test func minCostLeavesOutPaths() throws {
        var filter = TreeFilter()
        filter.minCost = 900
        #expect(
            try recursive().lines(.folded, filter) == [
                "main 150", "main;a 150", "main;a;b 150", "main;a;b;(left out) 800",
            ])
    }
}
