/// Which line of a list is current, and which is the first on the screen.
struct ListCursor: Equatable {
    private(set) var current = 0
    private(set) var top = 0
    /// The lines that the screen had room for when the list was shown last.
    private(set) var height = 1

    mutating func move(to line: Int, of count: Int) {
        current = min(max(line, 0), max(count - 1, 0))
        keepInView(count)
    }

    /// Moves as a key says that moves in every list.
    ///
    /// - Returns: whether it is such a key.
    mutating func handle(_ key: Key, of count: Int) -> Bool {
        switch key {
        case .up, .character("k"), .control("p"): move(to: current - 1, of: count)
        case .down, .character("j"), .control("n"): move(to: current + 1, of: count)
        case .pageUp, .control("b"): move(to: current - max(height - 1, 1), of: count)
        case .pageDown, .control("f"): move(to: current + max(height - 1, 1), of: count)
        case .home: move(to: 0, of: count)
        case .end: move(to: count - 1, of: count)
        case .character("z"):
            top = current - height / 2
            keepInView(count)
        default: return false
        }
        return true
    }

    /// The lines that are on the screen.
    mutating func view(height: Int, of count: Int) -> Range<Int> {
        self.height = max(height, 1)
        move(to: current, of: count)
        return top..<min(top + max(height, 0), count)
    }

    private mutating func keepInView(_ count: Int) {
        top = min(max(top, current - height + 1, 0), current)
        // No room is left empty below the last line.
        top = min(top, max(count - height, 0))
    }
}
