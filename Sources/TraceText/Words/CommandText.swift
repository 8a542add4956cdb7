/// Commands as a person types them.
public enum CommandText {
    /// Arguments as a shell takes them, in one line without anything that steers a terminal.
    public static func line(_ arguments: [String]) -> String { arguments.map(word).joined(separator: " ") }

    /// The name of a file as an argument, which no command takes for an option.
    public static func file(_ path: String) -> String { word(path.hasPrefix("-") ? "./" + path : path) }

    private static func word(_ argument: String) -> String {
        let isPlain = argument.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ":", ",", "@", "%", "=", "^": true
            default: scalar.value >= 0x80 && !scalar.steers
            }
        }
        if isPlain, !argument.isEmpty { return argument }
        let parts = argument.split(separator: "'", omittingEmptySubsequences: false)
        guard argument.unicodeScalars.contains(where: \.steers) else { return "'\(parts.joined(separator: "'\\''"))'" }
        // bash and other shells take escapes between $' and '.
        let quoted = argument.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.steers {
                text += escape(scalar)
            } else {
                text += scalar == "'" || scalar == "\\" ? "\\\(scalar)" : String(scalar)
            }
        }
        return "$'\(quoted)'"
    }

    /// The character as `\n`, `\x1b`, or `\u202e`. To a shell, `\x9b` would be a byte and not that character.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        if let escape = scalar.shellEscape { return escape }
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
