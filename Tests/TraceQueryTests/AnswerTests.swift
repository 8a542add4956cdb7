import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceQuery
import TraceText

@Suite struct AnswerTests {
    private static let lost = "3 calls left no record; their time is in their callers' self time"

    private func query(_ fixture: QueryFixture) throws -> SessionQuery {
        try SessionQuery(fixture.session(), QueryOptions())
    }

    private func sums(
        _ fixture: QueryFixture, _ change: (inout QueryOptions) throws -> Void = { _ in }
    ) throws -> AggregateQuery {
        var options = QueryOptions()
        try change(&options)
        return try AggregateQuery(fixture.session(), options)
    }

    /// Whatever is asked, calls that left no record are told.
    @Test func lostCallsAreToldWithEachAnswer() throws {
        let fixture = try QueryFixture(lost: 3)
        #expect(try query(fixture).records { _, _ in true }.warnings == [Self.lost])
        var page = CountingPage()
        #expect(try CallsQuery(query(fixture), layout: TreeLayout()).answer(on: &page).warnings == [Self.lost])
        #expect(page.calls > 0 && page.isFinished)
        #expect(try sums(fixture).rows(.all(by: .function)).warnings == [Self.lost])
        #expect(try sums(fixture).paths().warnings == [Self.lost])
    }

    @Test func readingEndsWhereNoMoreIsWanted() throws {
        let fixture = try QueryFixture()
        var read = 0
        _ = try query(fixture).records { _, _ in
            read += 1
            return read < 2
        }
        #expect(read == 2)
        let empty = try QueryFixture(hasCalls: false)
        #expect(try query(empty).records { _, _ in true }.emptiness == .noCalls(isDamaged: false))
    }

    /// Rows that are too short for the filter are left out before they are told from none at all.
    @Test func emptinessTellsWhy() throws {
        let fixture = try QueryFixture()
        let (outer, inner) = (try Pattern("0x555500000010"), try Pattern("0x555500000020"))
        let callers = try sums(fixture).rows(.callers(inner))
        #expect(callers.content.count == 1 && callers.emptiness == nil)
        #expect(try sums(fixture).rows(.callers(outer)).emptiness == .noCallers(outer.text))
        #expect(try sums(fixture).rows(.callees(inner)).emptiness == .noCallees(inner.text))
        let short = try sums(fixture) { $0.filter.minCost = 1_000_000 }
        #expect(try short.rows(.callers(inner)).emptiness == .nothingLeft(near: .none))
        #expect(throws: QueryError.noFunction("nothing", near: .none)) {
            try sums(fixture).rows(.callees(Pattern("nothing")))
        }
    }

    /// The trees to a function and from it, by the names that JSON gives them.
    @Test func pathsAroundAFunction() throws {
        let paths = try sums(QueryFixture()).paths(around: Pattern("0x555500000020"))
        #expect(paths.content.map(\.name) == ["callers", "callees"])
        #expect(paths.content.allSatisfy { !$0.tree.paths.isEmpty })
    }

    /// A page that nothing is to be shown on tells why; what matches nothing is told of a whole page alone.
    @Test func pagesTellWhatTheyShow() throws {
        var options = QueryOptions()
        options.filter.hidden = [try Pattern("nothing")]
        let fixture = try QueryFixture()
        let calls = try CallsQuery(SessionQuery(fixture.session(), options), layout: TreeLayout())
        var page = CountingPage(), short = CountingPage(limit: 1)
        #expect(calls.answer(on: &page).warnings == ["no function matches 'nothing'"])
        #expect(calls.answer(on: &short).warnings == [])
        let none = try CallsQuery(SessionQuery(QueryFixture(hasCalls: false).session(), options), layout: TreeLayout())
        var empty = CountingPage()
        #expect(none.answer(on: &empty).emptiness == .noCalls(isDamaged: false))
    }
}

/// Counts calls, as long as more are wanted.
private struct CountingPage: TreePage {
    var limit = Int.max
    var calls = 0
    var isFinished = false
    var wantsMore: Bool { calls < limit }
    var isEmpty: Bool { calls == 0 }

    mutating func enter(_ call: TreeCall) { calls += 1 }
    mutating func finish() { isFinished = true }
    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    mutating func begin(lane: UInt32) {}
    mutating func leave(_ call: TreeCall) {}
    mutating func endLane(hidden: CallSum) {}
    mutating func endThread() {}
    mutating func endProcess() {}
}
