internal import TraceAnalysis

/// What is searched for: a glob or a `/regular expression/`, as everywhere; other text is looked for anywhere in names, and
/// without capitals, in any case.
struct SearchText {
    let text: String
    private let pattern: Pattern?

    /// - Throws: ``Pattern/InvalidPattern``.
    init(_ text: String) throws(Pattern.InvalidPattern) {
        self.text = text
        let isPattern =
            text.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
            || text.count > 2 && text.hasPrefix("/") && text.hasSuffix("/")
        pattern = isPattern ? try Pattern(text) : nil
    }

    func matches(_ name: String) -> Bool {
        if let pattern { return pattern.matches(name) }
        if text.isEmpty { return false }
        return text == text.lowercased() ? name.lowercased().contains(text) : name.contains(text)
    }
}
