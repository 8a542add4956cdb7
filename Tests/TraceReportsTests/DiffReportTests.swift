import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceFindings
@testable import TraceReports

/// What is said of changes that are noise, and of numbers of calls.
@Suite struct DiffReportTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("diff-report") }

    /// Calls of `main`: the function, by its letter, and its ns.
    private typealias Run = [(function: Character, time: UInt64)]

    private func comparison(_ before: [Run], _ after: [Run]) throws -> SessionComparison {
        let builder = ComparisonBuilder()
        for (side, runs) in [(ComparisonBuilder.Side.before, before), (.after, after)] {
            for run in runs { builder.add(try tree(run), to: side, program: nil, moment: 0) }
        }
        return builder.comparison()
    }

    private func tree(_ run: Run) throws -> CallPathTree {
        let path = directory.file("run.fathom")
        try TraceWriter.session(path) { records in
            var time: UInt64 = 0
            records.enter(UInt64(Character("m").asciiValue!), at: 0)
            for call in run {
                records.enter(UInt64(call.function.asciiValue!), at: time)
                time += call.time
                records.exit(at: time)
            }
            records.exit(at: time)
        }
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            let name = String(UnicodeScalar(UInt8(address)))
            return ResolvedFunction(name: name, module: nil, file: nil, line: 0)
        }
        return Aggregation(of: session, resolver: FunctionResolver(functions), filter: TreeFilter())
            .tree(of: session.processes.flatMap(\.threads))
    }

    private func text(
        _ comparison: SessionComparison, _ change: (inout DiffReport.Options) -> Void = { _ in }
    ) -> [String] {
        var options = DiffReport.Options()
        change(&options)
        let bytes = ByteWriter.bytes { DiffReport(comparison, options: options).write(.text, to: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func noisy() throws -> SessionComparison {
        func run(_ spread: UInt64, _ small: UInt64) -> Run {
            [("a", 1000 * spread), ("b", 1000 * small), ("c", 500)]
        }
        return try comparison(
            [run(100, 10000), run(120, 10001), run(110, 10002)], [run(115, 10050), run(105, 10051), run(125, 10052)])
    }

    @Test(arguments: DiffReport.Subject.allCases) func golden(_ subject: DiffReport.Subject) throws {
        let sides: [(String, SessionComparison)] = [
            ("diff-\(subject)", try noisy()),
            ("diff-once-\(subject)", try comparison([[("a", 1000), ("b", 5)]], [[("a", 1500), ("c", 7)]])),
        ]
        for (name, comparison) in sides {
            var options = DiffReport.Options()
            (options.subject, options.showsAll) = (subject, true)
            try expectGoldens(name) { DiffReport(comparison, options: options).write($0, to: $1) }
        }
    }

    @Test func doubtsAreTold() throws {
        let lines = text(try noisy()) { $0.showsAll = true }
        func word(_ function: String) -> [String]? {
            lines.first { $0.hasSuffix(" \(function)") }?.split(separator: " ").suffix(2).map(String.init)
        }
        #expect(word("a") == ["spread", "a"])
        #expect(word("b") == ["small", "b"])
        #expect(word("c") == ["same", "c"])
        let spread =
            "spread (1): the runs of one side differ as much as the sides do; more runs or an idle machine would tell"
        #expect(lines.contains { $0.hasPrefix(spread + ": about ") && $0.hasSuffix(" a side for a, +4.5 %") })
        let few = "few runs (1): so few runs may differ as much by chance; more runs would tell: about "
        #expect(lines.contains { $0.hasPrefix(few) && $0.hasSuffix(" a side for m, +0.5 %") })
        #expect(lines.contains("small (1): the change is less than --threshold"))
        #expect(lines.first?.contains("within noise: so few runs may differ as much by chance (about ") == true)
    }

    /// However large a change is, it stands apart from the number before it.
    @Test func largeChangesStandApart() throws {
        for factor: UInt64 in [500, 538, 12_345, 1_234_567] {
            let lines = text(try comparison([[("a", 1000)]], [[("a", 1000 * factor)]]))
            let row = try #require(lines.first { $0.hasSuffix("a") && $0.contains("%") && !$0.hasPrefix("whole") })
            #expect(row.contains(" +\(factor * 100 - 100).0 %"), "\(row)")
        }
    }

    /// However few rows are shown, it is said that others are called more often.
    @Test func callsAreTold() throws {
        let before: [Run] = Array(repeating: [("a", 9000), ("b", 10), ("c", 10)], count: 3)
        let after: [Run] = Array(repeating: [("a", 9900), ("b", 10), ("b", 0), ("c", 10), ("c", 0)], count: 3)
        let repeated = try comparison(before, after)
        let hidden = "… 2 hidden rows have another number of calls; --sort calls shows them first"
        #expect(text(repeated).first?.contains("; 4 → 6 calls;") == true)
        #expect(!text(repeated).contains(hidden))
        #expect(text(repeated) { $0.limit = 1 }.contains(hidden))
        let costly = hidden.replacing("calls shows", with: "calls without --min-cost shows")
        #expect(text(repeated) { $0.minCost = 100 }.contains(costly))
        let single = try comparison([before[0]], [after[0]])
        #expect(text(single) { $0.limit = 1 }.contains(hidden))
        let one = try comparison([[("a", 9)]], [[("a", 9), ("a", 0)]])
        #expect(
            text(one) { $0.limit = 0 }.contains(
                "… 1 hidden row has another number of calls; --sort calls shows it first"))
    }
}
