import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// Filters of all kinds at once, compared with ``FilterModel``.
@Suite struct FilterModelTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("filters") }

    /// A function of a ``RandomTrace``: six names, each in two modules.
    private static func function(_ address: UInt64) -> FilterModel.Function {
        let number = Int(address & 0xfff) / 64
        let isLibrary = address >> 32 == 0x7f00
        let name = (isLibrary ? "lib::" : "app::") + String("abcdef".dropFirst(number).prefix(1))
        return FilterModel.Function(
            name: name, module: isLibrary ? "/usr/lib/libx.so.1" : "/opt/prog",
            file: number == 5 ? nil : number % 2 == 0 ? "/home/me/src/even.c" : "/home/me/src/net/odd.c",
            size: number == 4 ? nil : UInt64(number) * 16 + 8)
    }

    private var functions: FunctionTable { FunctionTable { _, address in Self.function(address).resolved } }

    private func tree(_ filter: TreeFilter, budget: Int = 1 << 17) throws -> [String] {
        let session = try Session(path: path), functions = functions
        var layout = TreeLayout()
        layout.folds = false
        let tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: filter, layout: layout, budget: budget)
        var visitor = TextVisitor(functions: functions)
        for thread in session.processes.flatMap(\.threads) { tree.walk(thread, &visitor) }
        return visitor.lines
    }

    private func paths(_ filter: TreeFilter) throws -> [String] {
        let session = try Session(path: path)
        let tree = Aggregation(of: session, resolver: FunctionResolver(functions), filter: filter)
            .tree(of: session.processes.flatMap(\.threads))
        var names: [String] = []
        return tree.paths.map { path in
            names.removeLast(names.count - Int(path.depth))
            names.append(tree.functions[path.function].name)
            return " \(names.joined(separator: " ")) x\(path.sums.calls) \(path.sums.total)/\(path.sums.selfTime)"
        }.sorted()
    }

    private static let patterns = [
        "a", "b", "c", "d", "e", "f", "app::a", "=app::b", "lib::*", "*@libx", "@prog", "c@libx.so", "/[de]$/", "=a",
    ]
    private static let places = ["src", "even.c", "odd.c@hide", "net", "/home/me/src/*.c", "net/*@hide", "lost.c"]

    private static func filter(_ random: inout SeededGenerator) throws -> TreeFilter {
        func some<Value>(_ most: Int, _ make: () throws -> Value) rethrows -> [Value] {
            guard Int.random(in: 0..<3, using: &random) == 0 else { return [] }
            return try (0..<Int.random(in: 1...most, using: &random)).map { _ in try make() }
        }
        func pattern() throws -> Pattern { try Pattern(patterns.randomElement(using: &random)!) }
        func chance() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
        var filter = TreeFilter()
        filter.only = try some(2, pattern)
        filter.without = try some(1, pattern)
        filter.hidden = try some(2, pattern)
        filter.leadingTo = try some(2, pattern)
        filter.places = try some(2) { try PlacePattern(places.randomElement(using: &random)!) }
        if chance() { filter.minSize = .random(in: 8...60, using: &random) }
        if chance() { filter.maxDepth = .random(in: 0...6, using: &random) }
        if Bool.random(using: &random) { filter.minCost = .random(in: 0...1_000_000, using: &random) }
        if chance() { filter.from = .random(in: 0...4_000_000, using: &random) }
        if chance() { filter.to = filter.from + .random(in: 0...4_000_000, using: &random) }
        if Bool.random(using: &random) {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                filter.triggers.append(
                    CallTrigger(
                        try pattern(), levels: chance() ? .random(in: 0...4, using: &random) : nil,
                        minCost: chance() ? .random(in: 0...600_000, using: &random) : nil))
            }
        }
        return filter
    }

    /// Calls one by one, in one pass and in two.
    @Test(arguments: 1...20) func trees(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 250, chunkCalls: 30, maxDepth: 9)
        try trace.writer.write(to: path)
        var random = SeededGenerator(seed: UInt64(seed) &* 77)
        var shown = 0
        for round in 0..<40 {
            let filter = try Self.filter(&random)
            let expected = FilterModel(trace.calls, filter, Self.function).lines
            #expect(try tree(filter) == expected, "filter \(round): \(filter)")
            #expect(try tree(filter, budget: 0) == expected, "filter \(round) in two passes: \(filter)")
            shown += expected.isEmpty ? 0 : 1
        }
        #expect(shown > 10, "most filters show something")
    }

    /// Call paths, of which every call that leads to a function counts as leading there, and no cost is looked at.
    @Test(arguments: 1...20) func paths(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 250, chunkCalls: 30, maxDepth: 9)
        try trace.writer.write(to: path)
        var random = SeededGenerator(seed: UInt64(seed) &* 99)
        for round in 0..<40 {
            var filter = try Self.filter(&random)
            (filter.leadingTo, filter.minCost, filter.from, filter.to) = ([], 0, 0, .max)
            for index in filter.triggers.indices { filter.triggers[index].minCost = nil }
            #expect(
                try paths(filter) == FilterModel(trace.calls, filter, Self.function).paths, "filter \(round): \(filter)"
            )
        }
    }

    /// What triggers say of a path's cost holds for those that lead to it, and below it.
    @Test func costsOfPaths() throws {
        let trace = RandomTrace(seed: 5, count: 400, maxDepth: 6)
        try trace.writer.write(to: path)
        let session = try Session(path: path)
        func shown(_ triggers: [CallTrigger], least: UInt64) throws -> (paths: Set<String>, kept: Set<String>) {
            var filter = TreeFilter()
            filter.triggers = triggers
            let tree = Aggregation(of: session, resolver: FunctionResolver(functions), filter: filter)
                .tree(of: session.processes.flatMap(\.threads))
            var names: [String] = [], all: Set<String> = [], kept: Set<String> = []
            for index in tree.paths.indices {
                names.removeLast(names.count - Int(tree.paths[index].depth))
                names.append(tree.functions[tree.paths[index].function].name)
                all.insert(names.joined(separator: " "))
                if tree.isLong(index, least: least) { kept.insert(names.joined(separator: " ")) }
            }
            return (all, kept)
        }
        let all = try shown([], least: 0)
        #expect(all.kept == all.paths)
        #expect(try shown([], least: .max).kept.isEmpty)
        let traced = try shown([CallTrigger(Pattern("b"))], least: .max).kept
        let expected = all.paths.filter { path in
            all.paths.contains { ($0 == path || $0.hasPrefix(path + " ")) && $0.hasSuffix("::b") }
        }
        #expect(traced == expected && !traced.isEmpty)
        let below = try shown([CallTrigger(Pattern("b"), minCost: 0)], least: .max).kept
        #expect(below == expected.union(all.paths.filter { $0.contains("::b ") }))
    }
}
