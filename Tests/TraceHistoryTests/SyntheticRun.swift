import TestSupport
import TraceAnalysis

@testable import TraceHistory

/// Runs of a program that is not there: main calls parse and work, work calls slow and fast, and fast calls leaf.
struct SyntheticRun {
    static let names = ["main", "parse", "work", "slow", "fast", "leaf"]
    private static let callers = [-1, 0, 0, 2, 2, 4]

    /// Calls, and own time in ns of each, by the functions above.
    var calls: [UInt64] = [1, 10, 20, 20, 200, 2000]
    var own: [Double] = [50_000, 300_000, 100_000, 2_000_000, 400_000, 900_000]
    var labels: [(name: String, value: String)] = []
    var command = "prog 10"

    /// Noise as machines have it: all functions are a little slower together, each by itself, and now and then a run is disturbed.
    mutating func disturb(_ random: inout SeededGenerator, _ part: Double = 0.01) {
        let together = 1 + part / 2 * random.normal()
        let isDisturbed = random.part() < 0.05
        for index in own.indices {
            own[index] *= together * (1 + part * random.normal()) * (isDisturbed ? 1.2 : 1)
        }
    }

    var content: RunContent {
        var content = RunContent()
        var totals = own
        for index in own.indices.reversed() where Self.callers[index] >= 0 {
            totals[Self.callers[index]] += totals[index]
        }
        for (index, name) in Self.names.enumerated() {
            var sums = SubjectSums()
            sums.calls = calls[index]
            (sums.total, sums.selfTime) = (UInt64(totals[index]), UInt64(min(own[index], totals[index])))
            sums.minimum = sums.total / max(calls[index], 1)
            sums.maximum = calls[index] == 1 ? sums.total : sums.minimum
            if calls[index] > 2 {
                var reader = DurationReader()
                reader.add(sums.minimum)
                sums.durations = reader.take()
            }
            content.functions.append(RunContent.Function(identity: .init(module: "", name: name), sums: sums))
            content.paths.append(RunContent.Path(caller: Self.callers[index], function: index, sums: sums))
        }
        content.modules = [RunContent.Module(path: "/opt/prog", buildID: "ab01")]
        content.events.marks["ready"] = ProgramEvents.Mark(first: UInt64(totals[1]), last: UInt64(totals[1]), count: 1)
        content.events.counters["bytes"] = ProgramEvents.Counter(value: 12.5, greatest: 20, count: 3, moment: 7)
        return content
    }

    /// - Parameter number: which of many it is.
    func run(_ number: Int) -> HistoryRun {
        var run = HistoryRun()
        run.key = "run \(number)"
        run.time = UInt64(number + 1) * 1_000_000_000
        (run.program, run.command, run.host) = ("prog", command, "machine")
        let content = content
        run.calls = content.functions.reduce(0) { $0 + $1.sums.calls }
        run.total = content.functions[0].sums.total
        run.labels = labels
        return run
    }

    @discardableResult
    func add(_ number: Int, to store: HistoryStore) throws -> Int64 { try store.add(run(number), content).id }
}
