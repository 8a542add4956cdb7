internal import TraceAnalysis
internal import TraceFindings
internal import TraceStatistics

/// Why changes of repeated runs are called noise, and what would settle each doubt.
struct NoiseLegend {
    /// A line for each doubt that there is.
    let lines: [String]

    /// - Parameter rows: of all subjects that are long enough, shown or not.
    /// - Complexity: O(rows).
    init(_ rows: [SessionComparison.Row], _ comparison: SessionComparison) {
        lines = SessionComparison.Doubt.allCases.compactMap { doubt in
            let doubted = rows.filter { $0.verdict == .same && $0.doubted.doubt == doubt }
            // The one that more evidence would tell most of.
            let largest = doubted.max { abs($0.doubted.sample.change) < abs($1.doubted.sample.change) }
            guard let largest else { return nil }
            let line = "\(doubt.rawValue) (\(doubted.count)): \(doubt.reason)"
            guard let remedy = doubt.remedy else { return line }
            return "\(line); \(remedy) would tell" + NoiseLegend.runs(largest, comparison)
        }
    }

    private static func runs(_ row: SessionComparison.Row, _ comparison: SessionComparison) -> String {
        guard let runs = row.doubted.runsNeeded else { return "" }
        let change = DiffReport.percent(row.doubted.sample.relativeChange)
        let name = comparison.functions[row.function].name
        return ": about \(runs) a side for \(name)\(change.isEmpty ? "" : ", \(change)")"
    }
}

extension SessionComparison.Row {
    /// The number that decides whether the row is called the same: its own time, or else what else has changed.
    var doubted: SessionComparison.Value {
        [selfTime, total, calls, average].first { $0.doubt != nil } ?? selfTime
    }
}

extension SessionComparison.Doubt {
    /// Why a change is not taken for one.
    var reason: String {
        switch self {
        case .spread: "the runs of one side differ as much as the sides do"
        case .fewRuns: "so few runs may differ as much by chance"
        case .order: "only a few runs, far off the others, speak for a change"
        case .drift: "the numbers drift from run to run, which explains the change"
        case .small: "the change is less than --threshold"
        }
    }

    /// What would settle it; nil when it is no question of evidence.
    fileprivate var remedy: String? {
        switch self {
        case .spread: "more runs or an idle machine"
        case .fewRuns: "more runs"
        case .order: "an idle machine"
        case .drift: "runs by turns, A B A B,"
        case .small: nil
        }
    }
}
