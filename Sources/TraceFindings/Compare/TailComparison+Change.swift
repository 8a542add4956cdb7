public import TraceAnalysis

extension TailComparison {
    /// A comparison in which the typical calls, scaled to the number of the slowest calls, are before, and the slowest calls are
    /// after.
    ///
    /// - Complexity: O(n log n) in the number of paths.
    public var change: SessionComparison {
        let builder = ComparisonBuilder()
        let trees = equalTrees
        builder.add(trees.typical, to: .before, program: nil, moment: 0)
        builder.add(trees.slow, to: .after, program: nil, moment: 0)
        return builder.comparison()
    }
}
