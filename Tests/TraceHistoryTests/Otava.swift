@testable import TraceAnalysis

/// The algorithm of Hunter, now Apache Otava, as its paper describes it (arXiv 2301.03034): e-divisive means in overlapping windows
/// with Student's t-test in place of permutations, a first pass with a tenfold limit, and then the weakest points are taken away
/// until all are under the limit. It is what ``ChangeDetector`` is compared with, and shares no code with it but the t distribution.
enum Otava {
    /// Numbers of a run each of TigerBeetle's benchmark, of which Otava's tests have more
    /// (https://github.com/apache/otava, `tests/deterministic_tigerbeetle_test.py`, Apache License 2.0).
    static let tigerBeetle: [Double] = [
        26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460, 26977,
        26851, 23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588, 23687, 23793,
        23937, 23715, 23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681, 23798, 23728, 23604,
        23523, 23412, 23685, 23773, 23771, 23718, 23409, 23739, 23674, 23597, 23682, 23680, 23711, 23660,
        23990, 23938, 23742, 23703, 23536, 24363, 24414, 24483, 24509, 24944, 24235, 24560, 24236, 24667,
        24730, 28346, 28437, 28436, 28057, 28217, 28456, 28427, 28398, 28250, 28331, 28222, 28726, 28578,
        28345, 28274, 28514, 28590, 28449, 28305, 28411, 28788, 28404, 28821, 28580, 27483, 26805, 27487,
        27124, 26898, 27295, 26951, 27312, 27660, 27154, 27050, 26989, 27193, 27503, 27326,
    ]

    static func changes(_ series: [Double], window: Int = 50, limit: Double = 0.001) -> [Int] {
        var points: Set<Int> = []
        var start = 0
        while start < series.count {
            let end = min(start + window, series.count)
            let found = divide(series, start..<end, limit * 10)
            points.formUnion(found)
            start = max(found.max() ?? 0, start + window / 2)
        }
        var left = points.sorted()
        while !left.isEmpty {
            let chances = left.indices.map { place in
                let before = place == 0 ? 0 : left[place - 1]
                let after = place + 1 < left.count ? left[place + 1] : series.count
                return chance(series[before..<left[place]], series[left[place]..<after])
            }
            let weakest = chances.indices.max { chances[$0] < chances[$1] }!
            if chances[weakest] < limit { break }
            left.remove(at: weakest)
        }
        return left
    }

    private static func divide(_ series: [Double], _ range: Range<Int>, _ limit: Double) -> [Int] {
        var points: [Int] = []
        while true {
            let ends = [range.lowerBound] + points.sorted() + [range.upperBound]
            let candidates = zip(ends, ends.dropFirst()).compactMap { from, to in
                best(series, from..<to).map { (at: $0.at, size: $0.size, part: from..<to) }
            }
            guard let best = candidates.max(by: { $0.size < $1.size }),
                chance(series[best.part.lowerBound..<best.at], series[best.at..<best.part.upperBound]) < limit
            else { return points }
            points.append(best.at)
        }
    }

    /// The split with the largest q, the weighted energy distance of Matteson and James.
    private static func best(_ series: [Double], _ part: Range<Int>) -> (at: Int, size: Double)? {
        guard part.count >= 5 else { return nil }
        var all = 0.0
        for i in part { for j in part where j > i { all += abs(series[i] - series[j]) } }
        var found: (at: Int, size: Double)?
        var within = (left: 0.0, right: all)
        for value in part.lowerBound..<(part.upperBound - 2) {
            // `value` moves to the left side.
            for j in part.lowerBound..<value { within.left += abs(series[j] - series[value]) }
            for j in (value + 1)..<part.upperBound { within.right -= abs(series[j] - series[value]) }
            let at = value + 1
            let (n, m) = (Double(at - part.lowerBound), Double(part.upperBound - at))
            guard n >= 2, m >= 2 else { continue }
            let between = all - within.left - within.right
            let q =
                (2 * between / (n * m) - 2 * within.left / (n * (n - 1)) - 2 * within.right / (m * (m - 1))) * n * m
                / (n + m)
            if found == nil || q > found!.size { found = (at, q) }
        }
        return found
    }

    /// Student's t-test with one variance.
    private static func chance(_ left: ArraySlice<Double>, _ right: ArraySlice<Double>) -> Double {
        let (n, m) = (Double(left.count), Double(right.count))
        guard n + m > 2 else { return 1 }
        let (a, b) = (left.reduce(0, +) / n, right.reduce(0, +) / m)
        let squares = left.reduce(0) { $0 + ($1 - a) * ($1 - a) } + right.reduce(0) { $0 + ($1 - b) * ($1 - b) }
        guard squares > 0 else { return a == b ? 1 : 0 }
        let error = (squares / (n + m - 2) * (1 / n + 1 / m)).squareRoot()
        return StudentT.twoSided((a - b) / error, degrees: n + m - 2)
    }
}
