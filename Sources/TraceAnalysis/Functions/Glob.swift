/// Globs of bytes: `*` stands for any bytes, `?` for one, and `[a-z]` and `[!a-z]` for one of a set.
enum Glob {
    /// Whether a text is more than itself.
    static func hasMarks(_ text: [UInt8]) -> Bool {
        if text.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }) { return true }
        return text.indices.contains { text[$0] == UInt8(ascii: "[") && setEnd(text[...], at: $0) != nil }
    }

    /// Matches all of `text` with one point to return to, the last `*`. O(pattern * text) at worst.
    static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
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

    /// Where the set ends that begins at `p`; nil when none does.
    private static func setEnd(_ pattern: ArraySlice<UInt8>, at p: Int) -> Int? {
        pattern[(p + 1)...].dropFirst().firstIndex(of: UInt8(ascii: "]"))
    }

    /// Matches one byte at `p`; the index after what matched, or nil.
    private static func matchOne(_ pattern: ArraySlice<UInt8>, at p: Int, _ byte: UInt8) -> Int? {
        switch pattern[p] {
        case UInt8(ascii: "?"): return p + 1
        case UInt8(ascii: "["):
            guard let close = setEnd(pattern, at: p) else { break }
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
