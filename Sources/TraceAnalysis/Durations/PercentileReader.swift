internal import TraceStatistics

/// Adds up histograms and reads percentiles off the sum.
struct PercentileReader {
    private var sums = [UInt64](repeating: 0, count: Bucket.count)

    /// Adds the durations that `added` adds up, whose histogram is at `head`.
    mutating func add(_ source: some HistogramSource, _ head: UInt32, of added: CallPathSums) {
        sums.withUnsafeMutableBufferPointer { sums in
            source.forEachBucket(head, of: added) { bucket, count in sums[bucket] &+= count }
        }
    }

    mutating func add(_ counts: DurationCounts) {
        for (bucket, count) in counts.buckets { sums[Int(bucket)] &+= count }
    }

    /// Returns what was added, and forgets it.
    ///
    /// - Parameter range: a range that all durations lie within.
    mutating func takeCounts(within range: ClosedRange<UInt64> = 0...UInt64.max) -> DurationCounts {
        var buckets: [(index: UInt16, count: UInt64)] = []
        for index in Bucket.index(of: range.lowerBound)...Bucket.index(of: range.upperBound) where sums[index] > 0 {
            buckets.append((UInt16(index), sums[index]))
            sums[index] = 0
        }
        return DurationCounts(buckets)
    }

    /// Returns the percentiles of the calls of `row`, as far as they were added, and forgets the sum.
    mutating func take(of row: RowSums) -> Percentiles {
        row.calls == 0 ? Percentiles() : take(within: row.minimum...row.maximum)
    }

    /// Returns the durations, in ns, that 50, 90 and 99 % of the calls do not exceed (nearest rank), within 1.6 %, and
    /// forgets the sum.
    ///
    /// - Parameter range: the shortest and the longest duration, which are known exactly.
    mutating func take(within range: ClosedRange<UInt64>) -> Percentiles {
        let buckets = Bucket.index(of: range.lowerBound)...Bucket.index(of: range.upperBound)
        let count = sums[buckets].reduce(0, &+)
        func value(_ percent: Double) -> UInt64 {
            let rank = NearestRank.rank(of: percent, count: count)
            var seen: UInt64 = 0
            for bucket in buckets {
                seen &+= sums[bucket]
                if seen >= rank { return min(max(Bucket.middle(of: bucket), range.lowerBound), range.upperBound) }
            }
            return range.upperBound
        }
        defer { for bucket in buckets { sums[bucket] = 0 } }
        return count == 0 ? Percentiles() : Percentiles(p50: value(50), p90: value(90), p99: value(99))
    }
}
