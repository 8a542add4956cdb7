internal import TraceStatistics

/// Reads how long the calls of paths took off a tree, and adds it up.
public struct DurationReader {
    private var reader = PercentileReader()
    /// The shortest and the longest duration that was added.
    private var range: ClosedRange<UInt64>?

    public init() {}

    /// Adds the calls of path `index`.
    public mutating func add(_ tree: CallPathTree, _ index: Int) {
        let path = tree.paths[index]
        guard path.sums.calls > 0, path.sums.minimum <= path.sums.maximum else { return }
        reader.add(tree.histograms, path.histogram, of: path.sums)
        include(path.sums.minimum...path.sums.maximum)
    }

    /// Adds durations that all lie in `range`.
    public mutating func add(_ counts: DurationCounts, within range: ClosedRange<UInt64>) {
        reader.add(counts)
        include(range)
    }

    /// Adds one duration, in ns.
    public mutating func add(_ duration: UInt64) {
        reader.add(DurationCounts([(UInt16(Bucket.index(of: duration)), 1)]))
        include(duration...duration)
    }

    private mutating func include(_ added: ClosedRange<UInt64>) {
        range = range.map { min($0.lowerBound, added.lowerBound)...max($0.upperBound, added.upperBound) } ?? added
    }

    /// What was added; it is forgotten.
    public mutating func take() -> DurationCounts {
        guard let range else { return DurationCounts() }
        self.range = nil
        return reader.takeCounts(within: range)
    }

    /// The duration in ns that `percent` of those added do not exceed (nearest rank), within 1.6 %; nil when there are none. What
    /// was added is forgotten.
    public mutating func takePercentile(_ percent: Double) -> UInt64? {
        guard let range else { return nil }
        let counts = take()
        let all = counts.pairs.reduce(0) { $0 + $1.count }
        let rank = NearestRank.rank(of: percent, count: all)
        var seen: UInt64 = 0
        for (bucket, count) in counts.pairs {
            seen += count
            if seen >= rank {
                return min(max(Bucket.middle(of: Int(bucket)), range.lowerBound), range.upperBound)
            }
        }
        return range.upperBound
    }
}
