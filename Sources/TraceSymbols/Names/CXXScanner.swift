/// Steps through a demangled C++ name: knows where operators and brackets end.
struct CXXScanner {
    let text: [UInt8]
    var position = 0

    init(_ text: some Sequence<UInt8>) { self.text = Array(text) }

    var isAtEnd: Bool { position >= text.count }

    /// Moves behind the bracket that closes the one at `position`. O(length of the group).
    mutating func skipGroup() {
        var open: [UInt8] = []
        while position < text.count {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "o") where isAtOperator:
                skipOperator()
                continue
            case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
            case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"):
                // A `<` that is still open here is a comparison and no bracket.
                while let last = open.popLast(), last == UInt8(ascii: "<") {}
            case UInt8(ascii: ">") where open.last == UInt8(ascii: "<") && text[position - 1] != UInt8(ascii: "-"):
                open.removeLast()
            default: break
            }
            position += 1
            if open.isEmpty { return }
        }
    }

    /// Moves behind `const`, `volatile` and reference qualifiers, if any.
    mutating func skipQualifiers() {
        while let qualifier = [" const", " volatile", " &&", " &"].first(where: { matches($0) }) {
            position += qualifier.utf8.count
        }
    }

    /// Moves behind the identifier at `position`. O(length).
    mutating func skipIdentifier() {
        while position < text.count, CXXScanner.isIdentifier(text[position]) { position += 1 }
    }

    /// Whether a name of the form `operator+` begins at `position`.
    var isAtOperator: Bool {
        guard matches("operator"), position == 0 || !CXXScanner.isIdentifier(text[position - 1]) else { return false }
        return position + 8 < text.count && !CXXScanner.isIdentifier(text[position + 8])
    }

    /// Moves behind an operator's name, whose symbols would otherwise pass for brackets and spaces.
    mutating func skipOperator() {
        position += 8
        let symbols = [
            "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", " new[]", " delete[]",
            " new", " delete", " co_await", "\"\" ", "==", "!=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "&&",
            "||",
            "++", "--", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ",",
        ]
        if let symbol = symbols.first(where: { matches($0) }) {
            position += symbol.utf8.count
            // A blank separates `operator<` from its template arguments.
            if matches(" <") { position += 1 }
        } else if matches(" ") {
            // This is a conversion, whose name is the type up to the parameters.
            while position < text.count, text[position] != UInt8(ascii: "(") {
                if text[position] == UInt8(ascii: "<") { skipGroup() } else { position += 1 }
            }
        }
    }

    /// Where what is behind the pointer begins in a group at `position` that begins with `(*`, `(&` or `(Class::*`, which may be
    /// const and a reference itself; nil when it begins otherwise.
    var endOfPointer: Int? {
        var ahead = self
        ahead.position += 1
        while !ahead.isAtEnd, CXXScanner.isIdentifier(text[ahead.position]) || ahead.matches("::") {
            ahead.position += ahead.matches("::") ? 2 : 1
            if ahead.matches("<") { ahead.skipGroup() }
        }
        guard ahead.matches("*") || ahead.position == position + 1 && ahead.matches("&") else { return nil }
        ahead.position += 1
        ahead.skipQualifiers()
        while ahead.matches("&") || ahead.matches(" ") { ahead.position += 1 }
        return ahead.position
    }

    func matches(_ word: String) -> Bool { text[min(position, text.count)...].starts(with: word.utf8) }

    func isBehind(_ word: String) -> Bool { text[..<position].reversed().starts(with: word.utf8.reversed()) }

    static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
