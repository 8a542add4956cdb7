import Testing
import TraceAnalysis
import TraceFile
import TraceQuery
import TraceText

@testable import TraceFindings

@Suite struct ComparisonQueryTests {
    private func compare(
        _ before: [QueryFixture], _ after: [QueryFixture], _ options: QueryOptions = QueryOptions()
    ) throws -> Answer<SessionComparison> {
        try ComparisonQuery.changes(
            before: before.map { try $0.session() }, after: after.map { try $0.session() }, options,
            SessionComparison.Options())
    }

    @Test func sidesAreKeptApart() throws {
        let (one, two, three) = (try QueryFixture(), try QueryFixture(lost: 3), try QueryFixture())
        let query = try compare([one], [two, three])
        #expect(query.content.runsBefore == 1 && query.content.runsAfter == 2)
        #expect(query.warnings == ["3 calls left no record; their time is in their callers' self time"])
    }

    @Test func aSessionIsEvidenceOnce() throws {
        let (one, two) = (try QueryFixture(), try QueryFixture())
        #expect(throws: QueryError.givenTwice(session: one.path)) { try compare([one, two], [one]) }
        #expect(throws: Never.self) { try compare([one], [one]) }
    }

    /// A function may be new, or gone: what matches nothing on either side is told once.
    @Test func patternsThatMatchNothingAreTold() throws {
        let (full, empty) = (try QueryFixture(), try QueryFixture(hasCalls: false))
        var options = QueryOptions()
        options.filter.hidden = [try Pattern("0x555500000020"), try Pattern("nothing")]
        for (before, after) in [(full, empty), (empty, full), (full, try QueryFixture())] {
            #expect(try compare([before], [after], options).warnings == ["no function matches 'nothing'"])
        }
    }

    @Test func oneSideMayBeEmptyButNotBoth() throws {
        let (full, empty) = (try QueryFixture(), try QueryFixture(hasCalls: false))
        #expect(throws: Never.self) { try compare([full], [empty]) }
        #expect(throws: QueryError.noCalls(isDamaged: false)) { try compare([empty], [empty]) }
        var options = QueryOptions()
        options.filter.only = [try Pattern("nothing")]
        #expect(throws: QueryError.noFunction("nothing", near: .none)) { try compare([full], [full], options) }
    }
}
