public import TraceAnalysis
public import TraceStatistics

/// Two sides of recorded runs, function by function and path by path.
///
/// Functions are the same when their name and their module's file name are (see ``ComparisonBuilder``); paths, when their
/// functions are.
public struct SessionComparison {
    public enum Metric: String, CaseIterable, Sendable { case calls, total, `self`, average = "avg" }

    /// What a row says in short.
    public enum Verdict: String, Sendable {
        /// The subject is there only after, or only before.
        case new, gone
        /// Its own time has changed beyond noise.
        case slower, faster
        /// Its number of calls has changed beyond noise.
        case calls
        /// Only what it calls has changed beyond noise.
        case callees
        /// No change beyond noise.
        case same
        /// Whether a change is noise cannot be told.
        case unknown
    }

    /// One number of a row. Times in ns.
    public struct Value: Sendable {
        public let sample: SampleComparison
        /// Whether the change is neither chance nor too small to matter.
        public fileprivate(set) var isBeyondNoise = false
        /// Why a change of repeated runs is not beyond noise; nil when it is, or there is none.
        public fileprivate(set) var doubt: Doubt?
        /// The chance that the change must not exceed, as one of many.
        fileprivate var chanceAllowed = 0.0

        /// About how many runs a side would settle the doubt; nil when more runs would not.
        ///
        /// - Complexity: a few hundred evaluations of Student's distribution.
        public var runsNeeded: Int? {
            doubt == .spread || doubt == .fewRuns ? sample.runsNeeded(for: chanceAllowed) : nil
        }
    }

    /// Why a change is not taken for one.
    public enum Doubt: String, CaseIterable, Sendable {
        /// The runs of a side differ as much as the sides do.
        case spread
        /// The change would be sure if it were the only one, but so many are compared that one such is to be expected by chance.
        case fewRuns = "few runs"
        /// Only a few runs, which lie far off the others, speak for it.
        case order
        /// The numbers drift with time, which explains it.
        case drift
        /// It is sure, but less than ``Options/threshold``.
        case small
    }

    public struct Row {
        /// Id of the function in ``SessionComparison/functions``; of a path, the innermost.
        public let function: UInt32
        /// Index of the path in ``SessionComparison/paths``; nil when the row is of a function.
        public let path: Int?
        public fileprivate(set) var calls: Value
        public fileprivate(set) var total: Value
        public fileprivate(set) var selfTime: Value
        public fileprivate(set) var average: Value
        public fileprivate(set) var verdict = Verdict.unknown

        public subscript(metric: Metric) -> Value {
            switch metric {
            case .calls: calls
            case .total: total
            case .self: selfTime
            case .average: average
            }
        }
    }

    public struct Options: Sendable {
        /// Changes smaller than this part of what was before do not matter, however sure they are.
        public var threshold = 0.01
        /// The greatest chance that, where nothing has changed, anything at all among the functions, among the paths,
        /// or of the whole is taken for a change.
        public var risk = 0.01

        public init() {}
    }

    /// The functions of both sides, as they are after if they are there.
    public let functions: FunctionTable
    /// The paths of both sides; a caller comes before its callees.
    public let paths: [(function: UInt32, parent: Int)]
    /// Runs on each side.
    public let runsBefore: Int
    public let runsAfter: Int
    public let functionRows: [Row]
    public let pathRows: [Row]
    /// The sums over all calls. The total is that of the roots. The average has no meaning and is never beyond noise.
    public let whole: Row

    /// Whether noise can be told: at least two runs a side.
    public var isRepeated: Bool { runsBefore >= 2 && runsAfter >= 2 }

    /// Whether anything is beyond noise.
    public var hasChanges: Bool {
        ([whole] + functionRows + pathRows).contains { row in Metric.allCases.contains { row[$0].isBeyondNoise } }
    }

    init(_ builder: ComparisonBuilder, options: Options) {
        functions = builder.functions
        paths = builder.paths
        runsBefore = builder.before.count
        runsAfter = builder.after.count
        functionRows = SessionComparison.rows(builder.functionNumbers, builder, options) { number in
            (UInt32(number), nil)
        }
        let paths = self.paths
        pathRows = SessionComparison.rows(builder.pathNumbers, builder, options) { (paths[$0].function, $0) }
        whole = SessionComparison.rows([builder.wholeNumbers], builder, options) { _ in (0, nil) }[0]
    }

    /// The rows of subjects, given the numbers of each in each run, those before first.
    private static func rows(
        _ subjects: [[RunNumbers]], _ builder: ComparisonBuilder, _ options: Options,
        name: (Int) -> (UInt32, Int?)
    ) -> [Row] {
        let split = builder.before.count
        let moments = builder.moments
        func value(_ runs: [RunNumbers], _ number: (RunNumbers) -> Double) -> Value {
            let all = runs.map(number)
            return Value(
                sample: SampleComparison(
                    before: Array(all[..<split]), after: Array(all[split...]), moments: moments))
        }
        var present: [(before: Int, after: Int)] = []
        var rows: [Row] = []
        for (number, runs) in subjects.enumerated() {
            let isThere = runs.map { $0.isPresent }
            let (before, after) = (isThere[..<split].count { $0 }, isThere[split...].count { $0 })
            // This is, say, a function that another module of the same name defines, and of which no call is left.
            guard before + after > 0 else { continue }
            let (function, path) = name(number)
            present.append((before, after))
            rows.append(
                Row(
                    function: function, path: path, calls: value(runs) { $0.calls }, total: value(runs) { $0.total },
                    selfTime: value(runs) { $0.selfTime }, average: value(runs) { $0.average }))
        }
        let isRepeated = split >= 2 && builder.after.count >= 2
        if isRepeated {
            // Half of the risk is dealt out by time, so that functions that take long need not show more evidence only
            // because a thousand short ones are compared, too. The other half is dealt out evenly.
            let times = rows.map { $0.selfTime.sample.before + $0.selfTime.sample.after }
            let sum = max(times.reduce(0, +), 1)
            let weights = times.map { $0 / sum + 1 / Double(max(rows.count, 1)) }
            judge(&rows, \.calls, weights, options)
            judge(&rows, \.total, weights, options)
            judge(&rows, \.selfTime, weights, options)
            judge(&rows, \.average, weights, options)
        }
        for index in rows.indices {
            let (before, after) = present[index]
            // When a subject is in only some of the runs of a side, that is a matter of chance.
            let isSure = before % split == 0 && after % builder.after.count == 0
            let isNew = before == 0 && isSure
            let isGone = after == 0 && isSure
            if isRepeated, isNew || isGone { rows[index].calls.isBeyondNoise = true }
            rows[index].verdict = verdict(of: rows[index], isNew: isNew, isGone: isGone, isRepeated: isRepeated)
        }
        return rows
    }

    private static func judge(
        _ rows: inout [Row], _ metric: WritableKeyPath<Row, Value>, _ weights: [Double], _ options: Options
    ) {
        let risk = options.risk / Double(Metric.allCases.count)
        let found = Significance.holm(
            rows.map { $0[keyPath: metric].sample.chance }, weights: weights, risk: risk)
        let weight = weights.reduce(0, +)
        for index in rows.indices {
            let sample = rows[index][keyPath: metric].sample
            // When it is certain that the number of calls has changed, the change matters however small it is.
            let matters = sample.chance == 0 && metric == \.calls || abs(sample.relativeChange) >= options.threshold
            rows[index][keyPath: metric].isBeyondNoise = found[index] && matters
            guard sample.change != 0, !(found[index] && matters) else { continue }
            rows[index][keyPath: metric].doubt = doubt(of: sample, isSure: found[index])
            rows[index][keyPath: metric].chanceAllowed = risk * weights[index] / weight
        }
    }

    private static func doubt(of sample: SampleComparison, isSure: Bool) -> Doubt {
        switch sample.objection {
        case _ where isSure: .small
        case .order: .order
        case .drift: .drift
        case nil: sample.isSureByItself ? .fewRuns : .spread
        }
    }

    private static func verdict(of row: Row, isNew: Bool, isGone: Bool, isRepeated: Bool) -> Verdict {
        if isNew { return .new }
        if isGone { return .gone }
        guard isRepeated else { return .unknown }
        if row.selfTime.isBeyondNoise { return row.selfTime.sample.change > 0 ? .slower : .faster }
        if row.calls.isBeyondNoise { return .calls }
        return row.total.isBeyondNoise ? .callees : .same
    }
}
