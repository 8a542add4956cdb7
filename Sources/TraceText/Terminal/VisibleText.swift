extension String {
    /// The text in a form that is safe to show. Characters that would steer a terminal, end a line or change the
    /// direction of writing are written out, as `\n`, `\x1b` or `\u{202e}`. Names come from programs, which may choose
    /// any.
    ///
    /// - Complexity: O(bytes); nothing is copied when there is no such character.
    public var visible: String {
        var text = self
        let isPlain = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f } || unicodeScalars.allSatisfy { !$0.steers }
        }
        guard !isPlain else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.steers { text += scalar.escape } else { text.unicodeScalars.append(scalar) }
        }
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character, a line or paragraph separator, a mark that changes the direction of what follows, or no
    /// text at all.
    var steers: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
        default: rawByte != nil
        }
    }

    /// The character written out, as Swift has it: `\n`, `\x1b`, `\u{202e}`.
    var escape: String { shellEscape ?? "\\u{\(String(value, radix: 16))}" }

    /// The character written out, if shells write it in the same way, as they do those of ASCII; otherwise nil.
    var shellEscape: String? {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where value < 0x80: (value < 16 ? "\\x0" : "\\x") + String(value, radix: 16)
        default: rawByte.map { "\\x" + String($0, radix: 16) }
        }
    }
}
