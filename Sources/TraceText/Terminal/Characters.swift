/// The characters that a terminal can show.
public enum Characters: Sendable {
    case all
    /// Only those of ASCII; each other one is written as one that looks like it, or as `?`.
    case ascii

    /// Text of the same width that the terminal can show.
    public func shown(_ text: String) -> String {
        guard self == .ascii, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return text.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.isASCII {
                shown.unicodeScalars.append(scalar)
            } else if let like = Characters.alike[scalar] {
                shown += like
            } else {
                shown += String(repeating: "?", count: scalar.columns)
            }
        }
    }

    private static let alike: [Unicode.Scalar: String] = [
        "…": "~", "·": "-", "→": ">", "≈": "~", "▸": "+", "▾": "-", "▼": "v", "▲": "^", "↑": "^", "↓": "v", "✓": "x",
        "–": "-", "µ": "u", "±": "~", "×": "x", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "-", "▎": "-",
        "▏": "-",
    ]
}
