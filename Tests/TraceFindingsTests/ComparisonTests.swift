import Glibc
import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis
@testable import TraceFindings
@testable import TraceStatistics

@Suite struct ComparisonTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("comparison") }

    /// Call paths of what `write` records.
    private func tree(
        module: String = "/bin/program", _ write: (inout RecordWriter) -> Void
    ) throws -> CallPathTree {
        let path = directory.file("x.fathom")
        try TraceWriter.session(path, write)
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            let isLibrary = address >= 100
            return ResolvedFunction(
                name: "f\(address % 100)", module: isLibrary ? "/usr/lib/libx.so.\(address / 100)" : module, file: nil,
                line: 0)
        }
        let resolver = FunctionResolver(functions)
        return Aggregation(of: session, resolver: resolver, filter: TreeFilter())
            .tree(of: session.processes.flatMap(\.threads))
    }

    /// Call paths of one call after another, each within f1: the function and its ns.
    private func tree(module: String = "/bin/program", _ calls: [(UInt64, UInt64)]) throws -> CallPathTree {
        try tree(module: module) { records in
            var time: UInt64 = 0
            records.enter(1, at: time)
            for (function, duration) in calls {
                records.enter(function, at: time)
                time += duration
                records.exit(at: time)
            }
            records.exit(at: time)
        }
    }

    private func row(_ name: String, _ comparison: SessionComparison) throws -> SessionComparison.Row {
        try #require(comparison.functionRows.first { comparison.functions[$0.function].name == name })
    }

    // MARK: Matching

    /// The program's file, directories and library versions may differ; names and paths count.
    @Test func functionsMatchByNameAndModule() throws {
        let builder = ComparisonBuilder()
        builder.add(
            try tree(module: "/old/prog1", [(2, 10), (103, 20), (4, 5)]), to: .before, program: "/old/prog1", moment: 0)
        builder.add(
            try tree(module: "/new/prog2", [(2, 10), (203, 30), (2, 10), (5, 7)]), to: .after, program: "/new/prog2",
            moment: 0)
        let comparison = builder.comparison()
        #expect(comparison.functionRows.count == 5 && comparison.pathRows.count == 5)
        #expect(try row("f2", comparison).calls.sample.change == 1)
        #expect(try row("f3", comparison).selfTime.sample.change == 10)
        #expect(try row("f4", comparison).verdict == .gone)
        #expect(try row("f5", comparison).verdict == .new)
        #expect(try row("f1", comparison).verdict == .unknown)
        #expect(comparison.functions[try row("f2", comparison).function].module == "/new/prog2")
        #expect(comparison.whole.total.sample.before == 35 && comparison.whole.total.sample.after == 57)
        #expect(!comparison.isRepeated && !comparison.hasChanges)
    }

    /// A function called by itself counts once in its total, and recursion does not mix its paths.
    @Test func pathsAreKeptApart() throws {
        let builder = ComparisonBuilder()
        for (side, inner) in [(ComparisonBuilder.Side.before, UInt64(10)), (.after, 30)] {
            let tree = try tree { records in
                records.enter(1, at: 0)
                records.enter(2, at: 0)
                records.enter(1, at: 5)
                records.exit(at: 5 + inner)
                records.exit(at: 5 + inner)
                records.exit(at: 5 + inner)
            }
            builder.add(tree, to: side, program: nil, moment: 0)
        }
        let comparison = builder.comparison()
        #expect(try row("f1", comparison).total.sample.change == 20)
        #expect(comparison.pathRows.map(\.selfTime.sample.change) == [0, 0, 20])
        #expect(comparison.paths.map(\.parent) == [-1, 0, 1])
    }

    // MARK: Noise

    /// Ten runs of a program of a dozen functions. Every call has noise of 3 %, every run noise of 0.5 % in common, and the
    /// machine slows down from run to run.
    private func runs(
        _ builder: ComparisonBuilder, _ side: ComparisonBuilder.Side, first: Int, step: Int, planted: Double = 1,
        _ random: inout SeededGenerator
    ) throws {
        for run in 0..<10 {
            let moment = first + run * step
            let pace = (1 + 0.0005 * Double(moment)) * (1 + 0.005 * gaussian(&random))
            var calls: [(UInt64, UInt64)] = []
            for function in UInt64(2)...13 {
                for _ in 0..<20 {
                    let change = function == 7 ? planted : 1
                    let duration = 1000 * Double(function) * change * pace * (1 + 0.03 * gaussian(&random))
                    calls.append((function, UInt64(max(duration, 1))))
                }
            }
            builder.add(try tree(calls), to: side, program: nil, moment: UInt64(moment + 1))
        }
    }

    /// A value of the standard normal distribution (G. E. P. Box, M. E. Muller, 1958).
    private func gaussian(_ random: inout SeededGenerator) -> Double {
        let (u, v) = (Double.random(in: 1e-12..<1, using: &random), Double.random(in: 0..<1, using: &random))
        return (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
    }

    @Test(arguments: 1...12)
    func tenRunsOfTheSameAreTheSame(_ seed: Int) throws {
        for step in [1, 2] {
            var random = SeededGenerator(seed: UInt64(seed))
            let builder = ComparisonBuilder()
            // One side after the other, or by turns.
            try runs(builder, .before, first: 0, step: step, &random)
            try runs(builder, .after, first: step == 1 ? 10 : 1, step: step, &random)
            let comparison = builder.comparison()
            #expect(!comparison.hasChanges)
            #expect(comparison.functionRows.allSatisfy { $0.verdict == .same })
        }
    }

    @Test(arguments: 1...12)
    func aFunctionSlowerByFivePercentIsFound(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let builder = ComparisonBuilder()
        try runs(builder, .before, first: 0, step: 2, &random)
        try runs(builder, .after, first: 1, step: 2, planted: 1.05, &random)
        let comparison = builder.comparison()
        let found = comparison.functionRows.filter { $0.selfTime.isBeyondNoise }
        #expect(found.map { comparison.functions[$0.function].name } == ["f7"])
        let sample = try #require(found.first).selfTime.sample
        let interval = try #require(sample.interval)
        #expect(interval.lowerBound > 0 && interval.contains(0.05 * sample.before))
        #expect(try row("f7", comparison).verdict == .slower)
        #expect(try row("f7", comparison).average.isBeyondNoise)
    }

    /// Runs compared with themselves, whatever they are.
    @Test(arguments: 1...8)
    func runsHaveNotChangedFromThemselves(_ seed: Int) throws {
        let builder = ComparisonBuilder()
        for side in [ComparisonBuilder.Side.before, .after] {
            for run in 0..<4 {
                let trace = RandomTrace(seed: UInt64(seed * 10 + run), count: 300)
                let path = directory.file("r.fathom")
                try trace.writer.write(to: path)
                let session = try Session(path: path)
                let functions = FunctionTable { _, address in
                    ResolvedFunction(name: "f\(address)", module: nil, file: nil, line: 0)
                }
                let aggregation = Aggregation(
                    of: session, resolver: FunctionResolver(functions), filter: TreeFilter())
                builder.add(
                    aggregation.tree(of: session.processes.flatMap(\.threads)), to: side, program: nil,
                    moment: UInt64(run + 1))
            }
        }
        let comparison = builder.comparison()
        #expect(!comparison.hasChanges)
        for row in comparison.functionRows + comparison.pathRows + [comparison.whole] {
            for metric in SessionComparison.Metric.allCases { #expect(row[metric].sample.change == 0) }
        }
    }

    @Test func changedCallsAreBeyondNoise() throws {
        let builder = ComparisonBuilder()
        for run in 0..<3 {
            let noise = UInt64(run * 7)
            builder.add(try tree([(2, 100 + noise), (3, 50)]), to: .before, program: nil, moment: 0)
            builder.add(
                try tree([(2, 50 + noise), (2, 50), (3, 50), (4, 1)]), to: .after, program: nil, moment: 0)
        }
        let comparison = builder.comparison()
        #expect(try row("f2", comparison).verdict == .calls)
        #expect(try row("f2", comparison).calls.sample.change == 1)
        #expect(try row("f3", comparison).verdict == .same)
        #expect(try row("f4", comparison).verdict == .new)
        #expect(try row("f4", comparison).calls.isBeyondNoise)
        #expect(comparison.hasChanges)
    }

    /// What each run took, by turns or one side after the other, and why the change is no change.
    struct Noise: Sendable, CustomTestStringConvertible {
        var testDescription: String { doubt.rawValue }
        var before: [UInt64]
        var after: [UInt64]
        var isByTurns = true
        var doubt: SessionComparison.Doubt
        /// Whether more runs would tell.
        var isOpen: Bool
    }

    static let noises = [
        Noise(before: [100, 120, 110], after: [115, 105, 125], doubt: .spread, isOpen: true),
        Noise(
            before: [1000, 1010, 1020, 1030, 1040], after: [1030, 1040, 1050, 1060, 1070], doubt: .fewRuns,
            isOpen: true),
        Noise(before: [97, 95, 98, 96, 103], after: [100, 107, 101, 104, 102], doubt: .order, isOpen: false),
        Noise(
            before: [1000, 1012, 1019, 1031, 1040, 1052], after: [1059, 1071, 1080, 1092, 1099, 1110], isByTurns: false,
            doubt: .drift, isOpen: false),
        Noise(before: [10000, 10001, 10002], after: [10050, 10051, 10052], doubt: .small, isOpen: false),
    ]

    @Test(arguments: noises) func whyAChangeIsNoise(_ noise: Noise) throws {
        let builder = ComparisonBuilder()
        for (side, times) in [(ComparisonBuilder.Side.before, noise.before), (.after, noise.after)] {
            for (index, time) in times.enumerated() {
                let turn = noise.isByTurns ? 2 * index : index
                let first = side == .before ? 1 : noise.isByTurns ? 2 : 1 + noise.before.count
                builder.add(try tree([(2, time)]), to: side, program: nil, moment: UInt64(first + turn))
            }
        }
        let row = try row("f2", builder.comparison())
        #expect(row.verdict == .same && row.selfTime.doubt == noise.doubt && row.total.doubt == noise.doubt)
        #expect(row.calls.doubt == nil, "what has not changed is in no doubt")
        if noise.isOpen {
            #expect(try #require(row.selfTime.runsNeeded) > noise.before.count)
        } else {
            #expect(row.selfTime.runsNeeded == nil)
        }
    }

    /// Twice as many runs as are said to be needed do tell, although from ten on the most extreme ones are left out.
    @Test func runsNeeded() throws {
        func sample(_ repetitions: Int) -> SampleComparison {
            let five: [Double] = [1000, 1010, 1020, 1030, 1040]
            let runs = (0..<repetitions).flatMap { _ in five }
            return SampleComparison(before: runs, after: runs.map { $0 + 30 })
        }
        let (five, fifteen) = (sample(1), sample(3))
        #expect(try #require(five.chance) > 0.001 && #require(fifteen.chance) <= 0.001)
        #expect((6...9).contains(try #require(five.runsNeeded(for: 0.001))))
        #expect(five.runsNeeded(for: 0) == nil)
    }

    /// Samples that lie as a normal distribution's do: as many runs as are said to be needed tell, and two fewer do not.
    @Test(arguments: [5, 6, 8, 9, 10, 12, 20], [1, 1.5, 2, 2.5]) func runsNeededAreEnough(_ runs: Int, _ shift: Double)
        throws
    {
        func sample(_ runs: Int) -> SampleComparison {
            let scores = (0..<runs).map { index in
                let part = (Double(index) + 0.5) / Double(runs)
                let size = StudentT.quantile(twoSided: 2 * min(part, 1 - part), degrees: 1e9)
                return part < 0.5 ? -size : size
            }
            let deviation = (scores.reduce(0) { $0 + $1 * $1 } / Double(runs - 1)).squareRoot()
            let before = scores.map { $0 / deviation }
            return SampleComparison(before: before, after: before.map { $0 + shift })
        }
        let found = sample(runs)
        // Where the ranks object, more runs of the same kind are no help.
        guard found.objection == nil else { return }
        for chance in [0.01, 0.001, 0.0001, 0.00001] where try #require(found.chance) > chance {
            let needed = try #require(found.runsNeeded(for: chance))
            #expect(try #require(sample(needed).chance) <= 1.2 * chance, "\(needed) for \(chance)")
            if needed - 2 > runs {
                #expect(try #require(sample(needed - 2).chance) > chance, "\(needed) for \(chance)")
            }
        }
    }

    // MARK: Limits

    @Test(arguments: [
        ("total>5%", SessionComparison.Metric.total, ChangeLimit.Amount.part(0.05), true),
        (" self ( parse* ) > 10ms ", .self, .absolute(10_000_000), false),
        ("calls(operator>>*)>3", .calls, .absolute(3), false), ("avg(/^(a|b)$/)>0.5 %", .average, .part(0.005), false),
        ("calls>0", .calls, .absolute(0), true),
    ])
    func limits(
        _ text: String, _ metric: SessionComparison.Metric, _ amount: ChangeLimit.Amount, _ isOfWhole: Bool
    ) throws {
        let limit = try ChangeLimit(text)
        #expect(limit.metric == metric && limit.amount == amount && limit.isOfWhole == isOfWhole)
    }

    @Test(arguments: [
        "", "total", "total>", "total>5 apples", "size>5%", "total(>5%", "total()>5%", "self(/(/)>5%", "calls>1.5",
        "calls>1ms", "avg>5%", "total>-5%", ">5%", "total(x)y>5%", "total>5", "self(x)>0", "avg(x)>1.5", "total>ms",
    ])
    func limitsThatAreRefused(_ text: String) {
        let error = #expect(throws: ChangeLimit.InvalidExpression.self) { try ChangeLimit(text) }
        #expect(error?.description.contains("\n") == false)
    }

    @Test func limitsHold() throws {
        let builder = ComparisonBuilder()
        builder.add(try tree([(2, 100), (3, 100)]), to: .before, program: nil, moment: 0)
        builder.add(try tree([(2, 120), (3, 90), (4, 1)]), to: .after, program: nil, moment: 0)
        let comparison = builder.comparison()
        func names(_ text: String) throws -> [String] {
            try ChangeLimit(text).exceeded(in: comparison).map { comparison.functions[$0.function].name }
        }
        #expect(try names("self(*)>15%") == ["f2", "f4"])
        #expect(try names("self(*)>19ns") == ["f2"])
        #expect(try names("self(f2)>20%").isEmpty)
        #expect(try names("total(f1)>5%") == ["f1"])
        #expect(try names("calls(*)>0") == ["f4"])
        #expect(try ChangeLimit("total>5%").exceeded(in: comparison).count == 1)
        #expect(try ChangeLimit("total>6%").exceeded(in: comparison).isEmpty)
        // Only before, only after, on neither side.
        for (text, isMoot) in [
            ("self(f3)>5%", false), ("calls(f4)>0", false), ("self(f5)>5%", true), ("total>5%", false),
        ] {
            #expect(try ChangeLimit(text).isMoot(in: comparison) == isMoot)
        }
    }

    /// Of repeated runs, what may be noise does not hold.
    @Test func limitsHoldBeyondNoiseOnly() throws {
        let builder = ComparisonBuilder()
        for (before, after) in [(100, 180), (200, 120), (140, 220)] as [(UInt64, UInt64)] {
            builder.add(try tree([(2, before)]), to: .before, program: nil, moment: 0)
            builder.add(try tree([(2, after)]), to: .after, program: nil, moment: 0)
        }
        let comparison = builder.comparison()
        #expect(comparison.whole.total.sample.relativeChange > 0.1)
        #expect(try ChangeLimit("total>5%").exceeded(in: comparison).isEmpty)
    }
}
