/// Where histograms of call paths lie.
protocol HistogramSource {
    /// Passes the buckets of the histogram at `head`, which is not 0, and how many durations are in each; a bucket may come
    /// more than once.
    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void)
}

extension HistogramSource {
    /// Passes the buckets of the durations that `sums` adds up. One or two calls have no histogram: their durations are
    /// the shortest and the longest.
    @inline(__always)
    func forEachBucket(_ head: UInt32, of sums: CallPathSums, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        if head != 0 { return forEachBucket(head, body) }
        if sums.calls > 0 { body(Bucket.index(of: sums.minimum), 1) }
        if sums.calls > 1 { body(Bucket.index(of: sums.maximum), 1) }
    }
}
