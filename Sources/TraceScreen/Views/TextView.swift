internal import TraceText

/// Text of any length, which is scrolled. Lines that are wider than the screen are broken.
struct TextView: ScreenPage {
    let name: String
    private var paragraphs: [(text: String, style: ScreenStyle)]
    /// Makes the text anew when more is known; nil where it stays.
    private let again: (() -> [(text: String, style: ScreenStyle)])?
    private var top = 0
    private var height = 1
    private var lines: [(text: String, style: ScreenStyle)] = []
    private var width = 0

    init(_ name: String, _ paragraphs: [(text: String, style: ScreenStyle)]) {
        self.name = name
        self.paragraphs = paragraphs
        again = nil
    }

    /// Text that changes as the program goes on.
    init(_ name: String, _ again: @escaping () -> [(text: String, style: ScreenStyle)]) {
        self.name = name
        self.again = again
        paragraphs = again()
    }

    mutating func replace(_ content: ScreenContent) {
        guard let again else { return }
        paragraphs = again()
        width = 0
    }

    mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .up, .character("k"): top -= 1
        case .down, .character("j"), .enter: top += 1
        case .pageUp, .control("b"): top -= max(height - 1, 1)
        case .pageDown, .control("f"), .character(" "): top += max(height - 1, 1)
        case .home: top = 0
        case .end: top = lines.count
        default: return false
        }
        top = max(min(top, lines.count - height), 0)
        return true
    }

    /// Goes to the next or the previous line that matches.
    mutating func search(_ text: SearchText, forward: Bool) -> Bool {
        let places = lines.indices.filter { text.matches(lines[$0].text) }
        guard
            let place = forward
                ? places.first(where: { $0 > top }) ?? places.first
                : places.last(where: { $0 < top })
                    ?? places.last
        else { return false }
        top = max(min(place, lines.count - height), 0)
        return true
    }

    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine] {
        if width != self.width {
            self.width = width
            lines = paragraphs.flatMap { text, style in TextView.broken(text, width).map { ($0, style) } }
        }
        self.height = max(height, 1)
        top = max(min(top, lines.count - self.height), 0)
        return lines[min(top, lines.count)...].prefix(max(height, 0)).map { line in
            ScreenLine(line.text, search?.matches(line.text) == true ? .found : line.style, width: width)
        }
    }

    /// Text in lines of at most `width` columns, all of them indented as it is.
    private static func broken(_ text: String, _ width: Int) -> [String] {
        let indentation = min(text.prefix { $0 == " " }.count, max(width / 2, 0))
        let margin = String(repeating: " ", count: indentation)
        return String(text.dropFirst(indentation)).wrapped(to: max(width - indentation, 1))
            .split(separator: "\n", omittingEmptySubsequences: false).map { margin + $0 }
    }
}
