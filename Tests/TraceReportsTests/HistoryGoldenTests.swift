import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceHistory
@testable import TraceReports

/// What is told of a history of runs that are made by hand, in which two functions change.
@Suite struct HistoryGoldenTests {
    private typealias Numbers = HistoryChanges.Numbers

    private let directory: TemporaryDirectory
    private let store: HistoryStore

    init() throws {
        directory = try TemporaryDirectory("history")
        store = try HistoryStore(path: directory.file("h.db"), creates: true)
        for number in 0..<16 { _ = try store.add(Self.run(number), Self.content(number)) }
    }

    private static func run(_ number: Int) -> HistoryRun {
        var run = HistoryRun()
        (run.key, run.time) = ("run \(number)", 1_709_210_096_000_000_000 + UInt64(number) * 3_600_000_000_000)
        (run.program, run.command, run.host) = ("program", "program --all \"a b\"", "machine")
        (run.session, run.cpu, run.kernel, run.recorder) = ("/tmp/x.fathom", "a processor", "6.1", "0.3.0")
        (run.calls, run.total, run.lost) = (11 + UInt64(number), total(number), number == 3 ? 7 : 0)
        run.labels = [("version", "1.\(number / 8)"), ("commit", "c\(number)")]
        return run
    }

    private static func own(_ number: Int) -> UInt64 {
        1_000_000 + UInt64(number % 3) * 500 + (number < 8 ? 0 : 300_000)
    }
    private static func total(_ number: Int) -> UInt64 { own(number) + 50_000 }

    private static func content(_ number: Int) -> RunContent {
        var content = RunContent()
        let calls: UInt64 = number < 12 ? 10 : 11
        for (index, name) in ["main", "parse<int>(\"x\")"].enumerated() {
            var sums = SubjectSums()
            sums.calls = index == 0 ? 1 : calls
            (sums.total, sums.selfTime) = index == 0 ? (total(number), 50_000) : (own(number), own(number))
            sums.maximum = sums.total / sums.calls
            sums.minimum = sums.maximum
            var function = RunContent.Function(identity: .init(module: "program", name: name), sums: sums)
            (function.allocations, function.allocatedBytes) = (4, 4096)
            content.functions.append(function)
            content.paths.append(RunContent.Path(caller: index - 1, function: index, sums: sums))
        }
        content.modules = [RunContent.Module(path: "/opt/program", buildID: "ab01")]
        content.events.marks["ready"] = ProgramEvents.Mark(first: 700, last: 900, count: 2)
        content.events.counters["queued"] = ProgramEvents.Counter(value: 12.5, greatest: 20, count: 3, moment: 7)
        content.measures = [
            (.allocations, 8), (.phase("main"), 40_000 + UInt64(number * 5 % 7) * 50 + (number < 8 ? 0 : 9000)),
        ]
        return content
    }

    @Test func list() throws {
        let runs = try store.runs()
        try expectGoldens("history-list") { HistoryListReport(runs, limit: 4).write($0, to: $1) }
    }

    @Test func run() throws {
        let run = try store.runs()[3]
        for (name, content) in [("history-run", Self.content(3)), ("history-run-empty", RunContent())] {
            try expectGoldens(name) { HistoryRunReport(run, content, limit: 1).write($0, to: $1) }
        }
    }

    @Test(arguments: ["total", "ready", "parse<int>(\"x\")"]) func trend(_ subject: String) throws {
        let subject = subject == "ready" ? HistorySubject.mark(subject) : HistorySubject(subject)
        let name: String =
            switch subject {
            case .mark: "mark"
            case .total: "total"
            default: "function"
            }
        let metric = name == "function" ? HistoryMetric.calls : .total
        let trend = try Trend(of: subject, metric, in: store, RunSelection(), by: "version", percent: 50)
        try expectGoldens("trend-\(name)") { TrendReport(trend).write($0, to: $1) }
    }

    @Test func changes() throws {
        let changes = try HistoryChanges(in: store, RunSelection())
        #expect(!changes.changes.isEmpty && !changes.whole.isEmpty && !changes.measures.isEmpty)
        try expectGoldens("changes") { ChangesReport(changes).write($0, to: $1) }
        var few = RunSelection()
        few.last = 2
        let none = try HistoryChanges(in: store, few)
        try expectGoldens("changes-few") { ChangesReport(none).write($0, to: $1) }
    }

    @Test func gate() throws {
        func times(_ values: [Double]) -> GateResult.Finding {
            let judgement = GateJudgement(
                baseline: (0..<20).map { 1000 + Double($0 % 4) }, candidate: values, percent: 50, limit: 0.1, look: 1)
            let slower = GateResult.Function(
                function: .init(module: "program", name: "parse"), own: Numbers(before: 700, after: 950.5))
            return .times(judgement, subject: .total, percent: 50, limit: 0.1, functions: [slower])
        }
        let counts = GateCounts(baseline: [Self.content(0), Self.content(1)], candidate: Self.content(12), limit: 0)
        let findings: [(String, GateResult.Finding)] = [
            ("worse", times((0..<20).map { 1300 + Double($0 % 4) })),
            ("fine", times((0..<20).map { 1001 + Double($0 % 4) })),
            ("few", times([1000])), ("counts", .counts(counts)), ("nothing", .nothing("no run of 'a\nb' is in h.db")),
        ]
        for (name, finding) in findings {
            let result = GateResult(finding, command: "program <all>", baseline: "version=1.0")
            try expectGoldens("gate-\(name)") { GateReport(result).write($0, to: $1) }
        }
    }
}
