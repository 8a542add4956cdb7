/// A name pattern of the command line: a glob (`*`, `?`, `[a-z]`), or `/regular expression/`.
///
/// A glob matches a whole name, or the whole of it before the argument list. A regular expression may match any part of
/// it.
public struct Pattern {
    private enum Matcher {
        case glob([UInt8])
        case expression(Regex<AnyRegexOutput>)
        case name(String)
    }

    private let matcher: Matcher
    /// The pattern as it was written.
    public let text: String

    /// Why a pattern is refused.
    public struct InvalidPattern: Error, CustomStringConvertible {
        public let pattern: String
        public var description: String { "'\(pattern)' is not a regular expression" }
    }

    /// Reads `text` as a pattern.
    ///
    /// - Throws: ``InvalidPattern`` when what stands between the slashes is no regular expression.
    public init(_ text: String) throws(InvalidPattern) {
        self.text = text
        if text.count >= 2, text.hasPrefix("/"), text.hasSuffix("/") {
            do {
                matcher = .expression(try Regex(String(text.dropFirst().dropLast())))
            } catch {
                throw InvalidPattern(pattern: text)
            }
        } else {
            matcher = .glob(Array(text.utf8))
        }
    }

    /// The pattern that matches this name, whatever characters it has, and no other.
    public init(exactly name: String) {
        text = name
        matcher = .name(name)
    }

    public func matches(_ name: String) -> Bool {
        switch matcher {
        case .glob(let glob):
            let bytes = Array(name.utf8)
            return Pattern.glob(glob[...], matches: bytes[...])
                || Pattern.glob(glob[...], matches: Pattern.withoutArguments(bytes))
        case .expression(let expression):
            return name.firstMatch(of: expression) != nil
        case .name(let only): return name == only
        }
    }

    /// A glob that matches `name`: all of it up to its argument list.
    public static func glob(of name: String) -> String {
        String(decoding: withoutArguments(Array(name.utf8)), as: UTF8.self)
    }

    /// `name` up to its argument list: the parenthesis that the last `)` closes.
    package static func withoutArguments(_ name: [UInt8]) -> ArraySlice<UInt8> {
        guard let close = name.lastIndex(of: UInt8(ascii: ")")) else { return name[...] }
        var level = 0
        for index in (0...close).reversed() {
            if name[index] == UInt8(ascii: ")") { level += 1 }
            if name[index] == UInt8(ascii: "(") { level -= 1 }
            if level == 0 { return index == 0 ? name[...] : name[..<index] }
        }
        return name[...]
    }

    /// Matches a glob with one point to return to, the last `*`. O(pattern * text) at worst.
    private static func glob(_ pattern: ArraySlice<UInt8>, matches text: ArraySlice<UInt8>) -> Bool {
        var p = pattern.startIndex
        var t = text.startIndex
        var star: (pattern: Int, text: Int)?
        while t < text.endIndex {
            if p < pattern.endIndex, pattern[p] == UInt8(ascii: "*") {
                star = (p + 1, t)
                p += 1
            } else if p < pattern.endIndex, let next = matchOne(pattern, at: p, text[t]) {
                p = next
                t += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                p = last.pattern
                t = last.text + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Matches one byte at `p`; the index after what matched, or nil.
    private static func matchOne(_ pattern: ArraySlice<UInt8>, at p: Int, _ byte: UInt8) -> Int? {
        switch pattern[p] {
        case UInt8(ascii: "?"): return p + 1
        case UInt8(ascii: "["):
            guard let close = pattern[(p + 1)...].dropFirst().firstIndex(of: UInt8(ascii: "]")) else { break }
            var set = pattern[(p + 1)..<close]
            let negated = set.first == UInt8(ascii: "!") || set.first == UInt8(ascii: "^")
            if negated { set = set.dropFirst() }
            var found = false
            while let low = set.popFirst() {
                var high = low
                if set.first == UInt8(ascii: "-"), set.count > 1 {
                    high = set[set.startIndex + 1]
                    set = set.dropFirst(2)
                }
                found = found || (low <= byte && byte <= high)
            }
            return found != negated ? close + 1 : nil
        default: break
        }
        return pattern[p] == byte ? p + 1 : nil
    }
}
