import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct TracingCostTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }
    /// 3 ns of it inside, 7 ns outside.
    private let ten = TracingCost(perCall: 10)

    init() throws { directory = try TemporaryDirectory("cost") }

    /// Writes one chunk: letters enter a call at a moment, `.` leaves one.
    private func write(_ events: [(String, UInt64)]) throws {
        try TraceWriter.session(path) { records in
            for (letter, time) in events {
                if letter == "." {
                    records.exit(at: time)
                } else {
                    records.enter(UInt64(letter.utf8.first!), at: time)
                }
            }
        }
    }

    private func aggregation(
        _ session: Session, _ cost: TracingCost?, _ filter: TreeFilter = TreeFilter()
    ) -> Aggregation {
        let functions = FunctionTable { _, address in
            ResolvedFunction(
                name: String(UnicodeScalar(UInt8(truncatingIfNeeded: address))), module: nil, file: nil, line: 0)
        }
        return Aggregation(of: session, resolver: FunctionResolver(functions), filter: filter, cost: cost)
    }

    private func tree(_ cost: TracingCost?, _ filter: TreeFilter = TreeFilter()) throws -> CallPathTree {
        let session = try Session(path: path)
        return aggregation(session, cost, filter).tree(of: session.processes.flatMap(\.threads))
    }

    /// One line a path: depth, name, calls, total/self.
    private func lines(_ tree: CallPathTree) -> [String] {
        tree.paths.map {
            "\($0.depth) \(tree.functions[$0.function].name) x\($0.sums.calls) \($0.sums.total)/\($0.sums.selfTime)"
        }
    }

    @Test func theCostIsPartlyTheCallsPartlyItsCallers() throws {
        #expect((ten.inside, ten.outside) == (3, 7))
        try write([("a", 0), ("b", 100), (".", 120), ("b", 200), ("c", 210), (".", 230), (".", 250), (".", 300)])
        #expect(try lines(tree(nil)) == ["0 a x1 300/230", "1 b x2 70/50", "2 c x1 20/20"])
        // a: its own 3, and 7 for each b. b: 3 for each, and 7 for c. c: 3.
        #expect(try lines(tree(ten)) == ["0 a x1 267/213", "1 b x2 54/37", "2 c x1 17/17"])
    }

    @Test func whatACallLacksIsItsCallersToGive() throws {
        try write([("a", 0), ("b", 10), (".", 11), (".", 100)])
        // b has 1 of its 3.
        #expect(try lines(tree(ten)) == ["0 a x1 87/87", "1 b x1 0/0"])
        // Nothing falls below 0, and nobody is there to give what the root lacks.
        #expect(try lines(tree(TracingCost(perCall: 1000))) == ["0 a x1 0/0", "1 b x1 0/0"])
    }

    @Test func callsThatAreHiddenCostAsWell() throws {
        try write([("a", 0), ("b", 100), ("c", 110), (".", 130), (".", 150), (".", 300)])
        var filter = TreeFilter()
        filter.maxDepth = 0
        #expect(try lines(tree(ten, filter)) == ["0 a x1 277/240"])
    }

    @Test func leftOutCallsCostTheirCaller() throws {
        try TraceWriter.session(path) { records in
            records.enter(97, at: 0)
            records.dropped(2, ticks: 30)
            records.exit(at: 100)
        }
        let corrected = try tree(ten).paths[0].sums
        #expect((corrected.total, corrected.selfTime, corrected.dropped.time) == (77, 47, 30))
    }

    @Test func singleCallsAreCorrectedLikeTheirSum() throws {
        try write([("a", 0), ("b", 100), (".", 120), ("b", 200), (".", 240), (".", 300)])
        let rows = try tree(ten).rows(by: .function)
        try #require(rows.count == 2)
        // b calls nothing: each of its calls is 3 shorter.
        #expect((rows[1].average, rows[1].minimum, rows[1].maximum) == (27, 17, 37))
        #expect(rows[1].percentiles == Percentiles(p50: 17, p90: 37, p99: 37))
        // The only call of a is what all its calls are.
        #expect((rows[0].total, rows[0].minimum, rows[0].maximum) == (277, 277, 277))
        #expect(rows[0].isReliable && !rows[1].isReliable)
    }

    @Test(arguments: 1...8)
    func timesAddUp(_ seed: Int) throws {
        try RandomTrace(seed: UInt64(seed), count: 500).writer.write(to: path)
        let raw = try tree(nil)
        let corrected = try tree(TracingCost(perCall: 12.34))
        #expect(corrected.paths.reduce(0) { $0 + $1.sums.selfTime } == corrected.total)
        #expect(corrected.total < raw.total)
        for (index, path) in corrected.paths.enumerated() {
            let callees = corrected.callees(of: index).reduce(0) { $0 + corrected.paths[$1].sums.total }
            #expect(path.sums.total == path.sums.selfTime + callees)
            #expect(path.sums.total + path.sums.taken == raw.paths[index].sums.total)
        }
        let session = try Session(path: path)
        let cost = TracingCost(perCall: 12.34)
        let rows = aggregation(session, cost).threadSums(of: session.processes[0].threads).map { $0.row(cost: cost) }
        #expect(rows.map(\.total) == [corrected.total])
    }

    @Test func theCostIsTheDifferenceOverTheCalls() {
        // 12 ms more, 2 of them for the start.
        #expect(TracingCost(plain: 100_000_000, traced: 112_000_000, calls: 1_000_000).perCall == 12.7)
        // Faster, or as fast as noise allows.
        #expect(TracingCost(plain: 100_000_000, traced: 90_000_000, calls: 1_000_000).perCall == 0)
        #expect(TracingCost(plain: 100_000_000, traced: 106_900_000, calls: 1_000_000).perCall == 0)
        #expect(TracingCost(plain: 10_000_000_000, traced: 10_100_000_000, calls: 1_000_000).perCall == 0)
        // Too much for hooks.
        #expect(TracingCost(plain: 100_000_000, traced: 800_000_000, calls: 1_000_000).perCall == 0)
        #expect(TracingCost(plain: 0, traced: 100_000_000, calls: 0).perCall == 0)
    }

    @Test func theSessionKnowsItsBaseline() throws {
        let trace = RandomTrace(seed: 3, count: 200_000, chunkCalls: 1000)
        try trace.writer.write(to: path)
        #expect(TracingCost(of: try Session(path: path)) == nil)
        let numbers = """
            "plain_user_ns":90000000,"plain_system_ns":10000000,"traced_user_ns":105000000,"traced_system_ns":0
            """
        try writeFile(Array("{\"baseline\":{\"runs\":3,\(numbers)}}".utf8), to: path + "/session.json")
        let session = try Session(path: path)
        #expect(session.description?.baseline?.plain.total == 100_000_000)
        #expect(session.description?.baseline?.runs == 3)
        #expect(TracingCost(of: session)?.perCall == 0)
        let more = numbers.replacing("105000000", with: "112000000")
        try writeFile(Array("{\"baseline\":{\"runs\":3,\(more)}}".utf8), to: path + "/session.json")
        #expect(TracingCost(of: try Session(path: path))?.perCall == 10_000_000 / 200_000 + 2.7)
        try writeFile(Array("{\"baseline\":{\"runs\":3}}".utf8), to: path + "/session.json")
        #expect(TracingCost(of: try Session(path: path)) == nil)
    }
}
