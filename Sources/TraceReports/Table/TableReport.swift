public import TraceAnalysis
internal import TraceFile
public import TraceText

/// A table of what calls add up to, sorted and ready to be written.
public struct TableReport: Report {
    public enum Format: String, CaseIterable, Sendable { case text, json, csv }

    let kind: SummedRows.Kind
    /// What is shown, in order.
    let rows: Rows
    /// What is shown, and what is beyond the limit.
    let allRows: Rows
    let layout: TextLayout
    /// Where calls are samples of the stacks, the time that a sample stands for, in ns.
    let samplePeriod: UInt64?
    var times: TimesText { TimesText(sums.cost, samplePeriod: samplePeriod, areKept: keepsTimes) }
    /// Callees that the record options left out.
    var dropped: CallSum { sums.dropped }
    var functions: FunctionTable { sums.functions }
    /// Whether any row has time; none has where calls were only counted.
    let keepsTimes: Bool
    let order: ReportOrder
    let split: SplitTimes
    private let sums: SummedRows

    /// Rows that are made when they are asked for.
    struct Rows: RandomAccessCollection {
        let count: Int
        fileprivate let row: (Int, Bool) -> AggregateRow

        var startIndex: Int { 0 }
        var endIndex: Int { count }

        subscript(index: Int) -> AggregateRow { row(index, true) }

        /// The same without percentiles, which take longest to find.
        var bare: LazyMapCollection<Range<Int>, AggregateRow> { indices.lazy.map { row($0, false) } }

        /// The own time of all, which no row shares with another, and of that in which threads were blocked.
        var selfTimes: (whole: UInt64, blocked: UInt64) {
            indices.reduce(into: (0, 0)) { sum, index in
                let row = row(index, false)
                sum.0 &+= row.selfTime
                sum.1 &+= row.selfBlocked
            }
        }

        /// Whether some row, which need not have its percentiles, is such a one.
        func contains(_ isOne: (AggregateRow) -> Bool) -> Bool { indices.contains { isOne(row($0, false)) } }
    }

    /// - Parameters:
    ///   - limit: rows to show.
    ///   - layout: of the text.
    ///   - split: which parts of times are shown, if they are known.
    public init(
        _ sums: SummedRows, order: ReportOrder = .number(.total), limit: Int = .max, layout: TextLayout = TextLayout(),
        split: SplitTimes = SplitTimes(), samplePeriod: UInt64? = nil
    ) {
        self.sums = sums
        self.split = split
        self.layout = layout
        self.samplePeriod = samplePeriod
        kind = sums.kind
        let row = sums.row
        var kept = Array(0..<UInt32(sums.count))
        keepsTimes = kept.isEmpty || kept.contains { row(Int($0), false).total > 0 }
        let order = keepsTimes || order != .number(.total) ? order : .number(.calls)
        self.order = order
        let names = Names(functions: sums.functions, paths: sums.paths)
        TableReport.sort(&kept, order, names) { row(Int($0), order.needsPercentiles) }
        if order == .number(.total), let suspended = sums.functions.suspended {
            // Waiting is not what takes the time, however long it is.
            func isWait(_ index: UInt32) -> Bool {
                if case .function(suspended) = row(Int(index), false).subject { true } else { false }
            }
            kept = kept.filter { !isWait($0) } + kept.filter(isWait)
        }
        let sorted = kept
        allRows = Rows(count: sorted.count) { row(Int(sorted[$0]), $1) }
        rows = Rows(count: min(limit, sorted.count), row: allRows.row)
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .csv: writeCSV(to: writer)
        }
    }

    // MARK: Subjects

    /// The function that a row is of. For a path, that is the innermost one.
    func function(of row: AggregateRow) -> ResolvedFunction? { names.function(of: row) }

    /// A row's name in one piece.
    func name(of row: AggregateRow, separator: String) -> String { names.name(of: row, separator: separator) }

    /// Names of the functions of a path, the root's first.
    func names(ofPath index: Int) -> [String] { names.names(ofPath: index) }

    private var names: Names { Names(functions: sums.functions, paths: sums.paths) }

    /// What rows are called.
    private struct Names {
        let functions: FunctionTable
        let paths: CallPaths?

        func function(of row: AggregateRow) -> ResolvedFunction? {
            switch row.subject {
            case .function(let id): functions[id]
            case .path(let index): paths.map { functions[$0[index].function] }
            case .place, .thread, .process: nil
            }
        }

        func name(of row: AggregateRow, separator: String) -> String {
            switch row.subject {
            case .function(let id): functions[id].name
            case .path(let index): names(ofPath: index).joined(separator: separator)
            case .place(let place): place ?? "?"
            case .thread(let thread):
                "\(thread.process.pid) \(thread.process.label()) · \(thread.idAndName)"
            case .process(let process): "\(process.pid) \(process.label())"
            }
        }

        func names(ofPath index: Int) -> [String] {
            guard let paths else { return [] }
            var names: [String] = []
            var path = index
            while path >= 0 {
                names.append(functions[paths[path].function].name)
                path = Int(paths[path].parent)
            }
            return names.reversed()
        }
    }

    // MARK: Order

    /// Rows that compare equal stay in the order they came in, which is that of the recording.
    private static func sort(
        _ rows: inout [UInt32], _ order: ReportOrder, _ names: Names, _ row: (UInt32) -> AggregateRow
    ) {
        func sort<Key: Comparable>(_ key: (AggregateRow) -> Key, by isBefore: (Key, Key) -> Bool) {
            let keys = rows.map { key(row($0)) }
            let sorted = rows.indices.sorted {
                isBefore(keys[$0], keys[$1]) || (!isBefore(keys[$1], keys[$0]) && $0 < $1)
            }
            rows = sorted.map { rows[$0] }
        }
        switch order {
        case .number(let column): sort(column.value, by: >)
        case .name: sort({ names.name(of: $0, separator: ";") }, by: <)
        case .module: sort({ names.function(of: $0)?.module ?? "" }, by: <)
        case .location:
            sort(
                { row in
                    guard let function = names.function(of: row), let file = function.file else { return "" }
                    // Lines count up like text when they are equally long.
                    let line = String(function.line)
                    return file + ":" + String(repeating: "0", count: max(0, 9 - line.utf8.count)) + line
                }, by: <)
        }
    }
}
