/// Shortens what `__cxa_demangle` prints to the function's own name.
///
/// `int ns::f<int>(char (*)(int)) const` becomes `ns::f<int>`; scopes that are functions keep their parameters:
/// `f(int)::Local::run`.
struct CXXName {
    private var scanner: CXXScanner
    /// Where the name begins: behind the return type, which only templates have.
    private var start = 0

    /// - Complexity: O(length).
    static func withoutParameters(_ demangled: String) -> String {
        // The names of thunks and the like end with the function they stand for.
        for separator in [" thunk to ", " for "] {
            if let range = demangled.firstRange(of: separator), isWords(demangled[..<range.lowerBound]) {
                return demangled[..<range.upperBound] + withoutParameters(String(demangled[range.upperBound...]))
            }
        }
        var name = CXXName(scanner: CXXScanner(demangled.utf8))
        return name.shorten()
    }

    private static func isWords(_ text: Substring) -> Bool {
        text.utf8.allSatisfy {
            CXXScanner.isIdentifier($0) && $0 != UInt8(ascii: "_") || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-")
        }
    }

    private mutating func shorten() -> String {
        while !scanner.isAtEnd {
            switch scanner.text[scanner.position] {
            case UInt8(ascii: " "):
                scanner.position += 1
                start = scanner.position
            case UInt8(ascii: "("):
                if start == scanner.position, let inner = scanner.endOfPointer {
                    // This may be a function that returns a function pointer: `void (*f(int))(char)`.
                    scanner.skipGroup()
                    return CXXName.withoutParameters(decode(inner, max(inner, scanner.position - 1)))
                } else if start == scanner.position || scanner.matches("(anonymous namespace)")
                    || scanner.isBehind("decltype")
                {
                    scanner.skipGroup()
                } else {
                    let end = scanner.position
                    scanner.skipGroup()
                    scanner.skipQualifiers()
                    if !scanner.matches("::") { return decode(start, end) }
                }
            case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["): scanner.skipGroup()
            case UInt8(ascii: "o") where scanner.isAtOperator: scanner.skipOperator()
            default: scanner.position += 1
            }
        }
        return decode(start, scanner.text.count)
    }

    private func decode(_ from: Int, _ to: Int) -> String { String(decoding: scanner.text[from..<to], as: UTF8.self) }
}
