internal import TraceAnalysis
internal import TraceText

/// A row for each function, with or without a heading of its own.
struct TableView: ScreenPage {
    let name = "report"
    /// What stands above it, as in `callers`; nil for nothing.
    let heading: String?
    private var rows: [AggregateRow] = []
    private let functions: FunctionTable
    private var numbers: ScreenNumbers
    private var cursor = ListCursor()
    private var shownColumns: [ScreenColumn]
    /// The column that rows are sorted by; nil for names.
    private(set) var order: ScreenColumn?

    init(
        _ heading: String? = nil, _ rows: [AggregateRow], _ functions: FunctionTable, _ numbers: ScreenNumbers,
        _ columns: [ScreenColumn], by order: ScreenColumn?
    ) {
        self.heading = heading
        self.functions = functions
        self.numbers = numbers
        shownColumns = columns
        self.order = order
        set(rows)
    }

    var count: Int { rows.count }

    /// The row of the current line.
    var current: AggregateRow? { rows.indices.contains(cursor.current) ? rows[cursor.current] : nil }

    var currentFunction: UInt32? {
        if case .function(let id)? = current?.subject { id } else { nil }
    }

    // MARK: Rows

    /// Shows other rows of the same functions; the current line stays where it is on the screen, unless the function on it was
    /// chosen: then it stays that function's.
    mutating func replace(_ rows: [AggregateRow], _ numbers: ScreenNumbers) {
        self.numbers = numbers
        let function = cursor.current > 0 ? currentFunction : nil
        set(rows)
        if let function { select(function) }
    }

    mutating func replace(_ content: ScreenContent) { replace(content.rows, content.numbers) }

    mutating func sort(by order: ScreenColumn?) {
        self.order = order
        set(rows)
        cursor.move(to: 0, of: rows.count)
    }

    mutating func sortByNext() -> String? {
        let all: [ScreenColumn?] = shownColumns + [nil]
        sort(by: all[((all.firstIndex(of: order) ?? -1) + 1) % all.count])
        return order?.heading(numbers) ?? "name"
    }

    var columns: [ScreenColumn]? {
        get { shownColumns }
        set { shownColumns = newValue ?? shownColumns }
    }

    /// Makes the row of a function the current one.
    mutating func select(_ function: UInt32) {
        let line = rows.firstIndex { if case .function(function) = $0.subject { true } else { false } }
        if let line { cursor.move(to: line, of: rows.count) }
    }

    private mutating func set(_ rows: [AggregateRow]) {
        func sorted<Key: Comparable>(_ keys: [Key], _ isBefore: (Key, Key) -> Bool) -> [AggregateRow] {
            // Names tell rows apart that are equal, so that a running program's rows do not change places by chance.
            keys.indices.sorted {
                if isBefore(keys[$0], keys[$1]) { return true }
                if isBefore(keys[$1], keys[$0]) { return false }
                return name(rows[$0]) < name(rows[$1])
            }.map { rows[$0] }
        }
        if let order {
            self.rows = sorted(rows.map { order.value(of: $0, numbers) }, >)
        } else {
            self.rows = sorted(rows.map(name), <)
        }
        cursor.move(to: cursor.current, of: rows.count)
    }

    private func name(_ row: AggregateRow) -> String {
        if case .function(let id) = row.subject { functions[id].name } else { "" }
    }

    // MARK: Keys

    mutating func handle(_ key: Key) -> Bool { cursor.handle(key, of: rows.count) }

    /// Goes to the next or the previous match, from the end again to the beginning.
    ///
    /// - Returns: whether there is one.
    mutating func search(_ text: SearchText, forward: Bool) -> Bool {
        for step in 1...max(rows.count, 1) where !rows.isEmpty {
            let line = (cursor.current + (forward ? step : rows.count * 2 - step)) % rows.count
            if text.matches(name(rows[line])) {
                cursor.move(to: line, of: rows.count)
                return true
            }
        }
        return false
    }

    // MARK: Lines

    /// The heading, and lines to fill `height` with it.
    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine] {
        lines(width: width, height: height, search: search, isActive: true)
    }

    /// The same for one of several tables.
    ///
    /// - Parameter isActive: whether the current line is that of the screen.
    mutating func lines(width: Int, height: Int, search: SearchText?, isActive: Bool) -> [ScreenLine] {
        let shown = ScreenColumn.fitting(shownColumns, in: width, keeping: order)
        var heading = ScreenLine(width: width)
        for column in shown {
            heading.write(
                right: (column == order ? "▼" : "") + column.heading(numbers), width: ScreenColumn.width, .bold)
        }
        heading.write("  \(order == nil ? "▼" : "")\(self.heading ?? "function")", .bold)
        let view = cursor.view(height: height - 1, of: rows.count)
        return [heading]
            + view.map { index in
                var line = line(rows[index], width, shown, search)
                line.isHighlighted = isActive && index == cursor.current
                return line
            }
    }

    private func line(
        _ row: AggregateRow, _ width: Int, _ columns: [ScreenColumn], _ search: SearchText?
    ) -> ScreenLine {
        var line = ScreenLine(width: width)
        for column in columns { column.write(row, numbers, to: &line) }
        line.write(row.isReliable ? "  " : " ≈")
        let name = name(row)
        line.write(name.shortened(to: line.room), search?.matches(name) == true ? .found : .plain)
        return line
    }
}
