import TestSupport
import Testing
import TraceAnalysis
import TracePage
import TraceText

@testable import TraceReports

/// What flame graphs show of time in which nothing ran, and what they are coloured by.
@Suite struct FlameWaitingTests {
    private typealias Frame = FlameGraph.Frame

    /// `main`, at 0, calls `sleep`, at 1, and `work`, at 2, which lie in these files.
    private func tree(files: [String?], module: @escaping (UInt64) -> String = { _ in "/opt/program" }) throws
        -> CallPathTree
    {
        let session = try madeSession { records in
            records.enter(0x10, at: 0)
            records.enter(0x20, at: 100_000)
            records.exit(at: 500_000)
            records.enter(0x30, at: 500_000)
            records.exit(at: 1_000_000)
            records.exit(at: 1_000_000)
        }
        return madeTree(of: session) { address in
            let number = Int(address / 0x10) - 1
            return ResolvedFunction(
                name: ["main", "sleep", "work"][number], module: module(address), file: files[number], line: 7)
        }
    }

    /// `main` waits for 400 ns in `sleep`, which does nothing else, and for 100 in itself.
    private func graph() throws -> FlameGraph {
        let functions = try tree(files: ["a.c", "b.c", "c.c"]).functions
        let frames = [
            Frame(
                function: 0, depth: 0, calls: 1, start: 0, total: 1000, selfTime: 200, waiting: 500, ownWaiting: 100),
            Frame(function: 1, depth: 1, calls: 1, start: 0, total: 400, selfTime: 400, waiting: 400, ownWaiting: 400),
            Frame(function: 2, depth: 1, calls: 1, start: 400, total: 400, selfTime: 400),
        ]
        return FlameGraph(frames, total: 1000, timeline: nil, names: functions, options: FlameGraph.Options())
    }

    @Test func whatWaitsIsNotHot() throws {
        let graph = try graph()
        #expect(graph.frames.map(graph.ownTimeStep) == [5, 0, FlamePalette.stepCount])
        // Of a caller, that is hatched which its callees waited, and at its right what it waited itself.
        #expect(graph.waitingStretches == [-1: [0..<400, 900..<1000]])
    }

    @Test func thePictureHatchesCallersToo() throws {
        let graph = try graph()
        let picture = String(decoding: ByteWriter.bytes { graph.writeSVG(to: $0) }, as: UTF8.self)
        let hatched = picture.split(separator: "\n").filter { $0.hasPrefix("<rect class=\"w\" ") }.map { line in
            line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.dropFirst().map {
                String($0.element)
            }
        }
        #expect(
            hatched == [
                ["0.0", "21", "480.0", "16"], ["1080.0", "21", "119.5", "16"], ["0.0", "38", "479.5", "16"],
            ])
        #expect(picture.contains("self 200 ns (20.00 %), waiting 500 ns</title>"))
        #expect(picture.contains(" · total 1.00 us</text>"))
        let data = picture.split(separator: "\n")
        #expect(data.contains { $0.hasPrefix("\"waiting\":[500,400,0]") })
        #expect(data.contains { $0.hasPrefix("\"ownWaiting\":[100,400,0]") })
    }

    /// What is left out may have waited all along, so a caller is not said to have done that itself.
    @Test func aChartDividesWaits() {
        var frames = [
            Frame(function: 0, depth: 0, calls: 1, start: 0, total: 900, selfTime: 300, waiting: 700, ownWaiting: 50),
            Frame(function: 1, depth: 1, calls: 1, start: 0, total: 500, selfTime: 500, waiting: 480),
            Frame(function: 2, depth: 1, calls: 1, start: 500, total: 100, selfTime: 100),
            Frame(function: 3, depth: 0, calls: 1, start: 900, total: 90, selfTime: 90, waiting: 95),
        ]
        FlameGraph.divideWaits(&frames, suspended: 2)
        #expect(frames.map(\.waiting) == [700, 480, 100, 90])
        #expect(frames.map(\.ownWaiting) == [700 - 50 - 480 - 100, 480, 100, 90])
    }

    /// Without waits, nothing is said of them.
    @Test func withoutWaits() throws {
        let graph = FlameGraph(try tree(files: ["a.c", "b.c", "c.c"]), options: FlameGraph.Options())
        let picture = String(decoding: ByteWriter.bytes { graph.writeSVG(to: $0) }, as: UTF8.self)
        let drawing = try #require(picture.split(separator: "<script").first)
        #expect(!drawing.contains("class=\"w\"") && !picture.contains("\"ownWaiting\":["))
        #expect(graph.wall == 1_000_000 && picture.contains("\"wall\":1000000,"))
    }

    /// One colour tells nothing: where a module has nearly all own time, files do, and where a file has it, own time itself.
    @Test func coloursAreThoseThatTell() throws {
        let options = FlameGraph.Options()
        func colouring(_ files: [String?], _ module: @escaping (UInt64) -> String = { _ in "/opt/program" }) throws
            -> FlameGraph.Colouring
        {
            FlameGraph(try tree(files: files, module: module), options: options).colouring
        }
        #expect(try colouring(["a.c", "b.c", "c.c"]) == .file)
        #expect(try colouring(["a.c", "a.c", "a.c"]) == .self)
        #expect(try colouring([nil, nil, nil]) == .self)
        #expect(try colouring(["a.c", "a.c", "a.c"], { "/opt/\($0)" }) == .module)
        var chosen = options
        chosen.colouring = .namespace
        #expect(FlameGraph(try tree(files: ["a.c", "b.c", "c.c"]), options: chosen).colouring == .namespace)
    }
}
