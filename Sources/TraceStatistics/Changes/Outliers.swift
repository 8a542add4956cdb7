/// Values that lie far off what was measured just before and after them.
enum Outliers {
    /// `values`, where each that has fewer than two others near it, among the three before and the three after it, is replaced by
    /// the nearer of the medians of the two sides. Near is within four standard deviations, by the median distance of
    /// neighbours, which a few steps do not change.
    ///
    /// - Complexity: O(n log n).
    static func replaced(in values: [Double]) -> [Double] {
        let distances = zip(values, values.dropFirst()).map { abs($0 - $1) }.sorted()
        guard distances.count >= 2 else { return values }
        // 1.4826: what makes the median distance of normal values from their middle their standard deviation.
        let near = 4 * 1.4826 / 2.0.squareRoot() * distances[(distances.count - 1) / 2]
        guard near > 0 else { return values }
        return values.indices.map { place in
            let value = values[place]
            let before = Array(values[max(0, place - 3)..<place])
            let after = Array(values[(place + 1)..<min(values.count, place + 4)])
            if (before + after).count(where: { abs($0 - value) <= near }) >= 2 { return value }
            return [before, after].filter { !$0.isEmpty }.map(Percentile.median)
                .min { abs($0 - value) < abs($1 - value) }!
        }
    }
}
