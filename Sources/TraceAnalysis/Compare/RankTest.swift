/// How often chance alone orders two samples as they are ordered.
public enum RankTest {
    /// The two-sided chance of rank sums that lie at least this far apart, over all ways to deal the values out to the
    /// two samples. It is the test of F. Wilcoxon, H. B. Mann and D. R. Whitney, computed exactly, also with equal
    /// values (midranks).
    ///
    /// - Complexity: O(N² · n²) for N values in all, n of them in `first`.
    public static func twoSided(_ first: [Double], _ second: [Double]) -> Double {
        let all = first + second
        let sorted = all.sorted()
        /// Twice the midrank of a value, which is a whole number.
        func rank(_ value: Double) -> Int {
            let low = sorted.partitioningIndex { $0 >= value }
            let high = sorted.partitioningIndex { $0 > value }
            return low + high + 1
        }
        let ranks = all.map(rank)
        let sum = ranks.reduce(0, +)
        // ways[n][s]: how many choices of n values have the rank sum s.
        var ways = [[Double]](repeating: [Double](repeating: 0, count: sum + 1), count: first.count + 1)
        ways[0][0] = 1
        for (index, rank) in ranks.enumerated() {
            for n in stride(from: min(index + 1, first.count), through: 1, by: -1) {
                for s in rank...sum where ways[n - 1][s - rank] > 0 { ways[n][s] += ways[n - 1][s - rank] }
            }
        }
        let found = ranks[..<first.count].reduce(0, +)
        /// Twice the rank sum to be expected, which is a whole number, too.
        let expected = first.count * sum / all.count
        let distance = abs(found - expected)
        var far = 0.0
        var total = 0.0
        for (s, count) in ways[first.count].enumerated() where count > 0 {
            total += count
            if abs(s - expected) >= distance { far += count }
        }
        return far / total
    }

    /// The least chance that ``twoSided(_:_:)`` can find with samples of these sizes.
    public static func least(_ first: Int, _ second: Int) -> Double {
        var choices = 1.0
        for k in 0..<min(first, second) { choices *= Double(first + second - k) / Double(k + 1) }
        return min(1, 2 / choices)
    }
}

extension [Double] {
    /// The first index whose element `isBehind` holds for. The elements are ordered by it.
    fileprivate func partitioningIndex(_ isBehind: (Double) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
