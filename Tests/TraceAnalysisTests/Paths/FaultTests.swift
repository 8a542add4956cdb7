import CTraceFormat
import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// Which calls have page faults, and what calls allocate: in trees of single calls and in sums of call paths.
@Suite struct FaultTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("fault-sums") }

    private static func resolver() -> FunctionResolver {
        FunctionResolver(
            FunctionTable { _, address in
                ResolvedFunction(name: String(address, radix: 16), module: nil, file: nil, line: 0)
            })
    }

    /// By call path, names with `/` between: what calls did themselves, and what they did with their callees.
    private typealias Sums = [String: (own: MemorySums, all: MemorySums)]

    private func sums(
        _ session: Session, _ filter: TreeFilter = TreeFilter(), workers: Int = 1, partSize: Int = 4 << 20
    ) -> Sums {
        let tree = Aggregation(
            of: session, resolver: Self.resolver(), filter: filter, workers: workers, partSize: partSize
        ).tree(of: session.processes.flatMap(\.threads))
        var sums: Sums = [:]
        var names: [String] = []
        for path in tree.paths {
            names.removeLast(names.count - Int(path.depth))
            names.append(tree.functions[path.function].name)
            sums[names.joined(separator: "/")] = (path.sums.selfMemory, path.sums.memory)
        }
        return sums
    }

    private func tree(
        _ session: Session, budget: Int = 1 << 17, order: TreeLayout.Order = .time, folds: Bool = true
    ) -> [String: MemorySums] {
        let resolver = Self.resolver()
        var layout = TreeLayout()
        (layout.order, layout.folds, layout.tellsMemory) = (order, folds, true)
        let tree = CallTree(
            of: session, resolver: resolver, filter: TreeFilter(), layout: layout, budget: budget)
        var visitor = MemoryVisitor(functions: resolver.functions)
        for thread in session.processes.flatMap(\.threads) { tree.walk(thread, &visitor) }
        return visitor.sums
    }

    private func faults(_ minor: UInt64, _ major: UInt64 = 0) -> MemorySums {
        var sums = MemorySums()
        (sums.minorFaults, sums.majorFaults) = (minor, major)
        return sums
    }

    /// A fault is the innermost call's, also where that has not called for long; faults before and after all calls are nobody's.
    @Test func theInnermostCallHasIt() throws {
        try TraceWriter.session(path) { records in
            records.enter(0xa, at: 100)
            records.enter(0xb, at: 200)
            records.exit(at: 300)
            records.exit(at: 400)
            records.enter(0xa, at: 500)
            records.unwind(1, at: 600)
        }
        let times: [UInt64] = [50, 150, 250, 251, 350, 450, 550, 650]
        try FaultFile.write([times.map { FaultFile.fault($0, isMajor: $0 == 251) }], to: path)
        let session = try Session(path: path)
        let paths = sums(session)
        #expect(paths["a"]?.own == faults(3) && paths["a"]?.all == faults(4, 1))
        #expect(paths["a/b"]?.own == faults(1, 1) && paths["a/b"]?.all == faults(1, 1))
        #expect(tree(session) == ["a": faults(4, 1), "a/b": faults(1, 1)])
        var filter = TreeFilter()
        (filter.from, filter.to) = (240, 360)
        #expect(sums(session, filter)["a"]?.all == faults(2, 1))
    }

    /// What happens on another stack is not the resumer's, although its call goes on. Records of lanes have no moment of their own.
    @Test func lanes() throws {
        try TraceWriter.session(path) { records in
            records.enter(0xa, at: 100)
            records.lane(1, depth: 0, at: 100)
            records.enter(0xb, at: 210)
            records.lane(0, depth: 1, at: 210)
            records.lane(1, depth: 1, at: 210)
            records.exit(at: 500)
            records.lane(0, depth: 1, at: 500)
            records.exit(at: 600)
        }
        let times: [UInt64] = [150, 205, 250, 350, 351, 450, 505, 550]
        try FaultFile.write([times.map { FaultFile.fault($0) }], to: path)
        let session = try Session(path: path)
        #expect(sums(session).mapValues(\.all) == ["a": faults(4), "b": faults(4)])
        for budget in [1 << 17, 0] {
            #expect(tree(session, budget: budget) == ["a": faults(4), "b": faults(4)], "\(budget)")
        }
    }

    /// A random trace, with faults at random moments. Those while the tracer changes buffers are nobody's.
    @Test(arguments: 1...12)
    func randomTraces(_ seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 1500)
        try trace.writer.write(to: path)
        let chunks = try Session(path: path).processes[0].threads[0].chunks
        var random = SeededGenerator(seed: seed &+ 1000)
        let last = try #require(chunks.last).endTicks
        var own: [String: MemorySums] = [:], all: [String: MemorySums] = [:], told: [fathom_event] = []
        var ends = Set<UInt64>()
        for call in trace.calls { ends.formUnion([call.start, call.end]) }
        for time in Set((0..<3000).map { _ in UInt64.random(in: 0...last + 1000, using: &random) }).sorted() {
            let isMajor = UInt8.random(in: 0..<4, using: &random) == 0
            // The chunk that is written at that time, or none.
            let taken = chunks.reduce(0) { $0 + ($1.beginTicks <= time ? $1.switchTicks : 0) }
            let isEdge = chunks.contains { $0.beginTicks == time || $0.endTicks == time }
            if isEdge || ends.contains(time - taken) { continue }
            told.append(FaultFile.fault(time, isMajor: isMajor))
            guard chunks.contains(where: { $0.beginTicks <= time && time <= $0.endTicks }) else { continue }
            let open = trace.calls.filter { $0.start < time - taken && time - taken < $0.end }
            let fault = isMajor ? faults(0, 1) : faults(1)
            for depth in open.indices {
                let name = open[...depth].map { String($0.function, radix: 16) }.joined(separator: "/")
                all[name, default: MemorySums()].add(fault)
                if depth == open.count - 1 { own[name, default: MemorySums()].add(fault) }
            }
        }
        #expect(own.values.reduce(0) { $0 + $1.minorFaults } > 500)
        try FaultFile.write([told.shuffled(using: &random)], until: last + 1000, to: path)
        let session = try Session(path: path)
        for (workers, partSize) in [(1, 4 << 20), (4, 1), (3, 1000)] {
            let found = sums(session, workers: workers, partSize: partSize)
            #expect(found.mapValues(\.own).filter { !$0.value.isZero } == own, "\(workers) workers")
            #expect(found.mapValues(\.all).filter { !$0.value.isZero } == all, "\(workers) workers")
        }
        for (budget, order) in [(1 << 17, TreeLayout.Order.time), (100, .time), (1 << 17, .cost)] {
            let found = tree(session, budget: budget, order: order)
            #expect(found.filter { !$0.value.isZero } == all, "\(budget) \(order)")
        }
        #expect(tree(session, folds: false).filter { !$0.value.isZero } == all)
        // A stretch of time has the faults of that stretch, read by itself or not.
        var filter = TreeFilter()
        (filter.from, filter.to) = (last / 3, last / 2)
        let whole = sums(session, filter, workers: 1), parts = sums(session, filter, workers: 4, partSize: 1)
        #expect(whole.mapValues(\.all) == parts.mapValues(\.all))
        #expect(whole.values.reduce(0) { $0 + $1.own.minorFaults } > 20)
    }

    /// Blocks count in each call that they are allocated in, whether the tree is collected, streamed or sorted.
    @Test func whatCallsAllocate() throws {
        try TraceWriter.session(path) { records in
            records.enter(0xa, at: 100)
            records.memory(FATHOM_ALLOCATED, 0x1000, 10, at: 110)
            for turn in 0..<3 as Range<UInt64> {
                records.enter(0xb, at: 200 + 100 * turn)
                records.memory(FATHOM_ALLOCATED, 0x2000 + turn, 100, at: 210 + 100 * turn)
                records.memory(FATHOM_FREED, 0x2000 + turn, 0, at: 220 + 100 * turn)
                records.exit(at: 290 + 100 * turn)
            }
            records.memory(FATHOM_MAPPED, 0x8000, 4096, at: 800)
            records.exit(at: 900)
        }
        var text = String(decoding: try readFile(path + "/session.json"), as: UTF8.self)
        text.replace("\"max_depth\"", with: "\"memory\":true,\"max_depth\"")
        try writeFile(Array(text.utf8), to: path + "/session.json")
        let session = try Session(path: path)
        var below = MemorySums(), all = MemorySums()
        (below.allocations, below.bytes) = (3, 300)
        (all.allocations, all.bytes) = (5, 4406)
        for (budget, order) in [(1 << 17, TreeLayout.Order.time), (0, .time), (1 << 17, .cost)] {
            #expect(tree(session, budget: budget, order: order) == ["a": all, "a/b": below], "\(budget) \(order)")
        }
        // Folded into one line, or each by itself.
        #expect(tree(session, folds: false) == ["a": all, "a/b": below])
    }
}

/// Adds up what the calls of a tree did with memory, by path.
private struct MemoryVisitor: TreeVisitor {
    let functions: FunctionTable
    private(set) var sums: [String: MemorySums] = [:]
    private var names: [String] = []
    private var told: MemorySums?
    let wantsMore = true

    init(functions: FunctionTable) { self.functions = functions }

    mutating func begin(_ process: TracedProcess) {}
    mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    mutating func begin(lane: UInt32) {}
    mutating func tell(_ memory: MemorySums) { told = memory }
    mutating func enter(_ call: TreeCall) {
        names.append(functions[call.function].name)
        if let told { sums[names.joined(separator: "/"), default: MemorySums()].add(told) }
        told = nil
    }
    mutating func leave(_ call: TreeCall) { names.removeLast() }
    mutating func endLane(hidden: CallSum) {}
    mutating func endThread() {}
    mutating func endProcess() {}
}
