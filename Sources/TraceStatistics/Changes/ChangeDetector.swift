internal import Glibc

/// Finds the places where a series of runs changes.
///
/// All steps are looked for at once (``StepSearch``), twice: as the values are, and with outliers replaced. A step that is 1 of
/// 10 values away from an end, and several within ten values, can be found. What is taken for noise: runs far off their
/// neighbours, however far; a drift, which a straight line explains better than steps do; states between which runs change by
/// chance; and fewer than four runs after which the former level returns. Runs that are alike because they were made one after
/// another count for less.
public struct ChangeDetector: Sendable {
    /// A change is reported only if its chance is no greater.
    public var mostChance = 0.025
    /// How many runs are looked at together.
    public var window = 100
    /// The fewest runs of a series in which changes are looked for.
    static let leastRuns = 6
    /// For how many runs a level has to hold before the former one returns.
    static let longHold = 4

    /// Changes by less than this part have to be surer: noise is never wholly without order, and where there is next to none of it, its
    /// order looks like steps.
    private static let smallPart = 0.01, mostChanceOfSmall = 0.0001

    public init() {}

    /// The changes of `series`, in order.
    ///
    /// - Complexity: O(n · window), for each deal of ``StepSearch``.
    public func changes(of series: [Double]) -> [ChangePoint] {
        guard series.count >= ChangeDetector.leastRuns else { return [] }
        // Noise, steps and drift are parts of the whole, and so they are sums of logarithms.
        let isLogarithmic = series.allSatisfy { $0 > 0 }
        let values = isLogarithmic ? series.map { log($0) } : series
        var points: [Point] = []
        var start = 0
        while true {
            let end = min(start + window, values.count)
            let inside = found(in: Array(values[start..<end]), isLogarithmic: isLogarithmic)
            // Windows overlap, so that each step lies well inside one.
            points += inside.map { Point(index: $0.index + start, chance: $0.chance) }.filter { point in
                !points.contains { abs($0.index - point.index) <= ChangeDetector.longHold }
            }
            if end == values.count { break }
            start = max(points.last?.index ?? 0, min(start + window / 2, values.count - window))
        }
        points.sort { $0.index < $1.index }
        return points.indices.map { place in
            let from = place == 0 ? 0 : points[place - 1].index
            let to = place + 1 < points.count ? points[place + 1].index : series.count
            let index = points[place].index
            return ChangePoint(
                index: index, before: Percentile.median(Array(series[from..<index])),
                after: Percentile.median(Array(series[index..<to])), chance: points[place].chance)
        }
    }

    private struct Point {
        var index: Int
        var chance: Double
    }

    private func found(in values: [Double], isLogarithmic: Bool) -> [Point] {
        var plain = StepSearch(values, hasOutliers: false, limit: mostChance)
        var found = plain.found()
        let calm = Outliers.replaced(in: values)
        if calm != values {
            // Replacing outliers makes neighbours alike, so it has to find more, more surely, and what was found without.
            var without = StepSearch(values, hasOutliers: true, limit: mostChance / 5)
            let other = without.found()
            let hasAll = found.steps.allSatisfy { step in other.steps.contains { abs($0 - step) <= 1 } }
            if hasAll, other.steps.count > found.steps.count {
                found = other
            } else {
                found.steps = ChangeDetector.settled(found.steps, values, calm)
            }
        }
        func part(_ left: some Collection<Double>, _ right: some Collection<Double>) -> Double {
            let (before, after) = (Percentile.median(Array(left)), Percentile.median(Array(right)))
            return abs(isLogarithmic ? after - before : after.change(relativeTo: before))
        }
        var steps = ChangeDetector.lasting(found.steps, found.values)
        while true {
            let bounds = [0] + steps + [values.count]
            var points: [Point] = [], leastSure: (place: Int, chance: Double)?
            for (place, step) in steps.enumerated() {
                let (left, right) = (
                    Array(found.values[bounds[place]..<step]), Array(found.values[step..<bounds[place + 2]])
                )
                let places = max(1, Double(left.count + right.count) / 5)
                let chance = StepVote(left, right).chance * places
                points.append(Point(index: step, chance: min(chance, found.chance)))
                // Together with a drift, steps explain whatever goes up and begins again.
                let (before, after) = (Array(values[bounds[place]..<step]), Array(values[step..<bounds[place + 2]]))
                guard min(part(left, right), part(before.suffix(8), after.prefix(8))) < ChangeDetector.smallPart else {
                    continue
                }
                let asIs = StepVote(before, after).chance * places
                guard max(chance, asIs) > ChangeDetector.mostChanceOfSmall else { continue }
                if max(chance, asIs) > leastSure?.chance ?? 0 { leastSure = (place, max(chance, asIs)) }
            }
            guard let leastSure else { return points }
            steps.remove(at: leastSure.place)
        }
    }

    /// `steps`, where each that begins with an outlier, which has drawn it to itself, is moved by a few values to where the others
    /// are divided best.
    private static func settled(_ steps: [Int], _ values: [Double], _ calm: [Double]) -> [Int] {
        let bounds = [0] + steps + [values.count]
        return steps.enumerated().map { place, step in
            let (from, to) = (bounds[place], bounds[place + 2])
            guard calm[step] != values[step], step + 1 < to, calm[step + 1] == values[step + 1] else { return step }
            let best = from + Segmentation(Array(calm[from..<to]), most: 1, least: 2).bounds(1)[1]
            return abs(best - step) <= longHold + 1 ? best : step
        }
    }

    /// `steps` without those to a level that holds for a few values only, after which the former one returns.
    private static func lasting(_ steps: [Int], _ values: [Double]) -> [Int] {
        var steps = steps, place = 0
        while place + 1 < steps.count {
            let (start, end) = (steps[place], steps[place + 1])
            let from = place == 0 ? 0 : steps[place - 1], to = place + 2 < steps.count ? steps[place + 2] : values.count
            let before = Percentile.median(Array(values[from..<start])),
                after = Percentile.median(Array(values[end..<to]))
            let between = Percentile.median(Array(values[start..<end]))
            if end - start < longHold, abs(after - before) <= abs(between - (before + after) / 2) / 4 {
                steps.removeSubrange(place...(place + 1))
                place = max(0, place - 1)
            } else {
                place += 1
            }
        }
        return steps
    }
}
