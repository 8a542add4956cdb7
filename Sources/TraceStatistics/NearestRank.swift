/// What every percentile of Fathom is, by nearest rank: of n values in order, the p-th percentile is the one at rank ⌈p · n / 100⌉. It
/// is always one of the values; of 1 to 10, the 90th is 9, and of two values the 99th is the greater one.
public enum NearestRank {
    /// The rank of a percentile, from 1 to `count`.
    ///
    /// - Parameters:
    ///   - percent: from 0 to 100. The 0th percentile is the least value.
    ///   - count: at least 1.
    public static func rank(of percent: Double, count: UInt64) -> UInt64 {
        if percent == percent.rounded() {
            let (hundreds, rest) = count.quotientAndRemainder(dividingBy: 100), whole = UInt64(max(0, percent))
            return min(max(1, hundreds * whole + (rest * whole + 99) / 100), count)
        }
        // 99.9 % of 1,000 is 999, whatever binary fractions make of it.
        let exact = percent * Double(count) / 100
        let rank = (exact - max(1e-9, exact * 1e-15)).rounded(.up)
        return min(UInt64(max(rank, 1)), count)
    }

    /// The percentile of values in ascending order, at least one.
    public static func value<Value>(of sorted: [Value], _ percent: Double) -> Value {
        sorted[Int(rank(of: percent, count: UInt64(sorted.count))) - 1]
    }
}
