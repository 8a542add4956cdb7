internal import Glibc

/// Percentiles of runs, by ``NearestRank``.
public enum Percentile {
    public static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// A range that holds the true percentile with at least the chance `confidence`, whatever the values' distribution is.
    ///
    /// How many of n values lie below the percentile is binomial, so two order statistics bound it (H. A. David, H. N. Nagaraja,
    /// Order Statistics, 2003, section 7.1). Each end may be wrong with half of the chance that is left.
    ///
    /// - Returns: nil on the side where even the most extreme value is not sure enough.
    /// - Complexity: O(n), besides sorting.
    public static func bounds(
        of values: [Double], _ percent: Double, confidence: Double
    ) -> (lower: Double?, upper: Double?) {
        let sorted = values.sorted()
        let (lower, upper) = ranks(count: sorted.count, percent, doubt: (1 - confidence) / 2)
        return (lower.map { sorted[$0 - 1] }, upper.map { sorted[$0 - 1] })
    }

    /// The ranks of the order statistics that bound the percentile, each wrong with a chance of at most `doubt`.
    static func ranks(count: Int, _ percent: Double, doubt: Double) -> (lower: Int?, upper: Int?) {
        let part = percent / 100
        // below: the chance that fewer than `rank` values lie below the percentile, which is that it is under the value there.
        var below = 0.0, lower: Int?, upper: Int?
        for rank in 0...count {
            // The value at `rank` is above the percentile when fewer than `rank` values are below it.
            if rank >= 1, below <= doubt { lower = rank }
            if rank >= 1, upper == nil, 1 - below <= doubt { upper = rank }
            below += chance(of: rank, among: count, part)
        }
        return (lower, upper)
    }

    /// The least number of values by which both ends are known.
    package static func leastCount(_ percent: Double, doubt: Double) -> Int {
        var count = 1
        while true {
            let (lower, upper) = ranks(count: count, percent, doubt: doubt)
            if lower != nil, upper != nil || percent >= 100 { return count }
            count += 1
        }
    }

    /// The binomial chance of `hits` among `count`.
    private static func chance(of hits: Int, among count: Int, _ part: Double) -> Double {
        if part <= 0 { return hits == 0 ? 1 : 0 }
        if part >= 1 { return hits == count ? 1 : 0 }
        var sign: Int32 = 0
        let (n, k) = (Double(count), Double(hits))
        let ways = lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign)
        return exp(ways + k * log(part) + (n - k) * log1p(-part))
    }
}
