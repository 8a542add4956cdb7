public import TraceAnalysis
public import TraceText

/// A screen on which the user looks through what was recorded, by keys. It knows no terminal: keys go in, and lines come
/// out.
public struct TraceScreen {
    var content: ScreenContent
    /// What the filter leaves of it.
    var shown: ScreenContent
    let surroundings: ScreenSurroundings
    private let characters: Characters
    private var width = 80
    private var height = 24

    /// The call tree and the report, one of which is below all other pages.
    var bases: [any ScreenPage]
    var base: Int
    var pages: [any ScreenPage] = []
    var prompt: Prompt?
    var search: SearchText?
    var filter: Pattern?
    /// What is said in the last line until the next key.
    var message: (text: String, style: ScreenStyle)?
    /// Whether new content is not to be shown for now.
    public internal(set) var isPaused = false

    /// Which of the two first pages is shown.
    public enum Start: Sendable { case tree, report }

    /// - Parameter order: what lines are sorted by.
    public init(
        _ content: ScreenContent, _ start: Start, sortedBy order: ScreenColumn = .total,
        characters: Characters = .all, surroundings: ScreenSurroundings = ScreenSurroundings()
    ) {
        self.content = content
        shown = content
        self.characters = characters
        self.surroundings = surroundings
        base = start == .tree ? 0 : 1
        bases = TraceScreen.bases(content, order)
    }

    private static func bases(_ content: ScreenContent, _ order: ScreenColumn) -> [any ScreenPage] {
        let hasTimes = content.keepsTimes
        let order = hasTimes ? (content.columns.contains(order) ? order : .total) : .calls
        let treeColumns = hasTimes ? ScreenColumn.ofTree(content) : [.calls]
        var tableColumns = hasTimes ? ScreenColumn.ofTable(content) : [.calls]
        if !tableColumns.contains(order) { tableColumns.append(order) }
        return [
            TreeView(.everything, of: content, treeColumns, by: .column(order == .now ? .total : order)),
            TableView(nil, content.rows, content.tree.functions, content.numbers, tableColumns, by: order),
        ]
    }

    // MARK: What is shown

    public mutating func resize(columns: Int, rows: Int) { (width, height) = (max(columns, 0), max(rows, 0)) }

    /// Shows what is known now.
    public mutating func update(_ content: ScreenContent) {
        self.content = content
        shown = filtered(content)
        for index in bases.indices { bases[index].replace(shown) }
        for index in pages.indices { pages[index].replace(shown) }
    }

    /// Shows how things are, and not what is new otherwise.
    public mutating func update(status: String) { (content.status, shown.status) = (status, status) }

    /// Says something until the next key.
    public mutating func say(_ text: String, isError: Bool = false) {
        message = (text.visible, isError ? .hot : .plain)
    }

    /// The rows of the report, whose paths they are of, and the name of what they are sorted by.
    public var report: (rows: [AggregateRow], tree: CallPathTree, order: String) {
        let order = (bases[1] as? TableView)?.order
        return (shown.rows, shown.tree, order?.rawValue ?? "name")
    }

    private func filtered(_ content: ScreenContent) -> ScreenContent {
        guard let filter else { return content }
        var names = TreeFilter()
        names.only = [filter]
        return content.filtered(names)
    }

    var page: any ScreenPage {
        get { pages.last ?? bases[base] }
        set {
            if pages.isEmpty { bases[base] = newValue } else { pages[pages.count - 1] = newValue }
        }
    }
}

// MARK: Lines

extension TraceScreen {
    /// Returns what the terminal is to show: as many lines as it has, none wider than it is.
    public mutating func lines() -> [ScreenLine] {
        guard height > 0, width > 0 else { return [] }
        var lines = [title]
        let room = max(height - 3, 0)
        var body = Array(page.lines(width: width, height: room, search: search).prefix(room))
        body += Array(repeating: ScreenLine(width: width), count: room - body.count)
        lines += body
        if height > 2 { lines.append(place) }
        if height > 1 { lines.append(bottom) }
        return lines.map { $0.mapped(characters.shown) }
    }

    /// Where the cursor is to be, which shows only while something is typed.
    public var cursorColumn: Int? { prompt.map { min($0.label.columns + $0.text.columns, max(width - 1, 0)) } }

    private var title: ScreenLine {
        var line = ScreenLine(width: width)
        line.isHighlighted = true
        let parts = [
            content.title,
            content.choices.indices.contains(content.chosen) && content.chosen > 0
                ? content.choices[content.chosen].title : nil,
            filter.map { "only \($0.text)" }, page.name, content.status.isEmpty ? nil : content.status,
            isPaused ? "PAUSED" : nil,
        ]
        line.write((" " + parts.compactMap { $0 }.joined(separator: " · ")).shortened(to: width), .bold)
        return line
    }

    /// Where the current function is.
    private var place: ScreenLine {
        var line = ScreenLine(width: width)
        guard let id = page.currentFunction else { return line }
        let function = shown.tree.functions[id]
        var texts: [String] = []
        if let file = function.file { texts.append("\(surroundings.path(file)):\(max(function.line, 0))") }
        if let module = function.module { texts.append(PathText.name(module)) }
        line.write(("  " + texts.joined(separator: "  ")).shortened(to: width), .dim)
        return line
    }

    /// The keys that there is room for. The last two lead to all others, and out.
    private var hint: String {
        let keys =
            (content.isLive ? ["Space pause"] : [])
            + ["Enter open", "/ search", "r callers", "g graph", "Tab report", "s sort", "e edit"]
        let last = "h help  q quit"
        var text = ""
        for key in keys where text.count + key.count + 2 + last.count < width { text += key + "  " }
        return text + last
    }

    private var bottom: ScreenLine {
        if let prompt {
            // The end of what is typed is what is seen of it.
            let text = prompt.label + prompt.text
            return ScreenLine(text.columns < width ? text : String(text.suffix(max(width - 1, 0))), .bold, width: width)
        }
        if let message { return ScreenLine(message.text.shortened(to: width), message.style, width: width) }
        return ScreenLine(hint, .dim, width: width)
    }
}
