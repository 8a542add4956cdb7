internal import TraceText

/// A list of which lines are chosen: one, or any number of them.
struct ChoiceView: ScreenPage {
    let name: String
    private let items: [ScreenContent.Choice]
    private(set) var chosen: Set<Int>
    let isMultiple: Bool
    private var cursor = ListCursor()

    init(_ name: String, _ items: [ScreenContent.Choice], chosen: Set<Int>, isMultiple: Bool) {
        self.name = name
        self.items = items
        self.chosen = chosen
        self.isMultiple = isMultiple
        cursor.move(to: chosen.min() ?? 0, of: items.count)
    }

    /// Whether the key has moved or changed something. Enter is the caller's.
    mutating func handle(_ key: Key) -> Bool {
        if cursor.handle(key, of: items.count) { return true }
        guard key == .character(" "), isMultiple else { return false }
        chosen.formSymmetricDifference([cursor.current])
        return true
    }

    /// The place of the current line.
    var current: Int { cursor.current }

    mutating func search(_ text: SearchText, forward: Bool) -> Bool {
        for step in 1...max(items.count, 1) where !items.isEmpty {
            let line = (cursor.current + (forward ? step : items.count * 2 - step)) % items.count
            if text.matches(items[line].title) {
                cursor.move(to: line, of: items.count)
                return true
            }
        }
        return false
    }

    mutating func lines(width: Int, height: Int, search: SearchText?) -> [ScreenLine] {
        let view = cursor.view(height: height - 1, of: items.count)
        return [ScreenLine("   " + name, .bold, width: width)]
            + view.map { index in
                var line = ScreenLine(width: width)
                line.isHighlighted = index == cursor.current
                line.write(chosen.contains(index) ? " ✓ " : "   ")
                line.write(spaces: items[index].level * 2)
                let text = items[index].title.shortened(to: line.room)
                line.write(text, search?.matches(items[index].title) == true ? .found : .plain)
                return line
            }
    }
}
