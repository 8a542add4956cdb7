/// Finds the places where a series of runs changes.
///
/// Candidates come from e-divisive means on overlapping windows, as in Hunter, now Apache Otava (M. Fleming, P.
/// Kołaczkowski and others, arXiv 2301.03034). A window is divided as long as a weak test agrees. Then candidates are
/// taken away, the least sure one first, until each that remains is sure between its neighbours. This differs from
/// Hunter in three ways: values far off all of their neighbours are moved to the edge of what is usual there; a
/// ``StepVote`` decides instead of one t-test; and the more places were looked at, the surer each change has to be.
public struct ChangeDetector: Sendable {
    /// A change is reported only if its chance is no greater.
    public var mostChance = 0.001
    /// The same for candidates.
    private let weakChance = 0.02
    /// How many runs are looked at together.
    public var window = 50
    /// The fewest runs between two changes.
    static let least = 3

    public init() {}

    /// The changes of `series`, in order.
    ///
    /// - Complexity: O(n · window), times the number of changes in a window.
    public func changes(of series: [Double]) -> [ChangePoint] {
        guard series.count >= 2 * ChangeDetector.least else { return [] }
        let values = ChangeDetector.withoutOutliers(series)
        var points = candidates(values)
        while !points.isEmpty {
            let chances = points.indices.map { chance(of: $0, points, values) }
            let weakest = chances.indices.max { chances[$0] < chances[$1] }!
            guard chances[weakest] > mostChance else {
                points = settled(points, values)
                return points.indices.map { place in
                    let (left, right) = parts(place, points, series.count)
                    return ChangePoint(
                        index: points[place], before: Percentile.median(Array(series[left])),
                        after: Percentile.median(Array(series[right])), chance: chances[place])
                }
            }
            points.remove(at: weakest)
        }
        return []
    }

    // MARK: Candidates

    private func candidates(_ values: [Double]) -> [Int] {
        var found: Set<Int> = []
        var start = 0
        while start < values.count {
            let end = min(start + window, values.count)
            let inside = divide(values[start..<end])
            found.formUnion(inside)
            if end == values.count { break }
            start = max(inside.max() ?? 0, start + window / 2)
        }
        return found.sorted()
    }

    /// Divides a window, and its parts, as long as the weak test agrees.
    private func divide(_ values: ArraySlice<Double>) -> [Int] {
        guard let split = EnergyDistance.bestSplit(of: values, least: ChangeDetector.least) else { return [] }
        let middle = values.startIndex + split
        let (left, right) = (values[..<middle], values[middle...])
        guard StepVote(Array(left), Array(right)).chance <= weakChance else { return [] }
        return divide(left) + [middle] + divide(right)
    }

    /// The values between a point's neighbours, before and after it.
    private func parts(_ place: Int, _ points: [Int], _ count: Int) -> (Range<Int>, Range<Int>) {
        let start = place == 0 ? 0 : points[place - 1]
        let end = place + 1 < points.count ? points[place + 1] : count
        return (start..<points[place], points[place]..<end)
    }

    private func chance(of place: Int, _ points: [Int], _ values: [Double]) -> Double {
        let (left, right) = parts(place, points, values.count)
        // A step need not be as old as the values before it.
        let near = left.suffix(2 * window), after = right.prefix(2 * window)
        let vote = StepVote(Array(values[near]), Array(values[after])).chance
        return vote * ChangeDetector.places(near.count + after.count)
    }

    /// How many independent places a search among `count` values is worth: neighbouring places divide nearly the same values, so
    /// there are far fewer than `count`.
    private static func places(_ count: Int) -> Double { max(1, Double(count) / 5) }

    /// Moves each point to where the values on either side are closest to their mean, which is where a step in normal noise most
    /// likely is. The energy distance finds that there is a step, but weighs the middle more than the ends.
    private func settled(_ points: [Int], _ values: [Double]) -> [Int] {
        var settled = points
        for place in settled.indices {
            let (left, right) = parts(place, settled, values.count)
            let part = ChangeDetector.within(Array(values[left]), Array(values[right]))
            guard let split = ChangeDetector.leastSquares(part) else { continue }
            let moved = left.lowerBound + split
            if abs(moved - points[place]) <= ChangeDetector.reach { settled[place] = moved }
        }
        return settled
    }

    /// The values of both parts. Those that lie more than half a standard deviation outside of both medians are moved
    /// to that edge: a few disturbed runs beside a step would move the step.
    private static func within(_ left: [Double], _ right: [Double]) -> [Double] {
        let (a, b) = (Percentile.median(left), Percentile.median(right))
        let spread = 1.4826 * Percentile.median(left.map { abs($0 - a) } + right.map { abs($0 - b) })
        let (low, high) = (min(a, b) - spread / 2, max(a, b) + spread / 2)
        return (left + right).map { min(max($0, low), high) }
    }

    /// How far a point may move.
    private static let reach = 5

    /// The split with the least sum of squared distances from the means of both parts.
    private static func leastSquares(_ values: [Double]) -> Int? {
        guard values.count >= 2 * least else { return nil }
        let whole = values.reduce(0, +)
        var sum = 0.0, best: (split: Int, size: Double)?
        for split in 1..<values.count {
            sum += values[split - 1]
            guard split >= least, values.count - split >= least else { continue }
            // The squares are least where the squares of the means, weighted, are most.
            let size = sum * sum / Double(split) + (whole - sum) * (whole - sum) / Double(values.count - split)
            if size > best?.size ?? -.infinity { best = (split, size) }
        }
        return best?.split
    }

    // MARK: Outliers

    /// Moves values that lie far off the median of their neighbours to the edge of what is usual there (F. R. Hampel,
    /// Journal of the American Statistical Association 69, 1974). At a step, the neighbours on both sides widen what is
    /// usual, so a step remains.
    static func withoutOutliers(_ series: [Double]) -> [Double] {
        return series.indices.map { index in
            let around = Array(series[max(0, index - reach)...min(series.count - 1, index + reach)])
            let median = Percentile.median(around)
            // 1.4826: what makes the median distance of normal values their standard deviation.
            let usual = 3 * 1.4826 * Percentile.median(around.map { abs($0 - median) })
            return usual > 0 ? min(max(series[index], median - usual), median + usual) : series[index]
        }
    }
}
