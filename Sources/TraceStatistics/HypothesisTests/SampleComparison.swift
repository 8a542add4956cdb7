internal import Glibc

/// One number of repeated runs, before and after: how far it changed, and how sure that is.
public struct SampleComparison: Sendable {
    /// Means over the runs.
    public let before: Double
    public let after: Double
    /// The change by the runs that count, as its interval does: without the most extreme runs, and without what a drift of the
    /// machine explains. It may differ from that of the means.
    public let estimate: Double
    /// The range in which the change lies with ``confidence``; nil unless both sides have at least two runs.
    public let interval: ClosedRange<Double>?
    /// The chance to find a change this large when there is none, for this number alone; nil without an interval.
    public let chance: Double?
    /// What speaks against a change that the means alone would show.
    package let objection: Objection?
    /// How many standard errors the change is away from none; 0 where nothing is owed to chance.
    private let distance: Double
    /// The mean number of runs a side.
    private let runs: Double

    package enum Objection: Sendable {
        /// The order of the values contradicts it.
        case order
        /// A drift of the machine explains it.
        case drift
    }

    /// How sure an interval is.
    public static let confidence = 1 - doubt
    /// The chance below which a number by itself would be taken to have changed.
    private static let doubt = 0.05

    public var change: Double { after - before }

    /// The change as a part of what was before; infinite when that was 0.
    public var relativeChange: Double { after.change(relativeTo: before) }

    /// - Parameters:
    ///   - before: the number in each run; not empty.
    ///   - after: likewise.
    ///   - moments: when each run was made, those before first; any unit. Empty when that is not known.
    package init(before: [Double], after: [Double], moments: [Double] = []) {
        let (mean, other) = (before.mean, after.mean)
        self.before = mean
        self.after = other
        runs = Double(before.count + after.count) / 2
        guard before.count >= 2, after.count >= 2 else {
            (interval, chance, objection, distance) = (nil, nil, nil, 0)
            estimate = other - mean
            return
        }
        // A number that is the same in all runs of a side owes nothing to chance. That holds above all for calls.
        if before.isConstant, after.isConstant {
            interval = (other - mean)...(other - mean)
            (chance, objection, distance) = (mean == other ? 1 : 0, nil, 0)
            estimate = other - mean
            return
        }
        let (plain, trend) = (
            SampleComparison.welch(before, after), SampleComparison.trend(before, after, moments)
        )
        let test = trend ?? plain
        let margin = StudentT.quantile(twoSided: SampleComparison.doubt, degrees: test.degrees) * test.error
        estimate = test.change
        interval = (test.change - margin)...(test.change + margin)
        distance = abs(test.change) / test.error
        // The order of the values is asked only where the means speak of a change.
        let isContradicted = test.chance < SampleComparison.doubt && !SampleComparison.ranksAgree(before, after)
        chance = isContradicted ? 1 : test.chance
        let isDrift = trend != nil && plain.chance < SampleComparison.doubt && test.chance >= SampleComparison.doubt
        objection = isContradicted ? .order : isDrift ? .drift : nil
    }

    /// Whether the number by itself, were it the only one, would show a change.
    package var isSureByItself: Bool { chance.map { $0 < SampleComparison.doubt } ?? false }

    /// About how many runs a side would show this change, if it is one, to be no chance greater than `chance`; nil where
    /// more runs would not help.
    ///
    /// The standard error falls with the square root of the number of runs; the degrees of freedom are those of the runs
    /// that are not left out as the most extreme ones.
    ///
    /// - Complexity: a few hundred evaluations of Student's distribution.
    package func runsNeeded(for chance: Double) -> Int? {
        guard distance > 0, objection == nil, chance > 0 else { return nil }
        /// How many runs a side it takes, if the quantile is that of `supposed` runs.
        func needed(supposing supposed: Double) -> Double {
            let kept = supposed - 2 * Double(Trimmed.cut(of: Int(supposed)))
            let ratio = StudentT.quantile(twoSided: chance, degrees: 2 * kept - 2) / distance
            return min(max(runs * ratio * ratio, runs + 1), SampleComparison.mostRuns)
        }
        var estimate = runs + 1
        for _ in 0..<4 { estimate = needed(supposing: estimate) }
        guard estimate < SampleComparison.mostRuns else { return nil }
        // One more run may trim two, and then the last estimate is too low.
        estimate = estimate.rounded(.up)
        while needed(supposing: estimate) > estimate { estimate += 1 }
        return Int(estimate)
    }

    /// More runs than anyone makes.
    private static let mostRuns = 10_000.0

    /// An estimate of a change and its standard error.
    private struct Test {
        var change: Double
        var error: Double
        var degrees: Double

        /// The chance to find a change this large when there is none.
        var chance: Double { StudentT.twoSided(change / error, degrees: degrees) }
    }

    // MARK: Welch

    /// B. L. Welch's test (Biometrika 34, 1947) of means without the most extreme runs, in the form of K. K. Yuen
    /// (Biometrika 61, 1974), so that a run that the machine disturbed neither hides a change nor makes one.
    private static func welch(_ before: [Double], _ after: [Double]) -> Test {
        let (a, b) = (Trimmed(before), Trimmed(after))
        // What is left after trimming may be all the same although the runs are not.
        guard a.squaredError + b.squaredError > 0 else {
            return welch(Trimmed(before, cut: 0), Trimmed(after, cut: 0))
        }
        return welch(a, b)
    }

    private static func welch(_ a: Trimmed, _ b: Trimmed) -> Test {
        let sum = a.squaredError + b.squaredError
        let degrees =
            sum * sum / (a.squaredError * a.squaredError / a.degrees + b.squaredError * b.squaredError / b.degrees)
        return Test(change: b.mean - a.mean, error: sum.squareRoot(), degrees: degrees)
    }

    /// A mean without the lowest and highest values, and its error from the winsorised variance.
    private struct Trimmed {
        var mean: Double
        /// Square of the standard error.
        var squaredError: Double
        var degrees: Double

        /// How many values are left out at each end, a tenth: of ten runs, the fastest and the slowest.
        static func cut(of count: Int) -> Int { count / 10 }

        init(_ values: [Double]) { self.init(values, cut: Trimmed.cut(of: values.count)) }

        init(_ values: [Double], cut: Int) {
            let sorted = values.sorted()
            let kept = sorted[cut..<(sorted.count - cut)]
            let winsorised = sorted.map { min(max($0, kept.first!), kept.last!) }
            let count = Double(kept.count)
            mean = kept.reduce(0, +) / count
            squaredError = winsorised.squaredDeviations / (count * (count - 1))
            degrees = count - 1
        }
    }

    // MARK: Trend

    /// A machine that warms up, or is loaded more and more, changes all numbers with time. When such a trend shows
    /// within the sides, the change is what remains between two parallel lines through them (analysis of covariance, R.
    /// A. Fisher, 1932).
    private static func trend(_ before: [Double], _ after: [Double], _ moments: [Double]) -> Test? {
        let count = before.count + after.count
        guard moments.count == count, count >= 8 else { return nil }
        // What counts is the runs' order, not the pauses between them.
        let sorted = moments.sorted()
        let ranks = moments.map { moment in Double(sorted.firstIndex(of: moment)!) }
        let (x, u) = (Array(ranks[..<before.count]), Array(ranks[before.count...]))
        let spread = x.squaredDeviations + u.squaredDeviations
        guard spread > 0 else { return nil }
        let slope = (x.codeviations(before) + u.codeviations(after)) / spread
        let degrees = Double(count - 3)
        let rest = before.squaredDeviations + after.squaredDeviations - slope * slope * spread
        let variance = max(rest, 0) / degrees
        guard variance > 0,
            StudentT.twoSided(slope / (variance / spread).squareRoot(), degrees: degrees) < trendChance
        else { return nil }
        let distance = u.mean - x.mean
        let factor = 1 / Double(before.count) + 1 / Double(after.count) + distance * distance / spread
        return Test(
            change: after.mean - before.mean - slope * distance, error: (variance * factor).squareRoot(),
            degrees: degrees)
    }

    /// A slope counts as a trend when its chance is at most this. One trend too many costs only sharpness; a trend that
    /// is missed would be taken for a change.
    private static let trendChance = 0.25

    // MARK: Ranks

    /// Whether the order of the values alone speaks of a change, too, as far as so few values can. A mean may have
    /// moved only because a few values lie far off, and such a change is not believed.
    private static func ranksAgree(_ before: [Double], _ after: [Double]) -> Bool {
        RankTest.twoSided(before, after) <= max(doubt, RankTest.least(before.count, after.count) * 1.000001)
    }
}

extension [Double] {
    var mean: Double { reduce(0, +) / Double(count) }

    /// The sum of the squared distances from the mean.
    fileprivate var squaredDeviations: Double {
        let mean = self.mean
        return reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    }

    fileprivate func codeviations(_ others: [Double]) -> Double {
        let (mean, other) = (self.mean, others.mean)
        return zip(self, others).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - other) }
    }

    fileprivate var isConstant: Bool { allSatisfy { $0 == first } }
}
