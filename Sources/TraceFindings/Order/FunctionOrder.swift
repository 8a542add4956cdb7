/// The order in which a program's functions should lie, and what that saves.
public struct FunctionOrder {
    /// How an order was found.
    public enum Method: String, Sendable {
        /// By the first calls of the only run.
        case firstCalls = "first calls"
        /// What most runs call comes first. What the same runs call lies together, in the order of first calls.
        case shared = "shared first"
        /// What the same runs call at about the same time lies together.
        case partitioning = "balanced partitioning"
    }

    /// How many pages runs touch, on average.
    public struct Pages: Sendable, Equatable {
        /// Bytes of a page.
        public var size: UInt64
        public var now: Double
        public var then: Double

        public var saved: Double { now - then }
    }

    /// The functions in their order, as numbers of their places among those given.
    public let functions: [Int]
    public let method: Method
    /// What runs that an order was not made from touch, with orders made from the others; nil for fewer than three runs.
    public let heldOut: Pages?
    private let ranges: [Range<UInt64>]
    private let runs: [[Int]]

    /// Linux maps up to this much around a page that is touched.
    public static let windowSize: UInt64 = 64 * 1024
    public static let pageSize: UInt64 = 4096
    /// The most parts that runs are divided into, to judge orders.
    private static let folds = 10
    /// What functions are aligned to.
    private static let alignment: UInt64 = 16

    /// - Parameters:
    ///   - ranges: the addresses of each function.
    ///   - runs: for each run, the functions that it called, the first one first.
    /// - Complexity: O(n log n) in the number of functions, times runs, ten times.
    public init(_ ranges: [Range<UInt64>], runs: [[Int]]) {
        self.ranges = ranges
        self.runs = runs
        guard runs.count > 1 else {
            (functions, method, heldOut) = (runs.first ?? [], .firstCalls, nil)
            return
        }
        let judged = [Method.shared, .partitioning].map { method in
            (method, FunctionOrder.heldOut(ranges, runs, method))
        }
        // With two runs, an order of one says little of the other.
        let best = judged.min { ($0.1?.then ?? 0) < ($1.1?.then ?? 0) }!
        method = best.0
        heldOut = best.1
        functions = FunctionOrder.order(runs, ranges.count, best.0)
    }

    private static func order(_ runs: [[Int]], _ count: Int, _ method: Method) -> [Int] {
        // The runs that call each function, in ascending order.
        var callers = [[Int]](repeating: [], count: count)
        var ranks = [Int](repeating: 0, count: count)
        for (number, run) in runs.enumerated() {
            for (position, function) in run.enumerated() {
                callers[function].append(number)
                ranks[function] += position
            }
        }
        let shared = (0..<count).filter { !callers[$0].isEmpty }.sorted { left, right in
            let (some, others) = (callers[left], callers[right])
            if some.count != others.count { return some.count > others.count }
            if some != others { return some.lexicographicallyPrecedes(others) }
            return (ranks[left], left) < (ranks[right], right)
        }
        guard method == .partitioning else { return shared }
        var partitioning = BalancedPartitioning(runs: runs, count: count)
        return partitioning.order(shared)
    }

    private static func heldOut(_ ranges: [Range<UInt64>], _ runs: [[Int]], _ method: Method) -> Pages? {
        guard runs.count > 2 else { return nil }
        let folds = min(runs.count, folds)
        var pages = Pages(size: pageSize, now: 0, then: 0)
        for fold in 0..<folds {
            let others = runs.indices.filter { $0 % folds != fold }.map { runs[$0] }
            let layout = Layout(ranges, order(others, ranges.count, method))
            for run in runs.indices where run % folds == fold {
                pages.now += Double(count(runs[run].map { ranges[$0] }, pageSize))
                pages.then += Double(layout.pages(of: runs[run], size: pageSize))
            }
        }
        pages.now /= Double(runs.count)
        pages.then /= Double(runs.count)
        return pages
    }

    // MARK: Pages

    /// How many pages of `size` bytes a run touches, as the program is and as it would be.
    ///
    /// - Complexity: O(n log n) in the number of functions, times runs.
    public func pages(of size: UInt64) -> Pages {
        let layout = Layout(ranges, functions)
        var pages = Pages(size: size, now: 0, then: 0)
        for run in runs {
            let now = FunctionOrder.count(run.map { ranges[$0] }, size)
            pages.now += Double(now)
            pages.then += Double(min(now, layout.pages(of: run, size: size)))
        }
        pages.now /= Double(max(1, runs.count))
        pages.then /= Double(max(1, runs.count))
        return pages
    }

    /// How many pages `ranges` touch, each counted once.
    private static func count(_ ranges: [Range<UInt64>], _ size: UInt64) -> Int {
        var pages: Set<UInt64> = []
        for range in ranges where !range.isEmpty {
            for page in range.lowerBound / size...(range.upperBound - 1) / size { pages.insert(page) }
        }
        return pages.count
    }

    /// Where functions lie once they are in order. Those that are not stay where they are.
    private struct Layout {
        private var ranges: [Range<UInt64>]

        init(_ ranges: [Range<UInt64>], _ order: [Int]) {
            self.ranges = ranges
            // The block begins at the same place of a page as the first of its functions does now: linked again, nothing
            // would change. It lies apart from everything else.
            let first = order.map { ranges[$0].lowerBound }.min() ?? 0
            var next = first % FunctionOrder.windowSize + 1 << 62
            for function in order {
                self.ranges[function] = next..<next + UInt64(ranges[function].count)
                next += (UInt64(ranges[function].count) + FunctionOrder.alignment - 1) & ~(FunctionOrder.alignment - 1)
            }
        }

        func pages(of run: [Int], size: UInt64) -> Int { FunctionOrder.count(run.map { ranges[$0] }, size) }
    }
}
