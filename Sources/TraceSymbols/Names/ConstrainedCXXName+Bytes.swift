/// Where the reading is, and what of the bytes there.
extension ConstrainedCXXName {
    func peek(_ offset: Int = 0) -> UInt8 { position + offset < text.count ? text[position + offset] : 0 }

    func isAt(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in word.indices.allSatisfy { peek($0) == word[$0] } }
    }

    mutating func take(_ word: StaticString) -> Bool {
        guard isAt(word) else { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ word: StaticString) throws(Unreadable) {
        if !take(word) { throw Unreadable() }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isUpper(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }

    /// A number or a reference's letters, and `_` behind them.
    mutating func index() throws(Unreadable) {
        while Self.isDigit(peek()) || Self.isUpper(peek()) { position += 1 }
        try expect("_")
    }

    /// Reads by `body` what is left out of the name.
    mutating func leaveOut(
        countsReferences: Bool = true, replacement: String = "", _ body: (inout Self) throws(Unreadable) -> Void
    ) throws(Unreadable) {
        let start = position
        leftOut += 1
        try body(&self)
        leftOut -= 1
        guard leftOut == 0 else { return }
        edits.append((start..<position, replacement))
        if countsReferences { lostReferences = true }
    }

    /// Reads by `body` what lies within something else, unless that goes deeper than names do.
    mutating func inside(_ body: (inout Self) throws(Unreadable) -> Void) throws(Unreadable) {
        depth += 1
        if depth > 500 { throw Unreadable() }
        try body(&self)
        depth -= 1
    }

    mutating func untilEnd(_ body: (inout Self) throws(Unreadable) -> Void) throws(Unreadable) {
        while !take("E") {
            let start = position
            try body(&self)
            if position == start { throw Unreadable() }
        }
    }
}
