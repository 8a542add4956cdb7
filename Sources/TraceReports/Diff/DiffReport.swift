internal import TraceAnalysis
internal import TraceFile
public import TraceFindings
internal import TraceStatistics
public import TraceText

/// What has changed between two sides of runs, sorted and ready to be written.
public struct DiffReport: Report {
    public enum Subject: String, CaseIterable, Sendable { case function, path }

    public enum Format: String, CaseIterable, Sendable { case text, json, markdown }

    /// What rows are sorted by. Numbers sort by how far they changed, up or down, the furthest first.
    public enum Order: String, CaseIterable, Sendable {
        /// First what has itself changed beyond noise, by own time; then what only calls such functions; then the rest.
        case change
        case calls, total, `self`, name
    }

    public struct Options: Sendable {
        public var subject = Subject.function
        public var order = Order.change
        /// Rows to show.
        public var limit = Int.max
        /// Also rows without a change, or without one beyond noise.
        public var showsAll = false
        /// In ns: rows with less total time than this on both sides are left out.
        public var minCost: UInt64 = 0
        /// Rows of these functions are not, by their ids.
        public var kept: Set<UInt32> = []
        /// The part of the time that is compared; nil: all of it.
        public var part: String?
        /// How the text is laid out.
        public var layout = TextLayout()

        public init() {}
    }

    let comparison: SessionComparison
    let options: Options
    let rows: [SessionComparison.Row]
    /// The number of rows beyond the limit.
    let moreRows: Int
    /// Rows without a change that matters.
    let sameRows: Int
    /// Rows that are not shown although their number of calls has changed.
    let hiddenCallChanges: Int
    /// Why what is no change beyond noise is none.
    let noise: NoiseLegend

    public init(_ comparison: SessionComparison, options: Options) {
        self.comparison = comparison
        self.options = options
        let all = options.subject == .function ? comparison.functionRows : comparison.pathRows
        let long = all.filter {
            max($0.total.sample.before, $0.total.sample.after) >= Double(options.minCost)
                || options.kept.contains($0.function)
        }
        let changed = options.showsAll ? long : long.filter(DiffReport.hasChanged)
        let sorted = DiffReport.sort(changed, options.order, comparison)
        rows = Array(sorted.prefix(options.limit))
        moreRows = sorted.count - rows.count
        sameRows = long.count - changed.count
        let otherCalls = all.count { DiffReport.hasOtherCalls($0, comparison) }
        hiddenCallChanges = otherCalls - rows.count { DiffReport.hasOtherCalls($0, comparison) }
        noise = NoiseLegend(long, comparison)
    }

    /// Whether the number of calls has changed, and not by chance as far as is known.
    private static func hasOtherCalls(_ row: SessionComparison.Row, _ comparison: SessionComparison) -> Bool {
        comparison.isRepeated ? row.calls.isBeyondNoise : row.calls.sample.change != 0
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .markdown: writeMarkdown(to: writer)
        }
    }

    private static func hasChanged(_ row: SessionComparison.Row) -> Bool {
        switch row.verdict {
        case .same: false
        case .unknown: SessionComparison.Metric.allCases.contains { row[$0].sample.change != 0 }
        default: true
        }
    }

    // MARK: Subjects

    /// Names of the functions of a row's path, the root's first. A function's row has only its own name.
    func names(of row: SessionComparison.Row) -> [String] { DiffReport.names(of: row, comparison) }

    private static func names(of row: SessionComparison.Row, _ comparison: SessionComparison) -> [String] {
        guard var path = row.path else { return [comparison.functions[row.function].name] }
        var names: [String] = []
        while path >= 0 {
            names.append(comparison.functions[comparison.paths[path].function].name)
            path = comparison.paths[path].parent
        }
        return names.reversed()
    }

    // MARK: Order

    /// How much a row tells by itself; 0 is the most.
    private static func rank(_ row: SessionComparison.Row) -> Int {
        switch row.verdict {
        case .slower, .faster, .new, .gone, .calls, .unknown: 0
        case .callees: 1
        case .same: 2
        }
    }

    private static func sort(
        _ rows: [SessionComparison.Row], _ order: Order, _ comparison: SessionComparison
    ) -> [SessionComparison.Row] {
        func distance(_ metric: SessionComparison.Metric) -> (SessionComparison.Row) -> Double {
            { -abs($0[metric].sample.change) }
        }
        func sorted<Key: Comparable>(_ key: (SessionComparison.Row) -> Key) -> [SessionComparison.Row] {
            let keys = rows.map(key)
            return rows.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { rows[$0] }
        }
        switch order {
        case .calls: return sorted(distance(.calls))
        case .total: return sorted(distance(.total))
        case .self: return sorted(distance(.self))
        case .name: return sorted { names(of: $0, comparison).joined(separator: ";") }
        case .change:
            let keys = rows.map { row in
                (rank(row), distance(row.verdict == .callees ? .total : .self)(row), distance(.calls)(row))
            }
            return rows.indices.sorted {
                keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1]
            }.map { rows[$0] }
        }
    }
}

extension DiffReport {
    /// What grows by more than `limit`, in one line, or nil when nothing does.
    public static func excess(of limit: ChangeLimit, in comparison: SessionComparison) -> String? {
        let rows = sort(
            limit.exceeded(in: comparison), limit.metric == .calls ? .calls : limit.metric == .self ? .self : .total,
            comparison)
        guard let worst = rows.first else { return nil }
        let sample = worst[limit.metric].sample
        func amount(_ number: Double) -> String {
            limit.metric == .calls ? self.number(number) + " calls" : String(time: nanoseconds(number))
        }
        let part = percent(sample.relativeChange)
        let name = limit.isOfWhole ? "all" : comparison.functions[worst.function].name
        return "over the limit '\(limit.expression)': \(name), \(amount(sample.before)) → \(amount(sample.after))"
            + (part.isEmpty ? "" : ", \(part)") + (rows.count > 1 ? ", and \(rows.count - 1) more" : "")
    }
}
