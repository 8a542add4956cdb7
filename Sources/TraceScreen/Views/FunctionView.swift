internal import TraceAnalysis
internal import TraceText

/// What the calls of one function add up to, with a row for each of its callers, and one for each function that it calls.
struct FunctionView: ScreenPage {
    private let function: UInt32
    var name: String { "callers and callees of " + functions[function].name }
    private var row: AggregateRow?
    private let functions: FunctionTable
    private var numbers: ScreenNumbers
    private var tables: [TableView]
    /// Which of the two tables has the current line.
    private var active = 0

    init(_ function: UInt32, _ content: ScreenContent, _ columns: [ScreenColumn], by order: ScreenColumn?) {
        self.function = function
        functions = content.tree.functions
        numbers = content.numbers
        row = FunctionView.row(of: function, content)
        tables = [
            TableView("callers", FunctionView.callers(of: function, content), functions, numbers, columns, by: order),
            TableView("callees", FunctionView.callees(of: function, content), functions, numbers, columns, by: order),
        ]
        if tables[0].count == 0 { active = 1 }
    }

    private static func row(of function: UInt32, _ content: ScreenContent) -> AggregateRow? {
        content.rows.first { if case .function(function) = $0.subject { true } else { false } }
    }

    private static func callers(of function: UInt32, _ content: ScreenContent) -> [AggregateRow] {
        content.tree.rows(callersOf: { $0 == function })
    }

    private static func callees(of function: UInt32, _ content: ScreenContent) -> [AggregateRow] {
        content.tree.rows(calleesOf: { $0 == function })
    }

    mutating func replace(_ content: ScreenContent) {
        numbers = content.numbers
        row = FunctionView.row(of: function, content)
        tables[0].replace(FunctionView.callers(of: function, content), numbers)
        tables[1].replace(FunctionView.callees(of: function, content), numbers)
    }

    var currentFunction: UInt32? { tables[active].currentFunction }

    mutating func sortByNext() -> String? {
        let name = tables[0].sortByNext()
        tables[1].sort(by: tables[0].order)
        return name
    }

    var columns: [ScreenColumn]? {
        get { tables[0].columns }
        set { for index in tables.indices { tables[index].columns = newValue } }
    }

    mutating func handle(_ key: Key) -> Bool {
        if key == .tab || key == .backTab {
            active = 1 - active
            return true
        }
        return tables[active].handle(key)
    }

    mutating func search(_ text: SearchText, forward: Bool) -> Bool {
        for _ in tables {
            if tables[active].search(text, forward: forward) { return true }
            active = 1 - active
        }
        return false
    }

    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine] {
        var lines: [ScreenLine] = []
        let shown = ScreenColumn.fitting(columns ?? [], in: width, keeping: tables[0].order)
        var heading = ScreenLine(width: width)
        for column in shown { heading.write(right: column.heading(numbers), width: ScreenColumn.width, .bold) }
        heading.write("  function", .bold)
        var line = ScreenLine(width: width)
        if let row { for column in shown { column.write(row, numbers, to: &line) } }
        line.write("  ")
        line.write(functions[function].name.shortened(to: line.room), .bold)
        lines += [heading, line, ScreenLine(width: width)]
        let room = max(height - lines.count, 0)
        // Each table gets what the other does not need, and half at least.
        let wanted = tables[1].count + 2
        let first = min(tables[0].count + 2, max(room / 2, room - wanted))
        var callers = tables[0].lines(width: width, height: first - 1, search: search, isActive: active == 0)
        callers.append(ScreenLine(width: width))
        lines += callers
        lines += tables[1].lines(
            width: width, height: max(height - lines.count, 1), search: search, isActive: active == 1)
        return Array(lines.prefix(max(height, 0)))
    }
}
