/// A command of Fathom's that is to answer, with words that were looked at one by one.
struct AskRequest: Equatable, Sendable {
    let command: String
    /// Options, each in one word with its value, so that no value is ever taken for an option.
    private(set) var options: [String] = []
    /// Options whose value is the session that another one is compared with.
    private(set) var ofBefore: [String] = []
    /// Names of functions.
    private(set) var words: [String] = []
    /// Who asks: a question takes the place of the one before that the same pane asked.
    let pane: String?
    let answersByLine: Bool
    private let compares: Bool

    private static let mostBytes = 4096

    /// - Returns: nil where there is no such command.
    init?(_ command: Substring, _ parameters: inout Parameters) throws(BadRequest) {
        guard let known = AskCommand.all.first(where: { $0.name == command }) else { return nil }
        self.command = known.name
        answersByLine = known.answersByLine
        compares = known.compares
        pane = try parameters.text("pane")
        if let pane, pane.isEmpty || pane.utf8.count > 64 || !pane.utf8.allSatisfy(AskRequest.isPlain) {
            throw BadRequest("The parameter pane is no name of letters, digits and hyphens.")
        }
        try take(parameters.texts("o"), known)
        options += known.format
    }

    /// Filters alone.
    init(filters parameters: inout Parameters) throws(BadRequest) {
        (command, answersByLine, pane, compares) = (AskCommand.filter.name, false, nil, false)
        try take(parameters.texts("o"), .filter)
    }

    /// A question whose words are known to be good.
    init(_ command: String, _ words: [String]) throws(BadRequest) {
        guard let known = AskCommand.all.first(where: { $0.name == command }) else {
            throw BadRequest("There is no command \(command) here.")
        }
        (self.command, answersByLine, pane, compares) = (command, known.answersByLine, nil, known.compares)
        try take(words, known)
        options += known.format
    }

    private mutating func take(_ given: [String], _ command: AskCommand) throws(BadRequest) {
        var left = given[...]
        while let word = left.popFirst() {
            if word.utf8.count > AskRequest.mostBytes {
                throw BadRequest("A word of more than \(AskRequest.mostBytes) bytes is no option of \(command.name).")
            }
            guard word.hasPrefix("-") else {
                if words.count == command.words {
                    throw BadRequest("fathom \(command.name) takes no '\(word.prefix(40))' here.")
                }
                words.append(word)
                continue
            }
            let (option, value) = try AskRequest.option(word, of: command)
            guard option.takesValue else {
                if value != nil { throw BadRequest("The option --\(option.name) takes no value.") }
                if option.isOfBefore { ofBefore.append(option.name) } else { options.append("--\(option.name)") }
                continue
            }
            guard let value = value ?? left.popFirst(), value.utf8.count <= AskRequest.mostBytes else {
                throw BadRequest("The option --\(option.name) takes a value.")
            }
            options.append("--\(option.name)=\(value)")
        }
    }

    /// The option that a word is, with the value that stands in the word.
    private static func option(_ word: String, of command: AskCommand) throws(BadRequest) -> (AskOption, value: String?)
    {
        let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = halves[0], value = halves.count > 1 ? String(halves[1]) : nil
        let option = command.options.first { option in
            name == "--\(option.name)" || value == nil && option.letter.map { name == "-\($0)" } == true
        }
        guard let option else {
            throw BadRequest("The option '\(name.prefix(40))' of fathom \(command.name) is not for pages.")
        }
        return (option, value)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether it is asked of two sessions.
    var isOfBoth: Bool { compares || !ofBefore.isEmpty }

    /// What the program is called with, its own name left out.
    ///
    /// - Parameters:
    ///   - session: an absolute path.
    ///   - before: the one that it is compared with.
    func arguments(for session: String, before: String? = nil) throws(BadRequest) -> [String] {
        guard isOfBoth else { return [command] + options + ["--", session] + words }
        guard let before else { throw BadRequest("Only one recording is shown: there is none to compare it with.") }
        let said = [command] + options + ofBefore.map { "--\($0)=\(before)" }
        // For diff, -- stands between runs before and after.
        return said + (compares ? [before, session] : ["--", session]) + words
    }
}
