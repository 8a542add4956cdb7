internal import ArgumentParser
internal import TraceText

/// Options of Fathom's that stand behind the program to run, which gets them.
enum MisplacedOptions {
    /// Options that many programs have, too, so that nobody can tell whose they are.
    private static let common: Set<String> = [
        "--args", "--filter", "--force", "--help", "--hide", "--history", "--interval", "--label", "--memory", "--mode",
        "--module",
        "--output", "--quiet", "--startup", "--version", "--watch",
    ]

    /// Says of a program's arguments which was probably meant for Fathom, if one was.
    ///
    /// - Parameter words: the program, and what it gets.
    static func tell(_ words: [String], of command: any ParsableCommand.Type) {
        // Behind another `--` there may be another program, which has arguments of its own.
        let arguments = Array(words.dropFirst().prefix { $0 != "--" })
        // They are read off the command's help, which takes longer than what is likely not to need it.
        lazy var own = Set(UsageMessage.options(of: command))
        for (index, word) in arguments.enumerated() where word.hasPrefix("-") {
            let value = arguments.dropFirst(index + 1).first
            guard let option = option(word, value, isOwn: { own.contains($0) }) else { continue }
            let program = CommandText.line([words[0]])
            return Diagnostics.say(
                "\(program) gets \(option), because that stands behind it; for Fathom: fathom \(command._commandName) \(option) -- \(program)"
            )
        }
    }

    /// A word, with the value behind it, where it is likely to be Fathom's.
    private static func option(_ word: String, _ value: String?, isOwn: (String) -> Bool) -> String? {
        if ["-o", "--output"].contains(word), let value, value.hasSuffix(".fathom") {
            return CommandText.line([word, value])
        }
        if word.hasPrefix("-o") || word.hasPrefix("--output="), word.hasSuffix(".fathom") {
            return CommandText.line([word])
        }
        let name = String(word.prefix { $0 != "=" })
        guard name.hasPrefix("--"), !common.contains(name), isOwn(name) else { return nil }
        // What does not look like an option or a file may be the option's value.
        let isValue = name == word && value.map { $0.first?.isNumber ?? false } ?? false
        return CommandText.line([word] + (isValue ? [value!] : []))
    }
}
