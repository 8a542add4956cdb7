import TestSupport
import Testing
import TraceFile
import TraceStatistics

@testable import TraceAnalysis
@testable import TraceFindings

/// Functions are letters; times are ns.
@Suite struct TailTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("tail") }

    /// Writes threads of one chunk each. `a5` enters a at 5, `.7` leaves the innermost call at 7, `!7` unwinds it, `1/2@9` goes
    /// on with lane 1 that has 2 calls, `#3@9` sets mark 3, `-4/30` leaves out 4 calls that took 30.
    private func write(_ threads: String..., inherited: String = "") throws {
        let writer = TraceWriter()
        var names = MetadataWriter()
        names.process(pid: 1000, path: "/program")
        for id in 1...9 as ClosedRange<UInt32> { names.mark(id, "mark \(id)") }
        var metadata = TraceWriter.ChunkOptions()
        metadata.isMetadata = true
        writer.add(metadata, records: names.bytes)
        for (number, events) in threads.enumerated() {
            var records = RecordWriter(time: 0)
            for event in events.split(separator: " ") {
                let numbers = event.split { !$0.isNumber }.compactMap { UInt64($0) }
                switch event.first {
                case ".": records.exit(at: numbers[0])
                case "!": records.unwind(1, at: numbers[0])
                case "#": records.mark(UInt32(numbers[0]), at: numbers[1])
                case "-": records.dropped(UInt32(numbers[0]), ticks: numbers[1])
                case let letter? where letter.isLetter: records.enter(UInt64(letter.asciiValue!), at: numbers[0])
                default: records.lane(UInt32(numbers[0]), depth: UInt32(numbers[1]), at: numbers[2])
                }
            }
            var options = TraceWriter.ChunkOptions()
            options.thread = UInt32(number + 1)
            options.tid = 1000 + UInt32(number)
            options.inherited = UInt32(inherited.count)
            options.end = records.time
            let path = inherited.utf8.map { TraceWriter.PathCall(function: UInt64($0), enter: 0) }
            writer.add(options, path: path, records: records.bytes)
        }
        try writer.write(to: path)
    }

    private func compare(
        _ pattern: String, _ slowest: SlowestPart, workers: Int = 1,
        _ change: (inout TreeFilter) throws -> Void = { _ in }
    ) throws -> TailComparison {
        let session = try Session(path: path)
        var filter = TreeFilter()
        try change(&filter)
        let functions = FunctionTable { _, address in
            var function = ResolvedFunction(
                name: address < 128 ? String(UnicodeScalar(UInt8(address))) : "\(address)", module: nil, file: nil,
                line: 0)
            function.isCompilerMade = function.name == "z"
            return function
        }
        let tail = Tail(
            of: session, resolver: FunctionResolver(functions), filter: filter, slowest: slowest, workers: workers)
        return try tail.comparison(of: session.processes.flatMap(\.threads), matching: Pattern(pattern))
    }

    private func names(_ functions: [UInt32], _ tail: TailComparison) -> String {
        functions.map { tail.functions[$0].name }.joined()
    }

    /// What is compared, the paths, and the slowest calls, a line each.
    private func lines(_ tail: TailComparison) -> [String] {
        func side(_ name: String, _ side: TailComparison.Side) -> String {
            "\(name) x\(side.calls) \(side.durations.lowerBound)...\(side.durations.upperBound) mean \(side.mean)"
        }
        let paths = (0..<tail.pathCount).map { index in
            let path = tail.path(index)
            return "\(names(tail.functions(ofPath: index), tail)) own \(path.typical.own) → \(path.slow.own), total "
                + "\(path.typical.total) → \(path.slow.total), x\(path.typical.calls) → x\(path.slow.calls)"
        }
        let calls = tail.slowest.map { call in
            "@\(call.start)+\(call.duration) on \(call.thread.tid)\(call.isUnwound ? " unwound" : "") in "
                + names(tail.causes[call.cause], tail) + (call.mark.map { " after \($0.name) @\($0.moment)" } ?? "")
        }
        let partial = tail.partial.calls > 0 ? ["partial x\(tail.partial.calls) \(tail.partial.longest)"] : []
        return [side("slow", tail.slow), side("typical", tail.typical)] + partial + paths + calls
    }

    @Test func theSlowestAreSetBesideTypicalOnes() throws {
        try write("m0 h10 l12 .14 .20 h30 l31 .35 .40 #1@45 h50 l55 .90 p95 .99 .100 h110 .120 h130 .139 .200")
        #expect(
            try lines(compare("h", .count(1))) == [
                "slow x1 50...50 mean 50.0", "typical x3 10...10 mean 10.0",
                "h own 8.0 → 11.0, total 10.0 → 50.0, x1.0 → x1.0",
                "hl own 2.0 → 35.0, total 2.0 → 35.0, x\(2.0 / 3) → x1.0",
                "hp own 0.0 → 4.0, total 0.0 → 4.0, x0.0 → x1.0",
                "@50+50 on 1000 in hl after mark 1 @45",
            ])
        // The call of 9 is below the 25th percentile, and in no path. Twenty percent of five calls is the same one.
        #expect(try compare("h", .percent(20)).slow.calls == 1)
        #expect(try compare("h", .percent(20.1)).slow.calls == 2)
        #expect(try compare("h", .percent(0.001)).slow.calls == 1)
    }

    /// Calls within calls of the function are part of those: their time counts once, below the outer one.
    @Test func recursionIsPartOfTheOutermostCall() throws {
        try write("h0 h10 h20 .30 .40 .50 h60 .70 h80 .90 h100 .110")
        #expect(
            try lines(compare("h", .count(1))) == [
                "slow x1 50...50 mean 50.0", "typical x3 10...10 mean 10.0",
                "h own 10.0 → 20.0, total 10.0 → 50.0, x1.0 → x1.0",
                "hh own 0.0 → 20.0, total 0.0 → 30.0, x0.0 → x1.0",
                "hhh own 0.0 → 10.0, total 0.0 → 10.0, x0.0 → x1.0",
                "@0+50 on 1000 in hh",
            ])
    }

    /// The duration of a call that was open at either end of the recording is not known. What is unwound has ended.
    @Test func callsThatDidNotBeginAndEndAreLeftOut() throws {
        try write("h5 .10 .100 h110 !150 h160 .170 h180 .190 h200 .210 h220 l230 .900", inherited: "h")
        #expect(
            try lines(compare("h", .count(1))) == [
                "slow x1 40...40 mean 40.0", "typical x3 10...10 mean 10.0", "partial x2 680",
                "h own 10.0 → 40.0, total 10.0 → 40.0, x1.0 → x1.0", "@110+40 on 1000 unwound in h",
            ])
    }

    /// Calls on two stacks of a thread that take turns do not get into each other's paths.
    @Test func lanesAreApart() throws {
        try write(
            "h0 l1 1/0@10 h12 p14 0/2@20 .22 .25 1/2@30 .60 .70 0/0@80 h90 l91 .92 .100 h110 .120 h130 .140")
        #expect(
            try lines(compare("h", .count(2))) == [
                "slow x2 25...58 mean 41.5", "typical x3 10...25 mean 10.0",
                "h own \(29.0 / 3) → 8.0, total 10.0 → 41.5, x1.0 → x1.0",
                "hl own \(1.0 / 3) → 10.5, total \(1.0 / 3) → 10.5, x\(1.0 / 3) → x0.5",
                "hp own 0.0 → 23.0, total 0.0 → 23.0, x0.0 → x0.5",
                "@12+58 on 1000 in hp", "@0+25 on 1000 in hl",
            ])
    }

    /// Of calls that take exactly as long, the first ones of the first threads are taken, however many threads read.
    @Test(arguments: 1...3) func tiesAreDealtOutInOrder(_ workers: Int) throws {
        try write("h0 .10 h20 .50", "h0 .10 h20 .30 h40 .70 h80 .110", "h0 .30 h40 l45 .60 .70")
        let tail = try compare("h", .count(3), workers: workers)
        #expect(tail.slowest.map { "\($0.start) \($0.thread.tid)" } == ["20 1000", "40 1001", "80 1001"])
        #expect(tail.typical.calls == 5)
        #expect(tail.difference == 30 - 18)
    }

    @Test func whatTheRecordOptionsLeftOutIsOwnTime() throws {
        try write("h0 .10 h20 -4/30 .60 h70 .80 h90 .100")
        let tail = try compare("h", .count(1))
        #expect(tail.path(0).slow.own == 40)
        #expect(tail.dropped == CallSum(calls: 4, time: 30))
    }

    @Test func filtersAreForWhatLiesBelow() throws {
        try write("h0 z1 l2 .4 .9 .10 h20 z22 l25 .50 .60 .60 h70 .80 h90 .100")
        func paths(_ change: (inout TreeFilter) throws -> Void) throws -> [String] {
            try lines(compare("h", .count(1), change)).dropFirst(2).map { $0.split(separator: ",")[0] + "" }
        }
        // What is left of hl takes its callers' time where those are hidden.
        #expect(
            try paths { _ in } == [
                "h own \(22.0 / 3) → 2.0", "hz own 2.0 → 13.0", "hzl own \(2.0 / 3) → 25.0", "@20+40 on 1000 in hzl",
            ])
        #expect(
            try paths { $0.hidesCompilerMade = true } == [
                "h own \(28.0 / 3) → 15.0", "hl own \(2.0 / 3) → 25.0", "@20+40 on 1000 in hl",
            ])
        #expect(try paths { $0.maxDepth = 0 }.count == 2)
        #expect(try paths { $0.without = [try Pattern("z")] }.first == "h own \(22.0 / 3) → 2.0")
        let late = try compare("h", .count(1)) { $0.from = 65 }
        #expect(late.durations.calls == 2)
    }

    @Test func whatCannotBeComparedIsTold() throws {
        try write("m0 h10 .20 k30")
        #expect(throws: Tail.Shortfall.noFunction) { try compare("x", .count(1)) }
        #expect(throws: Tail.Shortfall.noWholeCall) { try compare("k", .count(1)) }
        #expect(throws: Tail.Shortfall.tooFewCalls(1)) { try compare("h", .count(1)) }
        #expect(throws: Tail.Shortfall.noCall) { try compare("h", .count(1)) { $0.from = 25 } }
    }

    /// What is found in a random trace is what a look at each of its calls gives.
    @Test(arguments: 1...20) func comparisonIsExact(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 3000)
        try trace.writer.write(to: path)
        let function = trace.calls[trace.calls.count / 2].function
        let percent = Double(1 + seed % 10 * 4)
        let tail = try compare("\(function)", .percent(percent), workers: 1 + seed % 3)

        let (calls, paths) = Brute.calls(trace, of: function)
        let sorted = calls.map(\.duration).sorted()
        let count = Int((Double(calls.count) * percent / 100).rounded(.up))
        let slow = Set(
            calls.indices.sorted { (calls[$1].duration, $0) < (calls[$0].duration, $1) }.prefix(count))
        func rank(_ percent: Int) -> UInt64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
        let typical = Set(
            calls.indices.filter { !slow.contains($0) && (rank(25)...rank(75)).contains(calls[$0].duration) })
        func mean(_ chosen: Set<Int>, _ number: (Int) -> UInt64) -> Double {
            Double(chosen.reduce(0) { $0 + number($1) }) / Double(chosen.count)
        }

        #expect(tail.slow.calls == UInt64(slow.count) && tail.typical.calls == UInt64(typical.count))
        #expect(tail.slow.mean == mean(slow) { calls[$0].duration })
        #expect(tail.typical.mean == mean(typical) { calls[$0].duration })
        #expect(tail.durations.percentile(99) == rank(99))
        let expected = paths.filter { path, own in slow.union(typical).contains { own[$0] != nil } }
        #expect(tail.pathCount == expected.count)
        for index in 0..<tail.pathCount {
            let names = tail.functions(ofPath: index).map { tail.functions.functions[Int($0)].address }
            let own = try #require(expected[names])
            #expect(tail.path(index).slow.own == mean(slow) { own[$0] ?? 0 })
            #expect(tail.path(index).typical.own == mean(typical) { own[$0] ?? 0 })
        }
        let sum = (0..<tail.pathCount).reduce(0) { $0 + tail.path($1).ownDifference }
        #expect(abs(sum - tail.difference) < 1e-6 * max(tail.difference, 1))
        #expect(
            tail.slowest.map(\.start)
                == slow.sorted { (calls[$1].duration, $0) < (calls[$0].duration, $1) }.map { calls[$0].start })
    }

    /// The outermost calls of a function in a trace, taken one by one.
    private enum Brute {
        struct Call {
            var start: UInt64
            var duration: UInt64
        }

        /// The calls, in order, and for each path below them its own time by the number of the call.
        static func calls(
            _ trace: RandomTrace, of function: UInt64
        ) -> (calls: [Call], paths: [[UInt64]: [Int: UInt64]]) {
            var calls: [Call] = []
            var paths: [[UInt64]: [Int: UInt64]] = [:]
            var outermost: Int?
            var stack: [UInt64] = []
            for call in trace.calls {
                if let depth = outermost, call.depth <= depth { outermost = nil }
                if outermost == nil, call.function == function {
                    outermost = call.depth
                    stack = []
                    calls.append(Call(start: call.start, duration: call.end - call.start))
                }
                guard let depth = outermost else { continue }
                stack.removeLast(stack.count - (call.depth - depth))
                if !stack.isEmpty { paths[stack]![calls.count - 1]! &-= call.end - call.start }
                stack.append(call.function)
                paths[stack, default: [:]][calls.count - 1, default: 0] &+= call.end - call.start
            }
            return (calls, paths)
        }
    }

    /// The flame graph's sides are of as many calls.
    @Test func changeIsOfAsManyTypicalCalls() throws {
        try write("h0 .10 h20 .30 h40 .50 h60 l65 .95 .100 h110 l115 .145 .150")
        let change = try compare("h", .count(2)).change
        #expect(change.whole.total.sample.before == 20 && change.whole.total.sample.after == 80)
        #expect(change.pathRows.map(\.selfTime.sample.after) == [20, 60])
    }

    /// As many different durations as there are calls, and calls that are all the same.
    @Test(arguments: 1...5) func durationsAreCountedExactly(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var durations = ExactDurations()
        defer { durations.free() }
        var expected: [UInt64: UInt64] = [:]
        for index in 0..<20_000 {
            let duration: UInt64 =
                index % 2 == 0 ? .random(in: 0...UInt64.max, using: &random) : .random(in: 0...20, using: &random)
            durations.add(duration)
            expected[duration, default: 0] += 1
        }
        #expect(Dictionary(uniqueKeysWithValues: durations.counts.map { ($0.duration, $0.calls) }) == expected)
        #expect(durations.calls(of: 7) == expected[7] && durations.calls(of: 12_345) == 0)
        let ranks = DurationRanks(counts: durations.counts)
        let sorted = expected.sorted { $0.key < $1.key }
        #expect(ranks.calls == 20_000 && ranks.counts.elementsEqual(sorted) { $0 == ($1.key, $1.value) })
        let flat = sorted.flatMap { Array(repeating: $0.key, count: Int($0.value)) }
        for percent in [1, 25, 50, 75, 99, 100] as [UInt64] {
            #expect(ranks.percentile(percent) == flat[Int(200 * percent) - 1])
        }
        #expect(ranks.percentile(0) == flat[0])
    }
}
