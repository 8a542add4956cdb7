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
