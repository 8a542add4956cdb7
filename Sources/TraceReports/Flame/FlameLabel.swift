internal import TraceText

/// Names as frames have room for them.
enum FlameLabel {
    /// The name with the arguments of templates and generics left out: `std::map<…>::find`.
    ///
    /// - Complexity: O(bytes).
    static func folded(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(UInt8(ascii: "<")) else { return name }
        var result: [UInt8] = []
        var depth = 0
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            let byte = bytes[index]
            if depth == 0, result.suffix(8).elementsEqual("operator".utf8),
                let sign = FlameLabel.signs.first(where: { rest.starts(with: $0.utf8) })
            {
                result += sign.utf8
                index += sign.utf8.count
                continue
            }
            let isArrow = byte == UInt8(ascii: ">") && index > 0 && bytes[index - 1] == UInt8(ascii: "-")
            if byte == UInt8(ascii: "<") {
                if depth == 0 { result += rest.starts(with: "<lambda".utf8) ? "<lambda…".utf8 : "<…".utf8 }
                depth += 1
            } else if byte == UInt8(ascii: ">"), !isArrow, depth > 0 {
                depth -= 1
                if depth == 0 { result.append(byte) }
            } else if depth == 0 {
                result.append(byte)
            }
            index += 1
        }
        return depth == 0 ? String(decoding: result, as: UTF8.self) : name
    }

    /// Operators that begin with a bracket, longer ones first.
    private static let signs = ["<=>", "<<=", "<<", "<=", "<", ">>=", ">>", ">=", ">", "->*", "->"]

    /// The beginning of a text that fits in so many letters, with a mark where more follows.
    ///
    /// - Parameter letters: at least 1; letters of Chinese, Japanese and Korean take two.
    static func fitted(_ text: String, letters: Int) -> String {
        var used = 0
        var end = text.startIndex
        for index in text.indices {
            let width = text[index].unicodeScalars.reduce(0) { $0 + $1.columns }
            // Where the text is to be cut, the mark needs room.
            if used + width < letters { end = text.index(after: index) }
            used += width
            if used > letters { return String(text[..<end]) + "…" }
        }
        return text
    }
}
