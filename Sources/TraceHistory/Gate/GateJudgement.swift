internal import TraceStatistics

/// Whether a candidate's times are worse than a baseline's by more than a limit, by a percentile of each.
///
/// Each percentile lies between two order statistics, its bounds, whatever the noise is
/// (``Percentile/bounds(of:_:confidence:)``). A candidate is worse when its lower bound exceeds the baseline's upper
/// bound by more than the limit. It is fine when its upper bound exceeds the baseline's lower bound by no more than the
/// limit. Otherwise nobody can tell yet. Each further look gives chance another opportunity. So the k-th look may err
/// only with 1 / (k · (k + 1)) of the whole risk; these parts add up to at most all of it.
public struct GateJudgement: Sendable {
    public enum Verdict: String, Sendable { case fine, worse, unknown }

    /// A percentile and its bounds. The bounds are nil when there are too few runs to know them.
    public struct Estimate: Sendable, Equatable {
        public var runs: Int
        public var value: Double
        public var lower: Double?
        public var upper: Double?
    }

    public let baseline: Estimate
    public let candidate: Estimate
    public let verdict: Verdict
    /// About how many runs of each side a verdict needs. Nil when there is a verdict, or when it would take more runs
    /// than anybody would make.
    public let runsNeeded: Int?

    /// The chance that a verdict is wrong, over all looks.
    public static let risk = 0.05
    private static let mostRuns = 10_000

    /// - Parameters:
    ///   - baseline: not empty; nor is `candidate`.
    ///   - percent: which percentile.
    ///   - limit: how much more the candidate may take: 0.05 is 5 %.
    ///   - look: how often the runs have been judged, this time included.
    public init(baseline: [Double], candidate: [Double], percent: Double, limit: Double, look: Int) {
        let doubt = GateJudgement.doubt(atLook: look)
        func estimate(_ values: [Double]) -> Estimate {
            let (lower, upper) = Percentile.bounds(of: values, percent, confidence: 1 - 2 * doubt)
            return Estimate(
                runs: values.count, value: NearestRank.value(of: values.sorted(), percent), lower: lower,
                upper: upper)
        }
        let (before, after) = (estimate(baseline), estimate(candidate))
        self.baseline = before
        self.candidate = after
        let factor = 1 + limit
        if let least = after.lower, let most = before.upper, least > most * factor {
            verdict = .worse
        } else if let most = after.upper, let least = before.lower, most <= least * factor {
            verdict = .fine
        } else {
            verdict = .unknown
        }
        runsNeeded = verdict == .unknown ? GateJudgement.needed(before, after, percent, factor, doubt) : nil
    }

    /// The chance that one bound may be wrong. A verdict rests on two bounds.
    static func doubt(atLook look: Int) -> Double { risk / Double(look * (look + 1)) / 2 }

    /// The number of runs of each side for the look after the one at `count`, which may find something new.
    public static func nextLook(after count: Int, look: Int, percent: Double) -> Int {
        let least = Percentile.leastCount(percent, doubt: doubt(atLook: look + 1))
        return count == 0 ? least : max(least, (count * 3 + 1) / 2)
    }

    /// The bounds come closer to the values with the square root of the number of runs. They tell as soon as they are
    /// as close as the values are to the limit.
    private static func needed(
        _ before: Estimate, _ after: Estimate, _ percent: Double, _ factor: Double, _ doubt: Double
    ) -> Int? {
        let least = Percentile.leastCount(percent, doubt: doubt)
        guard let lower = before.lower, let upper = before.upper, let low = after.lower, let high = after.upper else {
            return least
        }
        let distance = abs(after.value - before.value * factor)
        let width =
            after.value > before.value * factor
            ? after.value - low + (upper - before.value) * factor
            : high - after.value + (before.value - lower) * factor
        guard distance > 0 else { return nil }
        let runs = Double(min(before.runs, after.runs))
        let needed = (runs * (width / distance) * (width / distance)).rounded(.up)
        return needed < Double(mostRuns) ? max(Int(needed), least, Int(runs) + 1) : nil
    }
}
