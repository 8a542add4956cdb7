/// Where a series falls apart best: the statistic of e-divisive means (D. S. Matteson, N. A. James, A Nonparametric Approach for
/// Multiple Change Point Analysis of Multivariate Data, Journal of the American Statistical Association 109, 2014), with the
/// exponent 1.
enum EnergyDistance {
    /// The split of `values` whose two parts are furthest apart.
    ///
    /// - Parameter least: the fewest values of a part, at least 2.
    /// - Returns: the index of the second part's first value, or nil when there are too few values or all are the same.
    /// - Complexity: O(n²).
    static func bestSplit(of values: ArraySlice<Double>, least: Int) -> Int? {
        let values = Array(values)
        let count = values.count
        guard count >= 2 * least, least >= 2 else { return nil }
        // Sums of distances: within the left part, within the right part, and between them. As the split moves to the right, one
        // value goes from the right part to the left one.
        var left = 0.0, right = 0.0, between = 0.0
        for i in 0..<count { for j in (i + 1)..<max(count, i + 1) { right += abs(values[i] - values[j]) } }
        var best: (split: Int, size: Double)?
        for split in 1...(count - least) {
            let moved = values[split - 1]
            var toLeft = 0.0, toRight = 0.0
            for i in 0..<(split - 1) { toLeft += abs(values[i] - moved) }
            for j in split..<count { toRight += abs(values[j] - moved) }
            left += toLeft
            right -= toRight
            between += toRight - toLeft
            guard split >= least else { continue }
            let (n, m) = (Double(split), Double(count - split))
            let energy = 2 * between / (n * m) - 2 * left / (n * (n - 1)) - 2 * right / (m * (m - 1))
            let size = energy * n * m / (n + m)
            if size > best?.size ?? 0 { best = (split, size) }
        }
        return best?.split
    }
}
