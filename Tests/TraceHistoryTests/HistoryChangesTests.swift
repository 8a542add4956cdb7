import Glibc
import TestSupport
import Testing
import TraceAnalysis
import TraceStatistics

@testable import TraceHistory

@Suite struct HistoryChangesTests {
    /// Histories in which nothing changed; FATHOM_HISTORIES=200 takes minutes in a debug build.
    private static let count = getenv("FATHOM_HISTORIES").flatMap { Int(String(cString: $0)) } ?? 8

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("changes") }

    /// A history of runs, each made of the same program unless `change` says otherwise.
    private func history(
        _ count: Int, seed: UInt64, noise: Double = 0.01, _ change: (Int, inout SyntheticRun) -> Void = { _, _ in }
    ) throws -> HistoryStore {
        var random = SeededGenerator(seed: seed)
        let store = try HistoryStore(path: directory.file("\(seed)-\(count).db"), creates: true)
        // Nothing of it need survive the machine.
        try store.database.run("PRAGMA synchronous = OFF")
        for number in 0..<count {
            var run = SyntheticRun()
            change(number, &run)
            run.disturb(&random, noise)
            try run.add(number, to: store)
        }
        return store
    }

    private func changes(_ store: HistoryStore) throws -> HistoryChanges {
        try HistoryChanges(in: store, RunSelection())
    }

    /// 3 % in one function are found at the run where they begin; it comes first, and its callers are folded under it.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func slowdown(seed: UInt64) throws {
        let store = try history(60, seed: seed, noise: 0.006) { number, run in if number >= 30 { run.own[3] *= 1.03 } }
        let found = try changes(store)
        let first = try #require(found.changes.first)
        #expect(first.function.name == "slow" && abs(first.index - 30) <= 1 && !first.isOfCalls)
        #expect(first.own.relativeChange > 0.015 && first.own.relativeChange < 0.045)
        #expect(Set(first.followers.map(\.function.name)).isSubset(of: ["main", "work"]))
        #expect(!first.followers.isEmpty)
    }

    /// One call more is a fact, in whatever noise; what it calls follows from it.
    @Test func oneCall() throws {
        let store = try history(12, seed: 9) { number, run in
            guard number == 11 else { return }
            run.calls[4] += 1
            run.calls[5] += 10
        }
        let found = try changes(store).changes
        try #require(found.count == 1)
        #expect(found[0].isOfCalls && found[0].index == 11 && found[0].chance == 0)
        #expect(found[0].function.name == "fast")
        #expect(found[0].calls == HistoryChanges.Numbers(before: 200, after: 201))
        #expect(found[0].followers.map(\.function.name) == ["leaf"])
    }

    /// Numbers that vary by themselves are no facts.
    @Test func callsThatVary() throws {
        #expect(ChangeSearch.steps(of: [5, 5, 5, 6, 6, 6, 6, 7]) == [3, 7])
        #expect(ChangeSearch.steps(of: [5, 6, 5, 5, 6, 7, 5, 5]) == nil)
        #expect(ChangeSearch.steps(of: [5, 5, 6, 6, 5, 5, 6, 6]) == nil)
        // What lies between a number and its return has to hold, not what comes before or after both.
        let mended = [Double](repeating: 5, count: 20) + [Double](repeating: 6, count: 10) + [5]
        #expect(ChangeSearch.steps(of: mended) == [20, 30])
        #expect(ChangeSearch.steps(of: [5, 5, 5, 5, 5, 5, 6, 6, 6, 5, 5, 5, 5, 5]) == nil)
        #expect(ChangeSearch.steps(of: [5, 5, 5]) == [])
        #expect(ChangeSearch.steps(of: [5, 6]) == nil)
    }

    /// Where nothing changes, nothing is told.
    @Test func nothing() throws {
        var reporting = 0
        for seed in 0..<Self.count {
            let found = try changes(try history(30, seed: 1000 + UInt64(seed)))
            if !found.changes.isEmpty || !found.whole.isEmpty { reporting += 1 }
        }
        if Self.count > 100 { print("\(reporting) of \(Self.count) histories without a change report one") }
        #expect(reporting * 100 <= Self.count)
    }

    /// Runs of another command are no version of this one.
    @Test func selection() throws {
        let store = try history(6, seed: 4) { number, run in
            run.labels = [("version", number < 4 ? "1" : "2")]
            if number == 2 { run.command = "prog 20" }
        }
        var selection = RunSelection()
        let runs = try store.runs()
        let found = try selection.found(among: runs, of: "h")
        #expect(found.runs.map(\.id) == [1, 2, 4, 5, 6] && found.others == 1 && found.command == "prog 10")
        selection.since = "2"
        #expect(try selection.found(among: runs, of: "h").runs.map(\.id) == [5, 6])
        selection.since = "4"
        #expect(try selection.found(among: runs, of: "h").runs.map(\.id) == [4, 5, 6])
        selection.since = "9"
        #expect(throws: RunSelection.Refusal.noStart("9")) { try selection.found(among: runs, of: "h") }
        selection = RunSelection()
        selection.command = "prog 20"
        #expect(try selection.found(among: runs, of: "h").runs.map(\.id) == [3])
        selection.labels = [("version", "2")]
        #expect(throws: RunSelection.Refusal.none(path: "h", needsTimes: true)) {
            try selection.found(among: runs, of: "h")
        }
    }

    /// A trend tells nearest-rank percentiles by version, and where the number changes.
    @Test func trend() throws {
        let store = try history(40, seed: 5) { number, run in
            run.labels = [("version", number < 20 ? "5.3.64" : "5.3.70")]
            if number >= 20 { run.own[3] *= 1.2 }
        }
        let trend = try Trend(of: HistorySubject("slow"), .self, in: store, RunSelection(), by: "version", percent: 90)
        #expect(trend.groups.map(\.name) == ["5.3.64", "5.3.70"] && trend.groups.map(\.points.count) == [20, 20])
        let sorted = trend.points[..<20].map(\.value).sorted()
        #expect(trend.groups[0].percentile == sorted[17] && trend.groups[0].median == (sorted[9] + sorted[10]) / 2)
        #expect(trend.changes.map { abs($0.index - 20) <= 1 } == [true])
        // A path, single calls, marks and counters.
        let path = try Trend(
            of: HistorySubject("main;work;slow"), .total, in: store, RunSelection(), by: nil, percent: 50)
        #expect(path.points.map(\.value) == trend.points.map(\.value))
        let calls = try Trend(of: HistorySubject("slow"), .call, in: store, RunSelection(), by: nil, percent: 99)
        #expect(abs(calls.points[0].value - trend.points[0].value / 20) <= trend.points[0].value / 20 * 0.02)
        let mark = try Trend(of: HistorySubject("mark ready"), .total, in: store, RunSelection(), by: nil, percent: 50)
        #expect(mark.points.count == 40)
        let counter = try Trend(
            of: HistorySubject("counter bytes"), .total, in: store, RunSelection(), by: nil, percent: 50)
        #expect(counter.points.allSatisfy { $0.value == 12.5 })
        #expect(throws: HistoryQuestionError.self) {
            _ = try Trend(of: HistorySubject("slaw"), .total, in: store, RunSelection(), by: nil, percent: 50)
        }
    }

    /// A program is one wherever it lies, when it is given the same arguments; machines of one class are one.
    @Test func placesAndMachines() throws {
        let store = try HistoryStore(path: directory.file("places.db"), creates: true)
        var runs: [HistoryRun] = []
        func add(_ command: String, _ host: String, machine: String? = nil) {
            var run = HistoryRun()
            (run.program, run.command, run.host, run.total) = ("prog", command, host, 1)
            if let machine { run.labels = [("machine", machine)] }
            runs.append(run)
        }
        for _ in 0..<2 { add("./prog 10", "a") }
        add("'/opt/my place/prog' 10", "a")
        add("prog 11", "a")
        add("/usr/bin/prog 10", "b", machine: "large")
        add("/usr/bin/prog 10", "c", machine: "large")
        func found(_ change: (inout RunSelection) -> Void) throws -> Int {
            var selection = RunSelection()
            change(&selection)
            return try selection.found(among: runs, of: store.path).runs.count
        }
        #expect(try found { _ in } == 2)
        #expect(try found { $0.anyHost = true } == 5)
        #expect(
            try found {
                $0.host = "a"; $0.command = "./prog 10"
            } == 2)
        #expect(try found { $0.host = "b" } == 1)
        #expect(try found { $0.host = "large" } == 2)
        #expect(try found { $0.candidate = ("x/prog 10", "a") } == 3)
        #expect(try found { $0.candidate = ("x/prog 11", "z") } == 1)
        #expect(throws: RunSelection.Refusal.self) { try found { $0.candidate = ("x/prog 12", "a") } }
        #expect(HistoryRun.arguments(of: "$'a\\'b c' 'd e' f") == "'d e' f" && HistoryRun.arguments(of: "prog") == "")
    }

    /// Numbers of calls that are the same in run after run need no noise to be compared with, in trends as in changes.
    @Test func trendOfCalls() throws {
        let store = try HistoryStore(path: directory.file("calls.db"), creates: true)
        for (number, calls) in [5, 5, 5, 6].enumerated() {
            var one = SyntheticRun()
            one.calls[3] = UInt64(calls)
            try one.add(number, to: store)
        }
        let trend = try Trend(of: .function("slow"), .calls, in: store, RunSelection(), by: nil, percent: 50)
        #expect(trend.changes.map(\.index) == [3] && trend.changes.first?.chance == 0)
    }

    /// Runs of a program of 60 functions on a machine that does other things, too: now and then it takes a function's processor for
    /// some ms, by chance in two or three of the first or last runs. Of 40 histories in which nothing changed, at most two tell a change.
    @Test func busyMachine() throws {
        var random = SeededGenerator(seed: 5)
        let levels = (0..<60).map { _ in exp(log(2e4) + log(50.0) * random.part()) }
        let whole = levels.reduce(0, +)
        func disturbed() -> Int {
            var rest = random.part() * whole
            return levels.firstIndex { level in
                rest -= level
                return rest < 0
            } ?? 0
        }
        var reporting = 0, number = 0
        for history in 0..<40 {
            let store = try HistoryStore(path: directory.file("busy\(history).db"), creates: true)
            try store.database.run("PRAGMA synchronous = OFF")
            for _ in 0..<14 {
                let speed = 1 + abs(0.02 * random.normal())
                var own = levels.map { $0 * speed * (1 + 0.01 * random.normal()) }
                for _ in 0..<random.below(7) {
                    own[disturbed()] += random.part() < 0.5 ? 4e6 : exp(log(1e5) + log(80.0) * random.part())
                }
                var content = RunContent()
                for (index, time) in own.enumerated() {
                    var sums = SubjectSums()
                    (sums.calls, sums.total, sums.selfTime) = (1, UInt64(time), UInt64(time))
                    (sums.minimum, sums.maximum) = (sums.total, sums.total)
                    let function = RunContent.Function(identity: .init(module: "", name: "f\(index)"), sums: sums)
                    content.functions.append(function)
                    content.paths.append(RunContent.Path(caller: -1, function: index, sums: sums))
                }
                var run = HistoryRun()
                number += 1
                (run.key, run.time, run.program, run.command) = ("\(number)", UInt64(number), "prog", "prog")
                (run.host, run.calls, run.total) = ("machine", 60, UInt64(own.reduce(0, +)))
                _ = try store.add(run, content)
            }
            let found = try changes(store)
            if !found.changes.isEmpty || !found.whole.isEmpty || !found.measures.isEmpty { reporting += 1 }
        }
        #expect(reporting <= 2, "\(reporting) of 40")
    }

    /// Numbers of the run as a whole and of its start change as functions do, where all runs know them.
    @Test func measures() throws {
        var random = SeededGenerator(seed: 21)
        let store = try HistoryStore(path: directory.file("measures.db"), creates: true)
        for number in 0..<24 {
            let one = SyntheticRun()
            var content = one.content
            func time(_ level: Double) -> UInt64 { UInt64(level * (1 + 0.01 * random.normal())) }
            content.measures = [
                (.processorTime, time(5e6)), (.phase("relocation"), time(number < 12 ? 1e6 : 1.2e6)),
                (.initializer("prog setup"), time(8e5)), (.initializer("libx.so setup"), time(8e5)),
                (.initializer("prog open"), time(8e5)),
            ]
            // Only some runs know it.
            if number > 2 { content.measures.append((.instructions, number < 12 ? 1000 : 9000)) }
            _ = try store.add(one.run(number), content)
        }
        let found = try changes(store)
        #expect(found.measures.map(\.measure) == [.phase("relocation")])
        #expect(found.measures.first?.points.map(\.index) == [12])
        func trend(_ text: String) throws -> Trend {
            try Trend(of: HistorySubject(text), .total, in: store, RunSelection(), by: nil, percent: 50)
        }
        let relocation = try trend("phase relocation")
        #expect(relocation.changes.map(\.index) == [12] && relocation.isTime && relocation.points.count == 24)
        #expect(try trend("cpu time").changes.isEmpty)
        #expect(try trend("initializer open").subject.title == "initializer prog open")
        let instructions = try trend("instructions")
        #expect(instructions.missing == 3 && !instructions.isTime && instructions.changes.map(\.index) == [9])
        for (wrong, message) in [
            ("initializer setup", "matches 2 functions"), ("phase relocations", "did you mean phase relocation?"),
            ("allocations", "record --memory"),
        ] {
            do {
                _ = try trend(wrong)
                Issue.record("\(wrong) has an answer")
            } catch { #expect("\(error)".contains(message), "\(error)") }
        }
        // They go along when histories are merged.
        let other = try HistoryStore(path: directory.file("merged.db"), creates: true)
        #expect(try other.merge(store).added == 24)
        #expect(try other.values(of: .phase("relocation")) == store.values(of: .phase("relocation")))
        // And they are gone with their run.
        try other.remove([1])
        #expect(try other.values(of: .processorTime).count == 23)
    }
}
