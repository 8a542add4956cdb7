/// Finds words outside of all brackets in what `swift_demangle` returns.
struct BracketScanner {
    private let text: Substring
    private let bytes: Substring.UTF8View
    private(set) var index: String.Index
    private var depth = 0

    init(_ text: Substring) {
        self.text = text
        bytes = text.utf8
        index = text.startIndex
    }

    /// Moves past the next occurrence of `word` outside of brackets and returns where that ends. O(n).
    mutating func end(of word: String) -> String.Index? {
        while index < text.endIndex {
            if depth == 0, text[index...].utf8.starts(with: word.utf8) {
                index = bytes.index(index, offsetBy: word.utf8.count)
                return index
            }
            advance()
        }
        return nil
    }

    /// Moves past the bracket that matches the one here. O(n).
    mutating func skipBrackets() {
        let outside = depth
        repeat { advance() } while depth > outside && index < text.endIndex
    }

    /// Moves on by a byte, or by a whole arrow, whose `>` is no bracket.
    private mutating func advance() {
        let byte = bytes[index]
        let next = bytes.index(after: index)
        switch byte {
        case UInt8(ascii: "-") where next < text.endIndex && bytes[next] == UInt8(ascii: ">"):
            index = bytes.index(after: next)
            return
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ">"), UInt8(ascii: "}"): depth = max(0, depth - 1)
        default: break
        }
        index = next
    }
}
