internal import ArgumentParser
internal import TraceText

/// Says what is wrong with arguments: in one line, the argument first, and what may have been meant last.
///
/// The argument parser's messages are put into these words. Our own, and those that are not known here, stay as they are.
struct UsageMessage {
    private let command: any ParsableCommand.Type
    private let arguments: [String]

    /// - Parameter arguments: all that were given.
    init(of command: any ParsableCommand.Type, _ arguments: [String]) {
        self.command = command
        self.arguments = arguments
    }

    /// What is said for a message of the parser's.
    func words(for message: String) -> String {
        if let match = message.prefixMatch(of: #/Unknown option '([^'=]+)/#) {
            return UsageMessage.unknownOption(String(match.1), of: command)
        }
        if let match = message.wholeMatch(of: #/Missing value for '(-[^ ']+)(?: (<.*>))?'/#) {
            return missingValue(of: String(match.1), match.2.map(String.init))
        }
        let invalid = #/The value '(.*)' is invalid for '(-[^ ']+|<[^>]*>).*?'(.*)/#.dotMatchesNewlines()
        if let match = message.wholeMatch(of: invalid) {
            return UsageMessage.invalid(String(match.1), for: String(match.2), String(match.3))
        }
        if let match = message.wholeMatch(of: #/Missing expected argument '((\S+).*)'/#) {
            let values = values(of: String(match.2))
            return "\(match.1) is missing\(values.map { ": \($0)" } ?? "")"
        }
        if let match = message.wholeMatch(of: #/The option '(.*)' does not take any value, but '(.*)' was specified./#)
        {
            return "\(match.1) takes no value, but is given '\(match.2)'"
        }
        if let match = message.wholeMatch(of: #/Value to be set with flag '(.*)' had .* set with flag '(.*)'/#) {
            return "\(match.2) and \(match.1) exclude each other"
        }
        return UsageMessage.plain(message)
    }

    /// An option that a command does not have.
    ///
    /// - Parameter advice: where it may belong.
    static func unknownOption(
        _ option: String, of command: any ParsableCommand.Type, advice: String = ""
    ) -> String {
        let near = NearNames(to: String(option.drop { $0 == "-" }), among: options(of: command)) { [$0.dropFirst(2)] }
        return "unknown option \(option)\(advice)\(near.question)"
    }

    /// The long names of a command's options, as its help has them.
    static func options(of command: any ParsableCommand.Type) -> [String] {
        let lines = Fathom.helpMessage(for: command, includeHidden: true, columns: 200).split(separator: "\n")
        return lines.filter { $0.hasPrefix("  -") }.flatMap { line in
            let label = line.dropFirst(2).split(separator: "  ").first ?? ""
            return label.split { " ,/".contains($0) }.filter { $0.hasPrefix("--") }.map(String.init)
        }
    }

    /// The values that an option takes, as the command's help has them; nil if any will do.
    private func values(of option: String) -> String? {
        let help = Fathom.helpMessage(for: command, includeHidden: true, columns: 10_000)
        let line = help.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix("\(option) ") }
        return line?.firstMatch(of: #/\(values: ([^;)]*)/#).map { String($0.1) }
    }

    /// - Parameter name: the value's, as `<time>`.
    private func missingValue(of option: String, _ name: String?) -> String {
        let index = arguments.firstIndex(of: option) ?? arguments.endIndex
        guard let next = arguments.dropFirst(index + 1).first, next.count > 1, next.hasPrefix("-"), next != "--" else {
            return "\(option) needs a value\(name.map { ": \($0)" } ?? "")"
        }
        if next.wholeMatch(of: #/-[0-9.].*/#) != nil { return UsageMessage.negative(next, of: option) }
        let joined = option.hasPrefix("--") ? "\(option)=\(next)" : "\(option)\(next)"
        return "\(option) needs a value before \(next); a value that begins with - is joined to it: \(joined)"
    }

    /// - Parameter rest: what the parser says behind the option: a reason, the values that there are, or nothing for a
    ///   number.
    private static func invalid(_ value: String, for option: String, _ rest: String) -> String {
        if let reason = rest.prefixMatch(of: #/: /#) {
            return "\(option) \(value): \(rest[reason.range.upperBound...])"
        }
        let bullets = rest.split(separator: "\n").filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
        let values = bullets.isEmpty ? rest.matches(of: #/'([^']*)'/#).map { String($0.1) } : bullets
        if !values.isEmpty {
            let near = NearNames(to: value, among: values)
            return "\(option): '\(value)' is none of \(values.joined(separator: ", "))\(near.question)"
        }
        if value.wholeMatch(of: #/-[0-9]+/#) != nil { return negative(value, of: option) }
        return "\(option) \(value): \(value.allSatisfy(\.isNumber) ? "too large a number" : "not a whole number")"
    }

    private static func negative(_ value: String, of option: String) -> String {
        "\(option) \(value): the value cannot be negative"
    }

    /// The message as part of a line.
    private static func plain(_ message: String) -> String {
        let line = message.split(separator: "\n").joined(separator: " ")
        let startsWord = line.dropFirst().first?.isLowercase ?? false
        let start = startsWord ? line.prefix(1).lowercased() : String(line.prefix(1))
        let isSentence = line.hasSuffix(".") && !line.hasSuffix("..")
        return start + (isSentence ? line.dropFirst().dropLast() : line.dropFirst())
    }
}
