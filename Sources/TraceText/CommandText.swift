/// Commands as a person types them.
public enum CommandText {
    /// Arguments as a shell takes them, in one line.
    public static func line(_ arguments: [String]) -> String { arguments.map(word).joined(separator: " ") }

    /// `text` without what would move the cursor of a terminal: control characters as `\n`, `\t` or `\x1b`.
    public static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { $0 += isControl($1) ? escape($1) : String($1) }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        default: (scalar.value < 16 ? "\\x0" : "\\x") + String(scalar.value, radix: 16)
        }
    }

    private static func word(_ argument: String) -> String {
        let isPlain = argument.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ":", ",", "@", "%", "=", "^": true
            default: scalar.value >= 0x80 && !isControl(scalar)
            }
        }
        if isPlain, !argument.isEmpty { return argument }
        let parts = argument.split(separator: "'", omittingEmptySubsequences: false)
        guard argument.unicodeScalars.contains(where: isControl) else { return "'\(parts.joined(separator: "'\\''"))'" }
        // What bash and others take: escapes between $' and '.
        let quoted = argument.unicodeScalars.reduce(into: "") { text, scalar in
            if isControl(scalar) {
                text += escape(scalar)
            } else {
                text += scalar == "'" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
            }
        }
        return "$'\(quoted)'"
    }
}
