import Testing
import TraceAnalysis
import TraceFile
import TraceQuery
import TraceText

@Suite struct ThreadSelectionTests {
    private let fixture: QueryFixture

    init() throws { fixture = try QueryFixture() }

    /// What is selected, as `pid: tid tid`.
    private func selected(threads: [String] = [], processes: [String] = []) throws -> [String] {
        var options = QueryOptions()
        options.selection = try ThreadSelection(threads: threads, processes: processes)
        return try SessionQuery(fixture.session(), options).selected().map { process, threads in
            "\(process.pid): \(threads.map { String($0.tid) }.joined(separator: " "))"
        }
    }

    @Test func everythingIsSelectedUnlessSomethingIsAskedFor() throws {
        #expect(try selected() == ["100: 100 101", "101: 101"])
    }

    @Test func threadsAreAskedForByIdNameOrAsMain() throws {
        #expect(try selected(threads: ["100"]) == ["100: 100"])
        #expect(try selected(threads: ["main"]) == ["100: 100", "101: 101"])
        #expect(try selected(threads: ["work*"]) == ["100: 101"])
        #expect(try selected(threads: ["/^s/", "worker"]) == ["100: 100 101", "101: 101"])
    }

    @Test func processesAreAskedForByIdProgramCommandOrTitle() throws {
        #expect(try selected(processes: ["101"]) == ["101: 101"])
        #expect(try selected(processes: ["server"]) == ["100: 100 101", "101: 101"])
        #expect(try selected(processes: ["server -?"]) == ["100: 100 101"])
        #expect(try selected(processes: ["writer"]) == ["101: 101"])
        #expect(try selected(threads: ["worker"], processes: ["100"]) == ["100: 101"])
    }

    @Test func selectingNothingIsAnError() throws {
        let error = QueryError.noThread(["writer", "worker"], near: .none)
        #expect(throws: error) { try selected(threads: ["worker"], processes: ["writer"]) }
        #expect(error.description == "no thread is selected by writer, worker")
    }

    @Test(
        arguments: [
            (["wroker"], [], "no thread is selected by wroker; did you mean worker?"),
            (["mian"], [], "no thread is selected by mian; did you mean main?"),
            ([], ["sever"], "no process is selected by sever; did you mean server?"),
            (["worker"], ["wrtier"], "no thread is selected by wrtier, worker; did you mean writer?"),
            (["7"], [], "no thread is selected by 7"),
        ] as [([String], [String], String)])
    func nearNamesAreTold(_ threads: [String], _ processes: [String], _ message: String) {
        let error = #expect(throws: QueryError.self) { try selected(threads: threads, processes: processes) }
        #expect(error?.description == message)
    }

    @Test func badPatternsAreRefused() {
        #expect(throws: Pattern.InvalidPattern.self) { try ThreadSelection(threads: ["/(/"], processes: []) }
        #expect(throws: Pattern.InvalidPattern.self) { try ThreadSelection(threads: [], processes: ["/[/"]) }
    }
}
