internal import Glibc

/// Looks for all steps of a series at once, and asks chance how much it finds when the values come in another order.
///
/// The best divisions into parts (``Segmentation``) tell how much better one more step, or several, explain the values. The
/// same is asked of what is left of the values when the steps found so far are taken off, dealt out to the runs at random. Where
/// that is explained as well in more than a few of many deals, there is no further step. Such a test (E. J. G. Pitman, Journal
/// of the Royal Statistical Society Supplement 4, 1937; for steps D. S. Matteson and N. A. James, Journal of the American
/// Statistical Association 109, 2014) assumes nothing about the noise but that the runs' order does not matter to it: outliers,
/// and machines with two speeds, are in the deals as well.
struct StepSearch {
    struct Found {
        /// The first values of the new parts, in order.
        var steps: [Int] = []
        /// The largest share of deals that explained as much as the values did; at least 1 in ``StepSearch/deals``.
        var chance = 0.0
        /// The values without drift, and without outliers where these were taken out.
        var values: [Double] = []
    }

    /// How many deals are asked.
    static let deals = 500
    /// The most steps that are looked for at once.
    private static let most = 7
    /// What one more step has to gain, in units of the logarithm of the number of values: in one look for several, and beside
    /// drift. Chance gains about 2.
    private static let price = 3.0, priceBesideDrift = 3.5, priceOfDrift = 2.0

    private let hasOutliers: Bool
    private let least: Int
    private let limit: Double
    private var values: [Double]
    private var parts: Segmentation
    private let floor: Double

    /// - Parameters:
    ///   - series: at least six values.
    ///   - hasOutliers: whether to replace outliers. Then a part has at least three values, because two may be outliers.
    ///   - limit: the share of deals that may explain as much.
    init(_ series: [Double], hasOutliers: Bool, limit: Double) {
        self.hasOutliers = hasOutliers
        self.limit = limit
        least = hasOutliers ? 3 : 2
        // Sums of squares are exact to about this part.
        floor = 1e-12 * max(series.reduce(0) { $0 + $1 * $1 }, 1e-30)
        values = series
        parts = Segmentation([0, 0], most: 0, least: 1)
        parts = divided(series)
    }

    /// - Complexity: O(n²) for each deal; where nothing is to be found, few deals show it.
    mutating func found() -> Found {
        guard gain(parts.costs, 0).size > 0 else { return Found() }
        takeDriftOff()
        var found = Found()
        var random = Deals()
        while found.steps.count < parts.costs.count - 1 {
            let steps = found.steps.count
            let (size, upTo) = gain(parts.costs, steps)
            let share = IndependentShare.of(prepared(values), within: parts.bounds(upTo))
            guard size > 0, let chance = chance(of: size * share, steps, upTo, &random) else { break }
            found.steps = Array(parts.bounds(steps + 1).dropFirst().dropLast())
            found.chance = max(found.chance, chance)
        }
        found.values = prepared(values)
        return found
    }

    private func prepared(_ values: [Double]) -> [Double] { hasOutliers ? Outliers.replaced(in: values) : values }

    private func divided(_ values: [Double], most: Int = StepSearch.most) -> Segmentation {
        let n = values.count
        return Segmentation(prepared(values), most: min(most, n / least - 1, max(1, n / 2 - 2)), least: least)
    }

    // MARK: How much steps explain

    /// By how much further steps explain the values better than `steps` do, as twice the logarithm of the likelihood of normal
    /// noise, less the price of all but one of them; and the number of steps that explains most for its price.
    private func gain(_ costs: [Double], _ steps: Int, upTo: Int = .max) -> (size: Double, upTo: Int) {
        let n = Double(values.count)
        var best = (size: 0.0, upTo: steps + 1)
        for more in costs.indices where more > steps && more <= upTo {
            let size = misfit(costs, steps) - misfit(costs, more) - StepSearch.price * log(n) * Double(more - steps - 1)
            if size > best.size { best = (size, more) }
        }
        return best
    }

    private func misfit(_ costs: [Double], _ steps: Int, parameters: Int = 0) -> Double {
        let n = Double(values.count)
        return n * log((costs[steps] + floor) / max(1, n - 1 - Double(steps + parameters)))
    }

    // MARK: Chance

    /// The share of deals that gain as much; nil where it is beyond the limit.
    ///
    /// Few values have few orders. Where no more deals gain as much than so few orders explain, Student's test of the gain
    /// may decide, which then has to be `unsure` times as sure, because values need not be normal.
    private func chance(of size: Double, _ steps: Int, _ upTo: Int, _ random: inout Deals) -> Double? {
        let n = values.count, bounds = parts.bounds(steps)
        var level = [Double](repeating: 0, count: n)
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            let median = Percentile.median(Array(values[start..<end]))
            for place in start..<end { level[place] = median }
        }
        var rest = zip(values, level).map { $0 - $1 }
        let allowed = limit + 4 / waysToChoose(shortest(parts.bounds(upTo)), of: n)
        var (asked, reached) = (0, 0)
        while asked < StepSearch.deals, Double(reached) <= allowed * Double(StepSearch.deals) {
            random.deal(&rest)
            let costs = divided(zip(level, rest).map { $0 + $1 }, most: upTo).costs
            if gain(costs, steps, upTo: upTo).size >= size { reached += 1 }
            asked += 1
        }
        let share = Double(reached) / Double(StepSearch.deals)
        let least = 1 / Double(StepSearch.deals)
        if share <= limit { return max(share, least) }
        guard share <= allowed, student(size, steps) * StepSearch.unsure <= limit else { return nil }
        return limit
    }

    private static let unsure = 20.0

    private func shortest(_ bounds: [Int]) -> Int { zip(bounds, bounds.dropFirst()).map { $1 - $0 }.min()! }

    private func waysToChoose(_ part: Int, of whole: Int) -> Double {
        (0..<min(part, whole / 2)).reduce(1) { $0 * Double(whole - $1) / Double($1 + 1) }
    }

    /// The chance of such a gain from one more step in normal noise, times the number of places where it may be found.
    private func student(_ size: Double, _ steps: Int) -> Double {
        let n = Double(values.count), degrees = max(1, n - 2 - Double(steps))
        let square = (exp(size / n) * (degrees + 1) / degrees - 1) * degrees
        return StudentT.twoSided(max(0, square).squareRoot(), degrees: degrees) * n / 2
    }

    // MARK: Drift

    /// Takes a drift off the values, where a straight line with few steps explains them better than more steps do.
    private mutating func takeDriftOff() {
        let n = values.count, price = log(Double(n))
        func explained(_ parts: Segmentation, _ parameters: Int) -> (misfit: Double, steps: Int) {
            parts.costs.indices.map {
                (misfit(parts.costs, $0, parameters: parameters) + StepSearch.priceBesideDrift * price * Double($0), $0)
            }.min { $0.0 < $1.0 }!
        }
        var best = (misfit: explained(parts, 0).misfit, values: values, parts: parts)
        let clean = prepared(values)
        // Steps look like drift, and drift like steps: so there are several beginnings, each of which is made better.
        var slopes = (0...min(4, parts.costs.count - 1)).map { slope(clean, within: parts.bounds($0)) }
        for apart in [n / 4, n / 8] where apart >= 2 {
            slopes.append(Percentile.median((0..<(n - apart)).map { (clean[$0 + apart] - clean[$0]) / Double(apart) }))
        }
        for start in slopes {
            var slope = start
            for _ in 0..<3 {
                let level = values.indices.map { values[$0] - slope * Double($0) }
                let parts = divided(level)
                let (misfit, steps) = explained(parts, 1)
                if misfit + StepSearch.priceOfDrift * price < best.misfit {
                    best = (misfit + StepSearch.priceOfDrift * price, level, parts)
                }
                slope += self.slope(prepared(level), within: parts.bounds(steps))
            }
        }
        (values, parts) = (best.values, best.parts)
    }

    /// The slope, per value, that all parts between `bounds` have in common, by least squares.
    private func slope(_ values: [Double], within bounds: [Int]) -> Double {
        var products = 0.0, squares = 0.0
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            let mean = values[start..<end].reduce(0, +) / Double(end - start), middle = Double(start + end - 1) / 2
            for place in start..<end {
                products += (Double(place) - middle) * (values[place] - mean)
                squares += (Double(place) - middle) * (Double(place) - middle)
            }
        }
        return squares > 0 ? products / squares : 0
    }
}

/// Deals values out at random, the same way for the same values each time, so that an answer does not change when it is asked for
/// again: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
private struct Deals: RandomNumberGenerator {
    private var state: UInt64 = 42

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func deal(_ values: inout [Double]) {
        for place in stride(from: values.count - 1, to: 0, by: -1) {
            let other = Int(next().multipliedFullWidth(by: UInt64(place + 1)).high)
            values.swapAt(place, other)
        }
    }
}
