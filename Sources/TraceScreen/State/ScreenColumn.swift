internal import TraceAnalysis
internal import TraceText

/// A number of a line.
public enum ScreenColumn: String, CaseIterable, Sendable {
    case calls
    case total
    case `self`
    /// The part of the total in which threads waited.
    case blocked
    /// The part of all time that is in the line.
    case share = "%"
    /// The part of the time since the last look that was the function's own.
    case now = "now %"
    case average = "avg"
    case minimum = "min"
    case maximum = "max"
    case p50, p90, p99

    static let width = 10

    /// Those that a tree shows at first.
    static func ofTree(_ content: ScreenContent) -> [ScreenColumn] {
        [.total, .self] + (content.tellsWaits ? [.blocked] : []) + [.calls]
    }
    /// Those that a table shows at first.
    static func ofTable(_ content: ScreenContent) -> [ScreenColumn] {
        let all: [ScreenColumn] =
            (content.isLive ? [.now] : []) + [.calls, .total, .self] + (content.tellsWaits ? [.blocked] : [])
            + [.average, .minimum, .maximum, .p50, .p90, .p99]
        return all.filter(content.columns.contains)
    }

    /// Those that may give way to names, the first one first.
    private static let firstToGo: [ScreenColumn] = [
        .p50, .p90, .minimum, .maximum, .p99, .average, .share, .now, .calls, .blocked, .self, .total,
    ]

    /// Those of `columns` that leave names at least a third of a line.
    ///
    /// - Parameter kept: the one that lines are sorted by stays as long as any.
    static func fitting(_ columns: [ScreenColumn], in width: Int, keeping kept: ScreenColumn?) -> [ScreenColumn] {
        var columns = columns
        for column in firstToGo where width - columns.count * Self.width < max(24, width / 3) {
            if column != kept || columns.count > 1 { columns.removeAll { $0 == column && $0 != kept } }
        }
        return columns
    }

    /// What stands above the column.
    func heading(_ numbers: ScreenNumbers) -> String { self == .calls ? numbers.counted : rawValue }

    /// Whether the number takes a look at the durations of all calls.
    var needsPercentiles: Bool { [.p50, .p90, .p99].contains(self) }

    /// Returns the number that lines are sorted by, the greatest first.
    func value(of row: AggregateRow, _ numbers: ScreenNumbers) -> UInt64 {
        switch self {
        case .calls: row.calls
        case .total, .share: row.total
        case .self: row.selfTime
        case .blocked: row.blocked
        case .now: numbers.recent(row)
        case .average: row.average
        case .minimum: row.minimum
        case .maximum: row.maximum
        case .p50: row.percentiles.p50
        case .p90: row.percentiles.p90
        case .p99: row.percentiles.p99
        }
    }

    func write(_ row: AggregateRow, _ numbers: ScreenNumbers, to line: inout ScreenLine) {
        let value = value(of: row, numbers)
        switch self {
        case .calls: line.write(right: Self.count(value), width: Self.width)
        case .share: line.write(right: Self.percent(value, of: numbers.whole), width: Self.width)
        case .now:
            let style: ScreenStyle = Self.heat(value, of: numbers.interval)
            line.write(right: Self.percent(value, of: numbers.interval), width: Self.width, style)
        case .self:
            let style = Self.waits(row) ? .dim : Self.heat(row.selfRunning, of: numbers.whole)
            line.write(right: String(time: value), width: Self.width, style)
        default: line.write(right: String(time: value), width: Self.width)
        }
    }

    /// A number that leaves a space before it: without commas, or in millions, where it is large.
    private static func count(_ number: UInt64) -> String {
        let texts = [CountText.grouped(number), String(number), "\(CountText.grouped(number / 1_000_000)) M"]
        return texts.first { $0.utf8.count < width } ?? texts[2]
    }

    private static func percent(_ part: UInt64, of whole: UInt64) -> String {
        whole == 0 ? "–" : CountText.fixed(Double(part) / Double(whole) * 100, 1)
    }

    /// Whether a line's own time was mostly waiting, which does not stand out.
    static func waits(_ row: AggregateRow) -> Bool { row.selfBlocked > row.selfTime / 2 }

    /// How a time stands out that is a part of `whole`.
    private static func heat(_ time: UInt64, of whole: UInt64) -> ScreenStyle {
        guard whole > 0 else { return .plain }
        let share = Double(time) / Double(whole)
        return share >= 0.1 ? .hot : share >= 0.02 ? .warm : .plain
    }
}
