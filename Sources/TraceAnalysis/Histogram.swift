/// Logarithmic buckets of durations: exact below 64 ns, then 32 to each doubling, so that a bucket's middle is within
/// 1.6 % of everything in it. The scheme is that of G. Tene's HdrHistogram.
enum Bucket {
    /// Buckets in all, enough for 64 bits.
    static let count = 64 + 58 * 32

    @inline(__always)
    static func index(of duration: UInt64) -> Int {
        guard duration >= 64 else { return Int(truncatingIfNeeded: duration) }
        let exponent = 63 &- duration.leadingZeroBitCount
        let step = Int(truncatingIfNeeded: duration &>> UInt64(truncatingIfNeeded: exponent &- 5)) & 31
        return 64 &+ (exponent &- 6) &* 32 &+ step
    }

    /// The middle of bucket `index`, in ns.
    static func middle(of index: Int) -> UInt64 {
        guard index >= 64 else { return UInt64(index) }
        let shift = UInt64((index - 64) / 32 + 1)
        return (UInt64(32 + (index - 64) % 32) << shift) + (1 << shift) / 2
    }
}

/// Where histograms of call paths lie.
protocol HistogramSource {
    /// Passes the buckets of the histogram at `head`, which is not 0, and how many durations are in each; a bucket may come
    /// more than once.
    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void)
}

extension HistogramSource {
    /// Passes the buckets of the durations that `sums` adds up. One or two calls have no histogram: they are the shortest and
    /// the longest.
    @inline(__always)
    func forEachBucket(_ head: UInt32, of sums: CallPathSums, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        if head != 0 { return forEachBucket(head, body) }
        if sums.calls > 0 { body(Bucket.index(of: sums.minimum), 1) }
        if sums.calls > 1 { body(Bucket.index(of: sums.maximum), 1) }
    }
}

/// How many of some durations are in each bucket.
public struct DurationCounts: Sendable, Equatable {
    /// Those that are not empty, in order.
    fileprivate(set) var buckets: [(index: UInt16, count: UInt64)] = []

    public static func == (left: DurationCounts, right: DurationCounts) -> Bool {
        left.buckets.elementsEqual(right.buckets, by: ==)
    }

    init() {}

    /// - Parameter buckets: not empty, in order.
    init(_ buckets: [(index: UInt16, count: UInt64)]) { self.buckets = buckets }
}

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

    /// What was added; forgets it.
    ///
    /// - Parameter range: durations that all are within.
    mutating func takeCounts(within range: ClosedRange<UInt64> = 0...UInt64.max) -> DurationCounts {
        var buckets: [(index: UInt16, count: UInt64)] = []
        for index in Bucket.index(of: range.lowerBound)...Bucket.index(of: range.upperBound) where sums[index] > 0 {
            buckets.append((UInt16(index), sums[index]))
            sums[index] = 0
        }
        return DurationCounts(buckets)
    }

    /// The percentiles of what `row` adds up, as far as it was added; forgets the sum.
    mutating func take(of row: RowSums) -> Percentiles {
        row.calls == 0 ? Percentiles() : take(within: row.minimum...row.maximum)
    }

    /// The durations, in ns, that 50, 90 and 99 % of the calls do not exceed (nearest rank), within 1.6 %; forgets the sum.
    ///
    /// - Parameter range: the shortest and the longest duration, which are known exactly.
    mutating func take(within range: ClosedRange<UInt64>) -> Percentiles {
        let buckets = Bucket.index(of: range.lowerBound)...Bucket.index(of: range.upperBound)
        let count = sums[buckets].reduce(0, &+)
        func value(_ percent: UInt64) -> UInt64 {
            let (quotient, remainder) = count.quotientAndRemainder(dividingBy: 100)
            let rank = max(1, quotient * percent + (remainder * percent + 99) / 100)
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

/// Durations in ns that a share of calls does not exceed.
public struct Percentiles: Sendable, Equatable {
    public var p50: UInt64 = 0
    public var p90: UInt64 = 0
    public var p99: UInt64 = 0
}
