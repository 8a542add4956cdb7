import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFindings

/// Orders of functions, and the pages that they save.
@Suite struct FunctionOrderTests {
    /// Three functions, each on a page of its own.
    @Test func threePagesBecomeOne() {
        let ranges = [0x1000..<0x1100, 0x9000..<0x9100, 0x11000..<0x11100] as [Range<UInt64>]
        let order = FunctionOrder(ranges, runs: [[2, 0, 1]])
        #expect(order.functions == [2, 0, 1] && order.method == .firstCalls && order.heldOut == nil)
        #expect(order.pages(of: 4096) == FunctionOrder.Pages(size: 4096, now: 3, then: 1))
        // Linked in that order, there is nothing left to gain.
        let linked = [0x1f80..<0x2080, 0x2080..<0x2180, 0x1e80..<0x1f80] as [Range<UInt64>]
        #expect(FunctionOrder(linked, runs: [[2, 0, 1]]).pages(of: 4096).saved == 0)
        // A function that reaches into another page counts on both.
        #expect(FunctionOrder([0xff0..<0x1010], runs: [[0]]).pages(of: 4096).now == 2)
        #expect(FunctionOrder([], runs: [[]]).pages(of: 4096) == FunctionOrder.Pages(size: 4096, now: 0, then: 0))
    }

    /// The numbers as they are usual on phones: only the page where a function begins, within the code's section.
    @Test func startPages() {
        let size = StartPages.pageSize
        let functions = (0..<3).map { 0x100 + $0 * size..<0x180 + $0 * size } as [Range<UInt64>]
        let pages = StartPages(functions, code: 0x100..<0x100 + 10 * size)
        #expect((pages.all, pages.now, pages.then, pages.saved, pages.milliseconds) == (11, 3, 1, 2, 1))
        let linked = StartPages([0x100..<0x180, 0x180..<0x200], code: 0x100..<0x300)
        #expect((linked.now, linked.then, linked.saved, linked.milliseconds) == (1, 1, 0, 0))
        // Half a millisecond is rounded to the even one.
        for (saved, milliseconds) in [(293, 146), (1, 0), (3, 2)] as [(UInt64, UInt64)] {
            let functions = (0...saved).map { $0 * size..<$0 * size + 1 }
            #expect(StartPages(functions, code: 0..<size * 400).milliseconds == milliseconds)
        }
    }

    /// Functions of the same runs lie together, whatever their numbers are.
    @Test func runsLieTogether() {
        let runs = (0..<8).map { run in (0..<64).filter { $0 % 4 == run % 4 } }
        var random = SeededGenerator(seed: 1)
        let shuffled = (0..<64).shuffled(using: &random)
        var partitioning = BalancedPartitioning(runs: runs, count: 64)
        let order = partitioning.order(shuffled)
        #expect(order.sorted() == Array(0..<64))
        func neighbours(_ order: [Int]) -> Int { zip(order, order.dropFirst()).count { ($0 - $1) % 4 == 0 } }
        #expect(neighbours(shuffled) < 24 && neighbours(order) > 48, "\(order)")
    }

    // MARK: LLVM

    /// The one of Swift's toolchain: older ones know no traces.
    private static let profdata: String? =
        (try? run(
            "sh", ["-c", "command -v \"$(dirname \"$(readlink -f \"$(command -v swiftc)\")\")/llvm-profdata\""])).map {
            String($0.stdout.prefix { $0 != "\n" })
        }.flatMap { $0.isEmpty ? nil : $0 }

    /// The order that LLVM makes of the same runs.
    private func llvmOrder(_ runs: [[Int]], _ directory: TemporaryDirectory, _ tool: String) throws -> [Int] {
        var text = ":ir\n:temporal_prof_traces\n# Num Traces\n\(runs.count)\n# Trace Stream Size:\n\(runs.count)\n"
        for run in runs { text += "# Weight\n1\n\(run.map { "f\($0)" }.joined(separator: ","))\n" }
        for function in Set(runs.joined()).sorted() {
            text += "f\(function)\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n1\n\n"
        }
        let profile = try directory.write(text, to: "runs.proftext")
        let merged = directory.file("runs.profdata")
        let made = try run(tool, ["merge", profile, "-o", merged])
        try #require(made.status == 0, "\(made.stderr)")
        return try run(tool, ["order", merged]).stdout.split(separator: "\n").compactMap { Int($0.dropFirst()) }
    }

    /// Pages that a run touches when `order` is laid out from a page's beginning, and the rest stays where it is.
    private func pages(_ run: [Int], _ order: [Int], _ ranges: [Range<UInt64>]) -> Int {
        var (laid, next) = (ranges, UInt64(1) << 40)
        for function in order {
            laid[function] = next..<next + UInt64(ranges[function].count)
            next += (UInt64(ranges[function].count) + 15) & ~15
        }
        return Set(run.flatMap { laid[$0].lowerBound / 4096...(laid[$0].upperBound - 1) / 4096 }).count
    }

    /// On runs that neither order was made from, this one touches no more pages than LLVM's own.
    @Test(.enabled(if: profdata != nil, "there is no llvm-profdata")) func noWorseThanLLVM() throws {
        let tool = try #require(Self.profdata)
        let directory = try TemporaryDirectory("order")
        var (mine, theirs) = (0, 0)
        let (ranges, runs) = start(seed: 1)
        for left in runs.indices.prefix(2) {
            let others = runs.indices.filter { $0 != left }.map { runs[$0] }
            mine += pages(runs[left], FunctionOrder(ranges, runs: others).functions, ranges)
            theirs += pages(runs[left], try llvmOrder(others, directory, tool), ranges)
        }
        #expect(mine <= theirs, "\(mine) pages, by LLVM's order \(theirs)")
    }

    /// Runs of a program that have a part in common, use two features of eight each, and call some functions by chance.
    private func start(seed: UInt64) -> (ranges: [Range<UInt64>], runs: [[Int]]) {
        var random = SeededGenerator(seed: seed)
        let count = 2000
        var ranges: [Range<UInt64>] = []
        for _ in 0..<count {
            let start = ((ranges.last?.upperBound ?? 0x1000) + 15) & ~15
            ranges.append(start..<start + UInt64.random(in: 20...900, using: &random))
        }
        let common = (0..<count).shuffled(using: &random).prefix(150)
        let features = (0..<8).map { _ in Array((0..<count).shuffled(using: &random).prefix(60)) }
        let runs = (0..<8).map { run in
            var seen: Set<Int> = []
            let chance = (0..<count).shuffled(using: &random).prefix(10)
            return (Array(common) + features[run] + features[(run + 1) % 8] + chance).filter {
                seen.insert($0).inserted
            }
        }
        return (ranges, runs)
    }
}
