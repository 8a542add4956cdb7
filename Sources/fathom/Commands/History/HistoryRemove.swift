internal import ArgumentParser
internal import TraceHistory

struct HistoryRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take runs out of a history.",
        discussion: "history compact gives their room back to the file system.",
        examples: [
            ("fathom history remove 1", "Takes out the first run."),
            ("fathom history remove 2 3 --history fathom-history.db", "Takes two runs out of this file."),
        ])

    @Argument(help: ArgumentHelp("Numbers of runs, as history list shows them.", valueName: "run"))
    var runs: [Int64]

    @OptionGroup var history: HistoryOptions

    func run() throws {
        let store = try history.open()
        let numbers = Set(runs)
        try store.remove(numbers.sorted())
        Diagnostics.say("\(store.path): \(numbers.count) run\(numbers.count == 1 ? "" : "s") removed")
    }
}
