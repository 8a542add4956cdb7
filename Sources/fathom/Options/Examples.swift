internal import ArgumentParser
internal import TraceText

extension CommandConfiguration {
    /// What a command is, with examples of it, which `--help` and the manual show.
    ///
    /// - Parameter examples: command lines, each with what it does. A test runs them as they are, in a directory with `prog.c`,
    ///   its Makefile, and recordings of it. No line is longer than a terminal of 80 columns.
    init(
        commandName: String? = nil, abstract: String, usage: String? = nil, discussion: String = "",
        version: String = "",
        subcommands: [any ParsableCommand.Type] = [], examples: [(command: String, effect: String)]
    ) {
        let lines = examples.flatMap { ["  \($0.command)", "      " + $0.effect.wrapped(to: 80, indentation: 6)] }
        let parts = (discussion.isEmpty ? [] : [discussion, ""]) + ["EXAMPLES:"] + lines
        self.init(
            commandName: commandName, abstract: abstract, usage: usage, discussion: parts.joined(separator: "\n"),
            version: version, subcommands: subcommands)
    }
}
