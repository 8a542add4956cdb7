internal import Glibc

/// Whether two neighbouring stretches of a series differ by a step: a vote of three tests, of which two must agree.
///
/// On the annotated series of Mozilla's performance tests, a vote was better than each test alone (arXiv 2606.18377).
/// The tests are B. L. Welch's of means, and those of Mann and Whitney and of Kolmogorov and Smirnov. The last two
/// assume nothing about how the values are distributed.
struct StepVote {
    /// The second smallest of the three chances: at this level, two of three tests speak of a difference. The
    /// initializer chooses otherwise where nothing varies on either side, and where values are few and lie apart.
    let chance: Double

    /// - Parameters:
    ///   - left: the values before the step, in order of time, at least two.
    ///   - right: likewise, after it.
    init(_ left: [Double], _ right: [Double]) {
        if left.allSatisfy({ $0 == left[0] }), right.allSatisfy({ $0 == right[0] }) {
            // Nothing varies on either side, so only the number of values limits how sure the difference is.
            chance = left[0] == right[0] ? 1 : RankTest.least(left.count, right.count)
            return
        }
        let share = IndependentShare.of(left + right, within: [0, left.count, left.count + right.count])
        let chances = [
            StepVote.welch(left, right, share: share),
            StepVote.weakened(RankTest.twoSided(left, right), share),
            StepVote.weakened(KolmogorovSmirnov.twoSided(left, right), share),
        ].sorted()
        if left.count + right.count <= StepVote.fewValues, min(left.count, right.count) >= StepVote.leastOfASide,
            StepVote.areApart(left, right)
        {
            // Few values cannot make the rank tests surer than this, however far apart they are.
            chance = min(chances[1], StepVote.unsure * StepVote.welch(left, right, share: share))
        } else {
            chance = chances[1]
        }
    }

    /// Up to `fewValues` values, the test of means alone is enough to find a step, if the values of the two sides do
    /// not overlap. It then has to be `unsure` times surer, because values need not be normal: two or three runs in which the
    /// same function was disturbed are often alike by chance, so there are more of each side.
    private static let fewValues = 16, leastOfASide = 4, unsure = 100.0

    private static func areApart(_ left: [Double], _ right: [Double]) -> Bool {
        left.max()! < right.min()! || right.max()! < left.min()!
    }

    // MARK: Tests

    /// - Parameter share: the share of the values that count as independent.
    private static func welch(_ left: [Double], _ right: [Double], share: Double) -> Double {
        let (a, b) = (variance(left) / Double(left.count), variance(right) / Double(right.count))
        let sum = a + b
        guard sum > 0 else { return 1 }
        let degrees = sum * sum / (a * a / Double(left.count - 1) + b * b / Double(right.count - 1))
        let distance = abs(mean(left) - mean(right)) / sum.squareRoot()
        return StudentT.twoSided(distance * share.squareRoot(), degrees: max(1, degrees * share))
    }

    /// The chance that a test would have found with only a share of the values. A test's result lies some standard
    /// deviations off what is to be expected, and this distance grows with the square root of the number of values.
    private static func weakened(_ chance: Double, _ share: Double) -> Double {
        guard share < 1, chance < 1, chance > 0 else { return chance }
        // By the normal distribution's tail, of which erfc is twice the upper part.
        var (low, high) = (0.0, 38.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if erfc(middle / 2.0.squareRoot()) > chance { low = middle } else { high = middle }
        }
        return erfc(low * share.squareRoot() / 2.0.squareRoot())
    }

    static func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

    private static func squares(_ values: [Double], of mean: Double) -> Double {
        values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }

    private static func variance(_ values: [Double]) -> Double {
        squares(values, of: mean(values)) / Double(values.count - 1)
    }
}
