import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis
@testable import TraceFindings

@Suite struct HookTuningTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("tuning") }

    /// Writes one chunk: a number enters the function of that address, nil leaves one; each takes `step` ns.
    private func write(_ events: [UInt64?], step: UInt64 = 10) throws {
        try TraceWriter.session(path) { records in
            for (index, event) in events.enumerated() {
                let time = UInt64(index) * step
                if let event { records.enter(event, at: time) } else { records.exit(at: time) }
            }
        }
    }

    private func tree(
        _ cost: TracingCost? = nil, swift: Set<UInt64> = [], file: @escaping (UInt64) -> String? = { _ in nil },
        name: @escaping (UInt64) -> String
    ) throws -> CallPathTree {
        let session = try Session(path: path)
        let functions = FunctionTable { _, address in
            var function = ResolvedFunction(name: name(address), module: nil, file: file(address), line: 0)
            function.isSwift = swift.contains(address)
            return function
        }
        let resolver = FunctionResolver(functions)
        return Aggregation(of: session, resolver: resolver, filter: TreeFilter(), cost: cost)
            .tree(of: session.processes.flatMap(\.threads))
    }

    /// Names are patterns, and mean every name they are a part of.
    private let parts = HookTuning.Language(pattern: { $0.name }, leavesOut: { $1.contains($0) })
    private let exact = HookTuning.Language(pattern: { $0.name }, leavesOut: { $0 == $1 })

    /// Files are patterns, and so is what stands before the first colon; "sys.h" is the system's.
    private let grouped = HookTuning.Language(
        pattern: { $0.name }, leavesOut: { $0 == $1 },
        groups: HookTuning.Groups(
            patterns: {
                [$0.file, $0.name.contains(":") ? "\($0.name.prefix { $0 != ":" }):*" : nil].compactMap { $0 }
            },
            leavesOut: { pattern, function in
                function.file == pattern || pattern.last == "*" && function.name.hasPrefix(pattern.dropLast())
            }, systemHeaders: { $0.file == "sys.h" ? "sys.h" : nil }))

    private func limits(keep: Double, shorterThan: UInt64 = 100) -> HookTuning.Limits {
        var limits = HookTuning.Limits()
        limits.keep = keep
        limits.shorterThan = shorterThan
        return limits
    }

    /// main calls work, which calls leaf 50 times and other twice; 10 ns a leaf, 30 ns an other.
    private func writeProgram() throws {
        let leaves = Array(repeating: [3, nil] as [UInt64?], count: 50).flatMap { $0 }
        try write([1, 2] + leaves + [4, 3, nil, nil, 4, 3, nil, nil, nil, nil])
    }

    private let names: [UInt64: String] = [1: "main", 2: "work", 3: "leaf", 4: "other"]

    @Test func calledMostAndShortestGoFirst() throws {
        try writeProgram()
        let tree = try tree { names[$0]! }
        // main 1110 ns, work 1090, leaf 520, other 60.
        let all = HookTuning(tree, limits: limits(keep: 0), language: exact)
        #expect(all.all == HookTuning.Sums(calls: 56, total: 2780, selfTime: 1110))
        #expect(all.exclusions.map(\.pattern) == ["leaf", "other"])
        #expect(all.exclusions[0].sums == HookTuning.Sums(calls: 52, total: 520, selfTime: 520))
        #expect(all.excluded == HookTuning.Sums(calls: 54, total: 580, selfTime: 560))
        #expect(all.keptPercent == 79.13)
        #expect(all.keptSelfPercent == 49.54)
        // Only what fits: leaf is 18.7 %, other 2.2 %.
        let some = HookTuning(tree, limits: limits(keep: 90), language: exact)
        #expect(some.exclusions.map(\.pattern) == ["other"])
        let nothing = HookTuning(tree, limits: limits(keep: 100), language: exact)
        #expect(nothing.exclusions.isEmpty && nothing.keptPercent == 100)
    }

    /// A file or a namespace takes one line; functions that it leaves out, too, have none of their own.
    @Test func filesAndNamespaces() throws {
        try writeProgram()
        for (file, names) in [
            ("a.h", [1: "main", 2: "work", 3: "leaf", 4: "other"]),
            (nil, [1: "main", 2: "work", 3: "n:leaf", 4: "n:other"]),
        ] as [(String?, [UInt64: String])] {
            let tree = try tree(file: { $0 > 2 ? file : "main.c" }) { names[$0]! }
            let tuning = HookTuning(tree, limits: limits(keep: 0), language: grouped)
            #expect(tuning.exclusions.map(\.pattern) == [file ?? "n:*"])
            #expect(tuning.exclusions[0].names.sorted() == [names[3]!, names[4]!])
            #expect(tuning.exclusions[0].sums == HookTuning.Sums(calls: 54, total: 580, selfTime: 560))
            // Both together are 20.9 % of the time; alone, other fits.
            let some = HookTuning(tree, limits: limits(keep: 90), language: grouped)
            #expect(some.exclusions.map(\.pattern) == [names[4]!])
        }
        // No root, and nothing that is long on average.
        let whole = try tree(file: { _ in "main.c" }) { names[$0]! }
        let roots = HookTuning(whole, limits: limits(keep: 0, shorterThan: 1_000_000), language: grouped)
        #expect(roots.exclusions.map(\.pattern) == ["leaf", "other"])
        let long = try tree(file: { $0 == 2 || $0 == 4 ? "long.h" : nil }) { names[$0]! }
        #expect(
            HookTuning(long, limits: limits(keep: 0), language: grouped).exclusions.map(\.pattern) == ["leaf", "other"])
    }

    /// System headers go first and whole; what is kept is kept of the rest.
    @Test func systemHeaders() throws {
        try writeProgram()
        let tree = try tree(file: { $0 == 3 ? "sys.h" : nil }) { names[$0]! }
        let tuning = HookTuning(tree, limits: limits(keep: 97), language: grouped)
        #expect(tuning.exclusions.map(\.pattern) == ["sys.h", "other"])
        #expect(tuning.exclusions.map(\.isOfSystemHeaders) == [true, false])
        #expect(tuning.systemHeaders == HookTuning.Sums(calls: 52, total: 520, selfTime: 520))
        #expect(tuning.excluded == HookTuning.Sums(calls: 54, total: 580, selfTime: 560))
        #expect(tuning.keptPercent == 97.34)  // all but 60 of 2260 ns
        #expect(HookTuning(tree, limits: limits(keep: 99), language: grouped).exclusions.map(\.pattern) == ["sys.h"])
    }

    @Test func longFunctionsStay() throws {
        try writeProgram()
        let tree = try tree { names[$0]! }
        let short = HookTuning(tree, limits: limits(keep: 0, shorterThan: 30), language: exact)
        #expect(short.exclusions.map(\.pattern) == ["leaf"])
        // work takes 1090 ns; roots stay whatever they take.
        let any = HookTuning(tree, limits: limits(keep: 0, shorterThan: .max), language: exact)
        #expect(any.exclusions.map(\.pattern) == ["leaf", "other"], "work has half of the time and one call of 56")
    }

    /// One pattern takes several functions: all go, and all count.
    @Test func partsOfNames() throws {
        try writeProgram()
        let related = try tree { [1: "main", 2: "work", 3: "get", 4: "get_all"][$0]! }
        let tuning = HookTuning(related, limits: limits(keep: 0), language: parts)
        #expect(tuning.exclusions.count == 1)
        #expect(tuning.exclusions[0].pattern == "get")
        #expect(tuning.exclusions[0].others == ["get_all"])
        #expect(tuning.exclusions[0].names == ["get", "get_all"])
        #expect(tuning.excluded.calls == 54)
        // 580 of 2780 ns, though get alone would take 520.
        #expect(HookTuning(related, limits: limits(keep: 80), language: parts).exclusions.map(\.pattern) == ["get_all"])
    }

    @Test func aPatternThatTakesWhatMustStayIsNotProposed() throws {
        try writeProgram()
        let tuning = HookTuning(
            try tree { [1: "main_loop", 2: "network", 3: "net", 4: "loop"][$0]! }, limits: limits(keep: 0),
            language: parts)
        #expect(tuning.exclusions.isEmpty)
        #expect(tuning.obstacles.map(\.pattern) == ["net", "loop"])
        #expect(tuning.obstacles.map(\.name) == ["network", "main_loop"])
    }

    /// No list leaves out a Swift function, and none stays for one's sake.
    @Test func swiftFunctionsStay() throws {
        try writeProgram()
        let names: [UInt64: String] = [1: "main", 2: "leaf in work()", 3: "leaf", 4: "leaf"]
        let one = HookTuning(try tree(swift: [2, 4]) { names[$0]! }, limits: limits(keep: 0), language: parts)
        #expect(one.exclusions.map(\.names) == [["leaf"]] && one.obstacles.isEmpty && one.swiftFunctions == 1)
        #expect(one.excluded == HookTuning.Sums(calls: 52, total: 520, selfTime: 520))
        let all = HookTuning(try tree(swift: [2, 3, 4]) { names[$0]! }, limits: limits(keep: 0), language: parts)
        #expect(all.exclusions.isEmpty && all.excluded.calls == 0 && all.swiftFunctions == 1)
        let none = HookTuning(try tree { names[$0]! }, limits: limits(keep: 0), language: exact)
        #expect(none.swiftFunctions == 0)
    }

    /// The cost of hooks is no time of the function that is judged.
    @Test func correctedTimes() throws {
        try writeProgram()
        let tuning = HookTuning(
            try tree(TracingCost(perCall: 10)) { names[$0]! }, limits: limits(keep: 0), language: exact)
        #expect(tuning.exclusions[0].sums == HookTuning.Sums(calls: 52, total: 364, selfTime: 364))
        #expect(tuning.cost == TracingCost(perCall: 10))
    }

    /// What goes with a lower limit is told, and goes with it.
    @Test func whatALowerLimitLeavesOut() throws {
        try writeProgram()
        let tree = try tree { names[$0]! }
        let tuning = HookTuning(tree, limits: limits(keep: 90), language: exact)
        #expect(tuning.exclusions.map(\.pattern) == ["other"])
        #expect(tuning.further == HookTuning.Further(keep: 79, patterns: [("leaf", 52)]))
        let lower = HookTuning(tree, limits: limits(keep: 79), language: exact)
        #expect(lower.exclusions.map(\.pattern) == ["leaf", "other"] && lower.further == nil)
        // Nothing is told of functions that are too long.
        #expect(HookTuning(tree, limits: limits(keep: 90, shorterThan: 10), language: exact).further == nil)
    }

    @Test func nothingRecorded() throws {
        try write([1])
        let tuning = HookTuning(try tree { names[$0]! }, limits: limits(keep: 95), language: parts)
        #expect(tuning.exclusions.isEmpty)
    }

    /// Whatever the calls and the names: what must stay stays, and what is said to go is all that the patterns take.
    @Test(arguments: 1...40)
    func limitsHold(_ seed: Int) throws {
        try RandomTrace(seed: UInt64(seed), count: 2000).writer.write(to: path)
        // Few letters, so that many names are parts of others, or the same.
        let cost = seed % 2 == 0 ? TracingCost(perCall: Double(seed)) : nil
        let tree = try tree(cost) { address in
            let number = (address &* 0x9e37_79b9_7f4a_7c15) >> 40 % 200 &+ UInt64(seed)
            return String(number, radix: 3)
        }
        for keep in [0.0, 50, 90, 95, 99, 100] {
            let limits = limits(keep: keep, shorterThan: [.max, 1000, 5000][seed % 3])
            let tuning = HookTuning(tree, limits: limits, language: parts)
            let patterns = tuning.exclusions.flatMap { [$0.pattern] + $0.others }
            func isLeftOut(_ function: UInt32) -> Bool {
                patterns.contains { tree.functions[function].name.contains($0) }
            }
            var (all, kept, calls, callsLeft, moved) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
            var open: [Int] = []
            for (index, path) in tree.paths.enumerated() {
                while let last = open.last, Int(tree.paths[last].end) <= index { open.removeLast() }
                let isRecursive = open.contains { tree.paths[$0].function == path.function }
                open.append(index)
                let left = isLeftOut(path.function)
                #expect(!left || path.parent >= 0)
                calls += path.sums.calls
                if !left { callsLeft += path.sums.calls } else { moved += path.sums.selfTime }
                if isRecursive { continue }
                all += path.sums.total
                if !left { kept += path.sums.total }
            }
            #expect(Double(kept) >= Double(all) * keep / 100)
            #expect(tuning.all.calls == calls && tuning.all.total == all)
            #expect(tuning.excluded == HookTuning.Sums(calls: calls - callsLeft, total: all - kept, selfTime: moved))
            let names = tuning.exclusions.flatMap(\.names)
            #expect(Set(names).count == names.count)
            for row in tree.rows(by: .function) {
                guard case .function(let id) = row.subject, isLeftOut(id) else { continue }
                #expect(row.average < limits.shorterThan)
                #expect(names.contains(tree.functions[id].name))
            }
        }
    }
}
