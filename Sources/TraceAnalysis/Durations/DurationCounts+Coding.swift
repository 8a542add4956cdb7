public import TraceText

extension [UInt8] {
    /// Appends a histogram: the number of its buckets, then the steps from bucket to bucket, doubled, with 1 added where a count other
    /// than 1 follows; all as LEB128.
    public mutating func append(_ durations: DurationCounts) {
        append(leb128: UInt64(durations.buckets.count))
        var last: UInt16 = 0
        for (index, count) in durations.buckets {
            append(leb128: UInt64(index - last) << 1 | (count == 1 ? 0 : 1))
            if count != 1 { append(leb128: count) }
            last = index
        }
    }
}

extension LEB128Reader {
    /// Takes a histogram; nil when it is none.
    public mutating func takeDurations() -> DurationCounts? {
        var pairs: [(bucket: UInt16, count: UInt64)] = []
        return takeBuckets { pairs.append((UInt16($0), $1)) } ? DurationCounts(pairs: pairs) : nil
    }

    /// Takes the buckets of a histogram one by one.
    ///
    /// - Returns: false when there is a bucket that is none, which is not told, and nothing behind it.
    mutating func takeBuckets(_ body: (_ bucket: Int, _ count: UInt64) -> Void) -> Bool {
        var bucket = 0
        for _ in 0..<takeCount() {
            let step = take()
            let count = step & 1 == 0 ? 1 : take()
            guard step >> 1 < UInt64(Bucket.count - bucket), !hasFailed else { return false }
            bucket += Int(step >> 1)
            body(bucket, count)
        }
        return !hasFailed
    }
}
