/// Shortens what `__cxa_demangle` prints to the function's own name.
///
/// `int ns::f<int>(char (*)(int)) const` becomes `ns::f<int>`; scopes that are functions keep their parameters, since
/// they tell lambdas and local classes apart: `f(int)::{lambda(int)#1}::operator()`.
struct CXXName {
    private let text: [UInt8]
    private var position: Int
    /// Where the name begins: behind the return type, which only templates have.
    private var start: Int

    /// - Complexity: O(length).
    static func withoutParameters(_ demangled: String) -> String {
        // Thunks and the like name the function they stand for.
        for separator in [" thunk to ", " for "] {
            if let range = demangled.firstRange(of: separator), isWords(demangled[..<range.lowerBound]) {
                return demangled[..<range.upperBound] + withoutParameters(String(demangled[range.upperBound...]))
            }
        }
        var name = CXXName(text: Array(demangled.utf8))
        return name.shorten()
    }

    private static func isWords(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { isIdentifier($0) && $0 != UInt8(ascii: "_") || $0 == space || $0 == hyphen }
    }

    private init(text: [UInt8]) {
        self.text = text
        (position, start) = (0, 0)
    }

    private mutating func shorten() -> String {
        while position < text.count {
            switch text[position] {
            case Self.space:
                position += 1
                start = position
            case UInt8(ascii: "("):
                if start == position, matches("(*") || matches("(&") {
                    // A function that returns a function pointer: `void (*f(int))(char)`.
                    let open = position
                    skipGroup()
                    return CXXName.withoutParameters(decode(open + 2, max(open + 2, position - 1)))
                } else if start == position || matches("(anonymous namespace)") || isAfter("decltype") {
                    skipGroup()
                } else {
                    let end = position
                    skipGroup()
                    skipQualifiers()
                    if !matches("::") { return decode(start, end) }
                }
            case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): skipGroup()
            case UInt8(ascii: "o") where isOperator: skipOperator()
            default: position += 1
            }
        }
        return decode(start, text.count)
    }

    /// Moves behind the bracket that closes the one at `position`.
    private mutating func skipGroup() {
        var open: [UInt8] = []
        while position < text.count {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "o") where isOperator:
                skipOperator()
                continue
            case UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
            case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"):
                // A `<` still open inside is a comparison.
                while let last = open.popLast(), last == UInt8(ascii: "<") {}
            case UInt8(ascii: ">") where open.last == UInt8(ascii: "<") && text[position - 1] != Self.hyphen:
                open.removeLast()
            default: break
            }
            position += 1
            if open.isEmpty { return }
        }
    }

    /// Moves behind `const`, `volatile` and reference qualifiers, if any.
    private mutating func skipQualifiers() {
        while let qualifier = [" const", " volatile", " &&", " &"].first(where: { matches($0) }) {
            position += qualifier.utf8.count
        }
    }

    private var isOperator: Bool {
        guard matches("operator"), position == 0 || !Self.isIdentifier(text[position - 1]) else { return false }
        return position + 8 < text.count && !Self.isIdentifier(text[position + 8])
    }

    /// Moves behind an operator's name, whose symbols would otherwise pass for brackets and spaces.
    private mutating func skipOperator() {
        position += 8
        let symbols = [
            "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", " new[]", " delete[]",
            " new", " delete", " co_await", "\"\" ",
        ]
        if let symbol = symbols.first(where: { matches($0) }) {
            position += symbol.utf8.count
            // Template arguments of `operator<` stand apart.
            if matches(" <") { position += 1 }
        } else if matches(" ") {
            // A conversion: the type up to the parameters.
            while position < text.count, text[position] != UInt8(ascii: "(") {
                if text[position] == UInt8(ascii: "<") { skipGroup() } else { position += 1 }
            }
        }
    }

    private func matches(_ word: String) -> Bool { text[position...].starts(with: word.utf8) }

    private func isAfter(_ word: String) -> Bool { text[..<position].reversed().starts(with: word.utf8.reversed()) }

    private func decode(_ from: Int, _ to: Int) -> String { String(decoding: text[from..<to], as: UTF8.self) }

    private static let space = UInt8(ascii: " ")
    private static let hyphen = UInt8(ascii: "-")

    private static func isIdentifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
