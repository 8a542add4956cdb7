import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceQuery
import TraceText

@Suite struct AggregateQueryTests {
    /// Keeps what a query says.
    private final class Ear {
        var lines: [String] = []
        var parts: [Double] = []
        var listener: QueryListener {
            QueryListener(warn: { self.lines.append($0) }, progress: { self.parts.append($0) })
        }
    }

    private func query(
        _ fixture: QueryFixture, _ ear: Ear = Ear(), _ change: (inout QueryOptions) throws -> Void = { _ in }
    ) throws -> AggregateQuery {
        var options = QueryOptions()
        try change(&options)
        return try AggregateQuery(fixture.session(), options, listener: ear.listener)
    }

    /// Rows by the names of their functions.
    private func rows(_ query: AggregateQuery) throws -> [String: [UInt64]] {
        var result: [String: [UInt64]] = [:]
        for row in try query.functionRows().rows {
            guard case .function(let id) = row.subject else { continue }
            result[query.functions[id].name] = [row.calls, row.total, row.selfTime]
        }
        return result
    }

    @Test func callsAreAddedUpByFunction() throws {
        let ear = Ear()
        let query = try query(QueryFixture(), ear)
        #expect(
            try rows(query) == [
                "0x555500000010": [3, 3000, 2100], "0x555500000020": [2, 600, 600], "gone.so+0x10": [1, 300, 300],
            ])
        #expect(try query.threadSums().map(\.sums.calls) == [2, 2, 2])
        #expect(ear.parts.last == 1)
        #expect(query.warnings == [])
    }

    @Test func onlyWhatIsAskedForIsAddedUp() throws {
        let fixture = try QueryFixture()
        let worker = try query(fixture) { $0.selection = try ThreadSelection(threads: ["worker"], processes: []) }
        #expect(try rows(worker) == ["0x555500000010": [1, 1000, 700], "gone.so+0x10": [1, 300, 300]])
        let shallow = try query(fixture) { $0.filter.maxDepth = 0 }
        #expect(try rows(shallow).keys.sorted() == ["0x555500000010"])
    }

    /// Symbols are looked for when a name is asked for, and their lack is told of once.
    @Test func missingSymbolsAreToldToTheListener() throws {
        let (fixture, ear) = (try QueryFixture(), Ear())
        let query = try query(fixture, ear)
        _ = try rows(query)
        #expect(
            ear.lines == ["\(fixture.directory.file("gone.so")) is gone: its functions are shown as addresses"])
        _ = try rows(query)
        #expect(ear.lines.count == 1)
    }

    @Test func whatTheRecordingLacksIsToldOf() throws {
        let fixture = try QueryFixture(lost: 7)
        let lost = "7 calls left no record; their time is in their callers' self time"
        #expect(try query(fixture).warnings == [lost])
        let main = try query(fixture) { $0.selection = try ThreadSelection(threads: ["main"], processes: []) }
        #expect(main.warnings == [])

        try fixture.damage()
        let damaged = try query(fixture)
        _ = try damaged.tree()
        #expect(damaged.warnings.count == 2 && damaged.warnings.last == lost)
        #expect(damaged.session.warnings == Array(damaged.warnings.dropLast()))
    }

    @Test func whyNothingIsShownIsTold() throws {
        let (fixture, ear) = (try QueryFixture(lost: 7), Ear())
        let none = try query(fixture, ear) { $0.filter.only = [try Pattern("nothing")] }
        #expect(throws: QueryError.noFunction("nothing", near: .none)) { try none.tree() }
        #expect(ear.lines.last?.hasPrefix("7 calls left no record") == true)
        let nothing = try Pattern("nothing")
        #expect(throws: QueryError.noFunction("nothing", near: .none)) {
            try none.check(isEmpty: true, matching: nothing)
        }
        try none.check(isEmpty: false, matching: nothing)
        // What was not looked at may have the function.
        let part = try query(fixture) {
            $0.filter.only = [nothing]
            $0.filter.from = 1
        }
        #expect(throws: QueryError.nothingLeft(near: .none)) { try part.tree() }

        let empty = try QueryFixture(hasCalls: false)
        for ask in [{ _ = try $0.tree() }, { _ = try $0.functionRows() }, { _ = try $0.threadSums() }]
            as [(AggregateQuery) throws -> Void]
        {
            #expect(throws: QueryError.noCalls(isDamaged: false)) { try ask(query(empty)) }
        }
        #expect(throws: QueryError.noCalls(isDamaged: false)) {
            try query(empty).check(isEmpty: true, matching: nothing)
        }
    }

    /// This holds for every filter, where calls are shown all the same.
    @Test(arguments: ["without", "hidden", "only", "leadingTo"])
    func patternsThatMatchNothingAreTold(_ filter: String) throws {
        func warnings(_ names: [String], _ change: (inout QueryOptions) throws -> Void = { _ in }) throws -> [String] {
            let patterns = try names.map { (name) in try Pattern(name) }
            let query = try query(QueryFixture()) {
                switch filter {
                case "without": $0.filter.without = patterns
                case "hidden": $0.filter.hidden = patterns
                case "only": $0.filter.only = patterns
                default: $0.filter.leadingTo = patterns
                }
                try change(&$0)
            }
            _ = try query.tree()
            return query.warnings
        }
        let (main, misspelt) = ("0x555500000010", "0x55550000010")
        #expect(try warnings(["gone.so+0x10"]) == [])
        let matches = filter == "without" ? [] : [main]
        #expect(
            try warnings(matches + [misspelt, "nothing"]) == [
                "no function matches '\(misspelt)'; did you mean \(main) or 0x555500000020?",
                "no function matches 'nothing'",
            ])
        // What was not looked at may have the function, unless the name is misspelt.
        #expect(
            try warnings(matches + [misspelt, "nothing"]) { $0.filter.from = 1 } == [
                "no function that was looked at matches '\(misspelt)'; did you mean \(main) or 0x555500000020?"
            ])
    }

    @Test func timesAreCorrectedOnlyByWhatWasMeasured() throws {
        let fixture = try QueryFixture()
        #expect(throws: QueryError.noBaseline(session: fixture.path)) { try query(fixture) { $0.times = .corrected } }
        #expect(throws: QueryError.partIsUncorrected) {
            try query(fixture) {
                $0.times = .corrected
                $0.filter.from = 1
            }
        }
        #expect(try query(fixture) { $0.times = .correctedIfKnown }.cost == nil)
    }

    @Test func whatIsNoSessionIsRefused() throws {
        let directory = try TemporaryDirectory("query")
        let path = try directory.write("no session", to: "file")
        #expect(throws: QueryError.unreadable(.notASession(path: path))) { try Session.opened(path) }
    }
}
