internal import TraceText

/// One line of the screen: text in styles, never wider than the screen.
public struct ScreenLine: Equatable, Sendable {
    public struct Span: Equatable, Sendable {
        public var text: String
        public var style: ScreenStyle
    }

    public private(set) var spans: [Span] = []
    /// The columns that are taken.
    public private(set) var columns = 0
    /// The columns that there are.
    public let width: Int
    /// Whether the line stands out as a whole, over all of the width.
    public var isHighlighted = false

    public init(width: Int) { self.width = max(width, 0) }

    public init(_ text: String, _ style: ScreenStyle = .plain, width: Int) {
        self.init(width: width)
        write(text, style)
    }

    /// The columns that are left.
    var room: Int { width - columns }

    /// What stands on the line.
    public var text: String { spans.map(\.text).joined() }

    /// Appends text, as much of it as has room.
    mutating func write(_ text: String, _ style: ScreenStyle = .plain) {
        let shown = text.columns <= room ? text : text.cut(to: room)
        if shown.isEmpty { return }
        columns += shown.columns
        if let last = spans.last, last.style == style {
            spans[spans.count - 1].text += shown
        } else {
            spans.append(Span(text: shown, style: style))
        }
    }

    /// Appends text that ends `width` columns from here. Longer text takes the room that it needs.
    mutating func write(right text: String, width: Int, _ style: ScreenStyle = .plain) {
        write(spaces: width - text.columns)
        write(text, style)
    }

    mutating func write(spaces count: Int) {
        if count > 0 { write(String(repeating: " ", count: count)) }
    }

    /// Returns the line with every span's text changed, each to one that takes the same columns.
    func mapped(_ change: (String) -> String) -> ScreenLine {
        var line = self
        for index in line.spans.indices { line.spans[index].text = change(line.spans[index].text) }
        return line
    }
}
