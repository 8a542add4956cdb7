internal import Glibc

/// How often chance alone orders two samples as they are ordered.
public enum RankTest {
    /// The two-sided chance of rank sums that lie at least this far apart, over all ways to deal the values out to the
    /// two samples. It is the test of F. Wilcoxon, H. B. Mann and D. R. Whitney, with midranks for equal values: computed
    /// exactly for few values, and for many by the normal distribution that the rank sum tends to.
    ///
    /// - Complexity: O(N · (n + log N)) for N values in all, n of them in the smaller sample; for few values, O(N³ · n).
    public static func twoSided(_ first: [Double], _ second: [Double]) -> Double {
        let ranks = Ranks(of: first, and: second)
        return min(first.count, second.count) * (first.count + second.count) <= fewValues
            ? ranks.exactChance : ranks.approximateChance
    }

    /// Up to this product of the smaller sample's size and the number of all values, the chance is computed exactly: two
    /// samples of fourteen.
    static let fewValues = 400

    /// The least chance that ``twoSided(_:_:)`` can find with samples of these sizes.
    public static func least(_ first: Int, _ second: Int) -> Double {
        var choices = 1.0
        for k in 0..<min(first, second) { choices *= Double(first + second - k) / Double(k + 1) }
        return min(1, 2 / choices)
    }
}

/// How a sample ranks among all values of two samples: the smaller one, because the other has the other ranks.
struct Ranks {
    /// Twice the midranks of all values, which are whole numbers, in order.
    private let all: [Int]
    /// How many of the values are in the sample, and the sum of twice their ranks.
    private let count: Int
    private let found: Int

    init(of first: [Double], and second: [Double]) {
        let sample = first.count <= second.count ? first : second
        let sorted = (first + second).sorted()
        var all: [Int] = []
        var found = 0
        var low = 0
        while low < sorted.count {
            let high = sorted[low...].firstIndex { $0 > sorted[low] } ?? sorted.count
            let rank = low + high + 1
            all += repeatElement(rank, count: high - low)
            found += rank * sample.count { $0 == sorted[low] }
            low = high
        }
        (self.all, count, self.found) = (all, sample.count, found)
    }

    /// How far twice the rank sum is from what is to be expected, (N + 1) · n.
    private var distance: Int { abs(found - count * (all.count + 1)) }

    var exactChance: Double {
        let sum = all.reduce(0, +)
        // ways[n][s]: how many choices of n values have the rank sum s.
        var ways = [[Double]](repeating: [Double](repeating: 0, count: sum + 1), count: count + 1)
        ways[0][0] = 1
        for (index, rank) in all.enumerated() {
            for n in stride(from: min(index + 1, count), through: 1, by: -1) {
                for s in rank...sum where ways[n - 1][s - rank] > 0 { ways[n][s] += ways[n - 1][s - rank] }
            }
        }
        var far = 0.0
        var total = 0.0
        for (s, choices) in ways[count].enumerated() where choices > 0 {
            total += choices
            if abs(s - count * (all.count + 1)) >= distance { far += choices }
        }
        return far / total
    }

    /// The chance by the normal distribution, with the rank sum's variance, which equal values make smaller, and with a
    /// correction for continuity (E. L. Lehmann, Nonparametrics, 1975, section 1.4).
    var approximateChance: Double {
        let (n, rest, whole) = (Double(count), Double(all.count - count), Double(all.count))
        let mean = whole + 1
        let squares = all.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        let variance = n * rest / (whole * (whole - 1)) * squares
        guard variance > 0 else { return 1 }
        return min(1, erfc(max(Double(distance) - 1, 0) / (2 * variance).squareRoot()))
    }
}
