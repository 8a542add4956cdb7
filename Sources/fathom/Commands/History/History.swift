internal import ArgumentParser

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep what runs added up to, and show what changed from version to version, and since when.",
        discussion: """
            A history is a file. Runs are compared with runs of the same program and command on the same machine.
            """,
        subcommands: [
            HistoryAdd.self, HistoryList.self, HistoryShow.self, HistoryTrend.self, HistoryChangesCommand.self,
            HistoryRemove.self, HistoryCompact.self, HistoryMerge.self,
        ],
        examples: [
            ("fathom history add before.fathom --label version=1", "Adds a run, and says which version it is of."),
            ("fathom history add after.fathom --label version=2", "Adds another one."),
            ("fathom history list", "Shows the runs."),
            ("fathom history trend work --by version", "Shows the time of work in each version."),
            ("fathom history changes", "Shows which functions changed, and since which run."),
        ])

    /// The command-line arguments in the form that the parser is to see: with --history behind the command.
    static func arguments(_ arguments: [String]) -> [String] {
        guard arguments.first == "history" else { return arguments }
        var rest = arguments.dropFirst(), moved: [String] = []
        while let option = rest.first, option == "--history" || option.hasPrefix("--history=") {
            let words = rest.prefix(option == "--history" ? 2 : 1)
            moved += words
            rest = rest.dropFirst(words.count)
        }
        guard let command = rest.first, !command.hasPrefix("-") else { return arguments }
        return [arguments[0], command] + moved + rest.dropFirst()
    }
}
