internal import Glibc

/// The two-sample test of A. N. Kolmogorov and N. V. Smirnov: how far the distributions of two samples are apart.
public enum KolmogorovSmirnov {
    /// The greatest distance of the two empirical distribution functions.
    ///
    /// - Complexity: O(n log n).
    public static func distance(_ first: [Double], _ second: [Double]) -> Double {
        Double(steps(first.sorted(), second.sorted())) / Double(first.count * second.count)
    }

    /// The chance of a distance at least this large when both samples are of one distribution. It is counted out for few
    /// values; for many, it is N. V. Smirnov's limit with M. A. Stephens' correction for finite samples (Journal of the Royal
    /// Statistical Society B 32, 1970).
    ///
    /// - Complexity: O(n · m) where it is counted out, O(n log n) elsewhere.
    public static func twoSided(_ first: [Double], _ second: [Double]) -> Double {
        let (n, m) = (first.count, second.count)
        let steps = steps(first.sorted(), second.sorted())
        if steps == 0 { return 1 }
        if n * m <= fewValues { return exactChance(n, m, steps) }
        let size = (Double(n) * Double(m) / Double(n + m)).squareRoot()
        return limit((size + 0.12 + 0.11 / size) * Double(steps) / Double(n * m))
    }

    private static let fewValues = 10_000

    /// The distance times the product of both sizes, which is a whole number.
    private static func steps(_ first: [Double], _ second: [Double]) -> Int {
        let (n, m) = (first.count, second.count)
        var (i, j, most) = (0, 0, 0)
        while i < n || j < m {
            let value = min(i < n ? first[i] : .infinity, j < m ? second[j] : .infinity)
            while i < n, first[i] == value { i += 1 }
            while j < m, second[j] == value { j += 1 }
            most = max(most, abs(i * m - j * n))
            if value == .infinity { break }
        }
        return most
    }

    /// The share of the paths from (0, 0) to (n, m) that leave the band of distances under `steps`. Equal values make the true
    /// chance smaller still.
    private static func exactChance(_ n: Int, _ m: Int, _ steps: Int) -> Double {
        // within[j]: the share of the paths to (i, j) that stay in the band. The last step to (i, j) comes from the left with
        // the chance i / (i + j), when all paths are equally likely.
        var within = [Double](repeating: 0, count: m + 1)
        for i in 0...n {
            for j in 0...m {
                if abs(i * m - j * n) >= steps {
                    within[j] = 0
                } else if i == 0 {
                    within[j] = j == 0 ? 1 : within[j - 1]
                } else if j > 0 {
                    within[j] = (within[j] * Double(i) + within[j - 1] * Double(j)) / Double(i + j)
                }
            }
        }
        return min(1, max(0, 1 - within[m]))
    }

    /// Kolmogorov's distribution: 2 Σ (-1)^(k-1) exp(-2 k² x²).
    private static func limit(_ x: Double) -> Double {
        if x < 0.2 { return 1 }
        var (sum, sign) = (0.0, 1.0)
        for k in 1...100 {
            let term = exp(-2 * Double(k * k) * x * x)
            sum += sign * term
            sign = -sign
            if term < 1e-17 * sum { break }
        }
        return min(1, max(0, 2 * sum))
    }
}
