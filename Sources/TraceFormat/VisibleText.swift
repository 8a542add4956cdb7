extension String {
    /// The text as it may be shown: characters that would steer a terminal, end a line or turn the direction of writing
    /// around are written out, as `\n`, `\x1b` or `\u{202e}`. Names come from programs, which may call things what they like.
    ///
    /// - Complexity: O(bytes); nothing is copied when there is none.
    public var visible: String {
        var text = self
        let isPlain = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7f } || unicodeScalars.allSatisfy { !String.steers($0) }
        }
        guard !isPlain else { return self }
        var result = ""
        for scalar in unicodeScalars {
            guard String.steers(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x80: result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            default: result += "\\u{\(digits)}"
            }
        }
        return result
    }

    /// Control characters, line and paragraph separators, and marks that change the direction of what follows.
    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
