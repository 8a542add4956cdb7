import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct OutlineStoreTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("outlines") }

    private struct Shown: Equatable {
        var lines: [String]
        var longest: [UInt64]
    }

    /// What a tree shows, with outlines of a store, or with new ones.
    private func tree(
        _ store: OutlineStore?, _ filter: TreeFilter = TreeFilter(), limit: Int? = nil, budget: Int = 1 << 17
    ) throws -> Shown {
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            ResolvedFunction(name: String(address, radix: 16), module: nil, file: nil, line: 0)
        }
        var tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: filter, layout: TreeLayout(), budget: budget,
            outlines: store)
        let threads = session.processes.flatMap(\.threads)
        let longest = limit.map { tree.rank(threads, limit: $0) } ?? []
        var visitor = TextVisitor(functions: functions)
        for thread in threads { tree.walk(thread, &visitor) }
        return Shown(lines: visitor.lines + [tree.leftOut.map { "\($0)" } ?? ""], longest: longest)
    }

    /// What is kept shows what reading all shows, however it is asked.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func whatIsKeptShowsTheSame(seed: UInt64) throws {
        let trace = RandomTrace(
            seed: seed, count: 30_000, chunkCalls: 20 + Int(seed) * 9, maxDepth: seed % 2 == 0 ? 60 : 8)
        try trace.writer.write(to: path)
        let session = try Session(path: path), threads = session.processes.flatMap(\.threads)
        defer { withExtendedLifetime(session) {} }
        let storage = SummaryMemory()
        var isWhole = 0
        let store = OutlineStore(threads, in: storage) { _ in isWhole += 1 }
        var filter = TreeFilter()
        filter.minCost = 1 << 62
        _ = try tree(store, filter)
        #expect(isWhole == 1, "all have been made, and that is told once")
        let kept = try #require(OutlineStore(store.encoded(threads), of: threads, in: storage))
        for least in [0, 20_000, 2_000_000, 50_000_000] as [UInt64] {
            filter.minCost = least
            #expect(try tree(kept, filter) == tree(nil, filter), "seed \(seed), \(least) ns")
        }
        for limit in [1, 10, 500] {
            #expect(try tree(kept, limit: limit) == tree(nil, limit: limit), "seed \(seed), the \(limit) longest")
            // A depth says which calls count, so all are read.
            filter = TreeFilter()
            filter.maxDepth = 5
            #expect(try tree(kept, filter, limit: limit) == tree(nil, filter, limit: limit))
        }
        #expect(try tree(kept, budget: 100) == tree(nil), "chunk by chunk")
        let end = trace.calls.map(\.end).max()!
        filter = TreeFilter()
        (filter.from, filter.to) = (end / 3, end / 3 + end / 50)
        #expect(try tree(kept, filter, budget: 100) == tree(nil, filter))
    }

    @Test func damageIsFound() throws {
        try RandomTrace(seed: 3, count: 20_000, chunkCalls: 40).writer.write(to: path)
        let session = try Session(path: path), threads = session.processes.flatMap(\.threads)
        defer { withExtendedLifetime(session) {} }
        let storage = SummaryMemory(), store = OutlineStore(threads, in: storage)
        var filter = TreeFilter()
        filter.minCost = 1 << 62
        let shown = try tree(store, filter)
        let encoded = store.encoded(threads)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var bytes = encoded
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(OutlineStore(bytes, of: threads, in: storage) == nil)
        }
        // Pieces that are not there are made again.
        let without = try #require(OutlineStore(encoded, of: threads, in: SummaryMemory()))
        #expect(try tree(without, filter) == shown)
        var outlines = try #require(store.outlines(0, of: threads[0]))
        #expect(ChunkOutline.decode(ChunkOutline.encode(outlines), count: outlines.count) == outlines)
        outlines[3] = nil
        let bytes = ChunkOutline.encode(outlines)
        #expect(ChunkOutline.decode(bytes, count: outlines.count) == outlines)
        for _ in 0..<500 {
            var spoiled = bytes
            spoiled[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            _ = ChunkOutline.decode(spoiled, count: outlines.count)
            _ = ChunkOutline.decode(Array(bytes.prefix(.random(in: 0..<bytes.count, using: &random))), count: 64)
        }
    }
}
