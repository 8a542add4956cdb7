internal import TraceAnalysis
internal import TraceStatistics

/// Looks for changes of functions in runs.
struct ChangeSearch {
    typealias Change = HistoryChanges.Change
    typealias Numbers = HistoryChanges.Numbers

    /// The numbers of one function, by run.
    struct Series {
        var calls: [Double]
        var own: [Double]
        var total: [Double]

        init(count: Int) {
            calls = [Double](repeating: 0, count: count)
            own = calls
            total = calls
        }
    }

    private let store: HistoryStore
    private let runs: [HistoryRun]
    private let options: HistoryChanges.Options
    private let catalog: PathCatalog
    private var series: [Series?]
    /// Changes of the run as a whole, however sure.
    private let wholePoints: [ChangePoint]

    init(_ store: HistoryStore, _ runs: [HistoryRun], _ options: HistoryChanges.Options) throws(HistoryError) {
        self.store = store
        self.runs = runs
        self.options = options
        let catalog = try store.catalog(paths: true)
        self.catalog = catalog
        var series = [Series?](repeating: nil, count: catalog.functions.count)
        var places: [Int64: Int] = [:]
        for (place, run) in runs.enumerated() { places[run.id] = place }
        try store.forEachFunction(of: Set(places.keys)) { function, run, sums in
            guard Int(function) < series.count, let place = places[run] else { return }
            if series[Int(function)] == nil { series[Int(function)] = Series(count: runs.count) }
            series[Int(function)]!.calls[place] = Double(sums.calls)
            series[Int(function)]!.own[place] = Double(sums.selfTime)
            series[Int(function)]!.total[place] = Double(sums.total)
        }
        self.series = series
        let least = options.threshold
        wholePoints =
            runs.count >= HistoryChanges.leastRuns && runs.allSatisfy(\.mode.hasTimes)
            ? ChangeDetector().changes(of: runs.map { Double($0.total) }).filter { abs($0.relativeChange) >= least }
            : []
    }

    /// What changed in the run as a whole, in what else is known of it, and in which functions.
    func changes() throws(HistoryError) -> (
        whole: [ChangePoint], measures: [HistoryChanges.MeasureChange], functions: [Change]
    ) {
        let ofCalls = try callChanges()
        let (whole, measures, times) = try timeChanges()
        let ofTimes = times.filter { change in
            // Where the function's calls changed, too, the change of calls is enough.
            !ofCalls.contains { $0.function == change.function && abs($0.index - change.index) <= 1 }
        }
        func isBefore(_ left: Change, _ right: Change) -> Bool {
            let costs = (abs(left.total.change), abs(right.total.change))
            return costs.0 != costs.1 ? costs.0 > costs.1 : abs(left.calls.change) > abs(right.calls.change)
        }
        return (
            whole, measures, ofCalls.sorted(by: isBefore) + ofTimes.sorted { abs($0.own.change) > abs($1.own.change) }
        )
    }

    // MARK: Calls

    /// Where the number of calls changes of functions that otherwise are called equally often in run after run.
    private func callChanges() throws(HistoryError) -> [Change] {
        guard runs.count >= HistoryChanges.leastRunsOfCalls, runs.allSatisfy(\.mode.isExact) else { return [] }
        var changed: [Int: [Int]] = [:]
        for (function, series) in series.enumerated() {
            guard let series, let steps = ChangeSearch.steps(of: series.calls) else { continue }
            for step in steps { changed[step, default: []].append(function) }
        }
        var changes: [Change] = []
        for (index, functions) in changed.sorted(by: { $0.key < $1.key }) {
            let origins = try origins(at: index, among: functions)
            for (origin, followers) in origins { changes.append(callChange(origin, followers, at: index)) }
        }
        return changes
    }

    /// The places where exact numbers change; nil when the numbers vary by themselves. Numbers are exact when each
    /// holds for at least two runs, except for the last one, which may be new. When an earlier number returns, those in
    /// between have to hold for longer: where calls depend on addresses, another number may come twice in a row by
    /// chance.
    static func steps(of values: [Double]) -> [Int]? {
        let steps = values.indices.dropFirst().filter { values[$0] != values[$0 - 1] }
        guard !steps.isEmpty else { return [] }
        let bounds = [0] + steps
        let holds = zip(bounds, bounds.dropFirst()).allSatisfy { $1 - $0 >= 2 }
        // What lies between a number and its return.
        let kinds = bounds.map { values[$0] }, ends = steps + [values.count]
        let holdsFor = zip(bounds, ends).map { $1 - $0 }
        for place in kinds.indices.dropFirst(2) {
            guard let before = kinds[..<place].lastIndex(of: kinds[place]) else { continue }
            if holdsFor[(before + 1)..<place].contains(where: { $0 < longHold }) { return nil }
        }
        // With so many steps, equal neighbours are chance.
        return holds && steps.count * 4 <= values.count + 3 ? steps : nil
    }

    /// For how many runs a number has to hold before an earlier one returns.
    private static let longHold = 4

    /// The functions at which a change begins: they are called more or less often, although their callers are called as
    /// often as before. Each comes with the functions that follow it, because it calls them.
    private func origins(
        at index: Int, among functions: [Int]
    ) throws(HistoryError) -> [(origin: Int, followers: [Int])] {
        let (before, after) = (try pathCalls(of: runs[index - 1].id), try pathCalls(of: runs[index].id))
        let isChanged = Set(functions)
        // By path: the function at which the change above it begins.
        var origin = [Int?](repeating: nil, count: catalog.paths.count)
        var followers: [Int: Set<Int>] = [:]
        var isOrigin: Set<Int> = []
        for id in catalog.paths.indices where before[id] != after[id] {
            let path = catalog.paths[id], function = Int(path.function)
            let above = path.caller == 0 ? nil : origin[Int(path.caller - 1)]
            origin[id] = above ?? function
            if let above {
                if above != function, isChanged.contains(function) { followers[above, default: []].insert(function) }
            } else if isChanged.contains(function) {
                isOrigin.insert(function)
            }
        }
        // A function may begin a change on one path and follow it on another. And one whose changes on several paths add up to
        // nothing has not changed, but what it calls may have.
        let explained = Set(isOrigin.flatMap { followers[$0] ?? [] }).union(isOrigin)
        let unexplained = functions.filter { !explained.contains($0) }
        return (isOrigin.sorted() + unexplained).map { function in
            (function, (followers[function] ?? []).subtracting(isOrigin).sorted())
        }
    }

    private func pathCalls(of run: Int64) throws(HistoryError) -> [UInt64] {
        var calls = [UInt64](repeating: 0, count: catalog.paths.count)
        try store.forEachPath(of: run) { id, sums in if Int(id) < calls.count { calls[Int(id)] = sums.calls } }
        return calls
    }

    private func callChange(_ function: Int, _ followers: [Int], at index: Int) -> Change {
        let steps = ChangeSearch.steps(of: series[function]!.calls) ?? [index]
        let place = steps.firstIndex(of: index) ?? 0
        let left = (place == 0 ? 0 : steps[place - 1])..<index
        let right = index..<(place + 1 < steps.count ? steps[place + 1] : runs.count)
        let follow = followers.map { follower(Int($0), left, right) }
            .sorted { abs($0.total.change) > abs($1.total.change) }
        return change(function, at: index, left, right, isOfCalls: true, chance: 0, followers: follow)
    }

    // MARK: Times

    /// The measures that all runs have, and where they change by enough to matter, however sure.
    private func measurePoints(_ least: Double) throws(HistoryError) -> [HistoryChanges.MeasureChange] {
        var found: [HistoryChanges.MeasureChange] = []
        for measure in try store.measures() {
            let values = try store.values(of: measure)
            let series = runs.compactMap { values[$0.id] }
            guard series.count == runs.count else { continue }
            let points = ChangeDetector().changes(of: series).filter {
                abs($0.relativeChange) >= options.threshold && (!measure.isTime || abs($0.change) >= least)
            }
            found.append(HistoryChanges.MeasureChange(measure: measure, points: points))
        }
        return found
    }

    private func timeChanges() throws(HistoryError) -> (
        whole: [ChangePoint], measures: [HistoryChanges.MeasureChange], functions: [Change]
    ) {
        guard runs.count >= HistoryChanges.leastRuns else { return ([], [], []) }
        let hasTimes = runs.allSatisfy(\.mode.hasTimes)
        let least = hasTimes ? options.leastShare * Percentile.median(runs.map { Double($0.total) }) : 0
        let measures = try measurePoints(least)
        var found: [(function: Int, points: [ChangePoint])] = []
        for (function, series) in series.enumerated() where hasTimes {
            // Several runs must have this much time. One disturbed run is not enough.
            guard let series, series.own.sorted(by: >)[2] >= least else { continue }
            found.append((function, ChangeDetector().changes(of: series.own)))
        }
        // A function counts by the surest of its changes, and so do the run as a whole and its measures: they are more series.
        let kept = FalseDiscovery.kept(
            (found.map(\.points) + measures.map(\.points) + [wholePoints]).map { $0.map(\.chance).min() ?? 1 },
            rate: options.falseRate)
        func sure(_ points: [ChangePoint]) -> [ChangePoint] { points.filter { $0.chance <= options.falseRate } }
        let whole = kept.last! ? sure(wholePoints) : []
        let changed = measures.enumerated().compactMap { place, one in
            let points = kept[found.count + place] ? sure(one.points) : []
            return points.isEmpty ? nil : HistoryChanges.MeasureChange(measure: one.measure, points: points)
        }
        var changes: [Change] = []
        for (place, (function, points)) in found.enumerated() where kept[place] {
            for (number, point) in points.enumerated() {
                let isLarge =
                    abs(point.relativeChange) >= options.threshold && abs(point.change) >= least
                guard isLarge, point.chance <= options.falseRate else { continue }
                let left = (number == 0 ? 0 : points[number - 1].index)..<point.index
                let right = point.index..<(number + 1 < points.count ? points[number + 1].index : runs.count)
                let own = point.change
                let callers = callers(of: function).map { follower($0, left, right) }
                    .filter { $0.total.change * own > 0 && abs($0.total.change) >= abs(own) / 2 }
                    .sorted { abs($0.total.change) > abs($1.total.change) }
                changes.append(
                    change(
                        function, at: point.index, left, right, isOfCalls: false, chance: point.chance,
                        followers: callers))
            }
        }
        return (whole, changed, changes)
    }

    /// The functions that call `function`, or that call what calls it.
    private func callers(of function: Int) -> [Int] {
        var leads = [Bool](repeating: false, count: catalog.paths.count)
        var callers: Set<Int> = []
        for id in catalog.paths.indices.reversed() {
            let path = catalog.paths[id]
            guard leads[id] || Int(path.function) == function else { continue }
            if Int(path.function) != function { callers.insert(Int(path.function)) }
            if path.caller != 0 { leads[Int(path.caller - 1)] = true }
        }
        return callers.filter { series[$0] != nil }.sorted()
    }

    // MARK: Numbers

    private func follower(_ function: Int, _ left: Range<Int>, _ right: Range<Int>) -> HistoryChanges.Follower {
        HistoryChanges.Follower(
            function: catalog.functions[function], calls: numbers(function, \.calls, left, right),
            total: numbers(function, \.total, left, right))
    }

    private func change(
        _ function: Int, at index: Int, _ left: Range<Int>, _ right: Range<Int>, isOfCalls: Bool, chance: Double,
        followers: [HistoryChanges.Follower]
    ) -> Change {
        Change(
            function: catalog.functions[function], index: index, calls: numbers(function, \.calls, left, right),
            own: numbers(function, \.own, left, right), total: numbers(function, \.total, left, right),
            isOfCalls: isOfCalls, chance: chance, followers: followers)
    }

    private func numbers(
        _ function: Int, _ number: KeyPath<Series, [Double]>, _ left: Range<Int>, _ right: Range<Int>
    ) -> Numbers {
        guard let values = series[function]?[keyPath: number] else { return Numbers(before: 0, after: 0) }
        return Numbers(
            before: Percentile.median(Array(values[left])), after: Percentile.median(Array(values[right])))
    }
}
