internal import ArgumentParser
internal import TraceHistory

struct HistoryMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Add the runs of other histories.",
        discussion: "Runs that are there already are not added again, so a merge that was interrupted can be repeated.",
        examples: [
            ("fathom history merge fathom-history.db --history all.db", "Adds its runs to all.db, which is made."),
            ("fathom history merge all.db", "Adds what all.db has besides to fathom-history.db."),
        ])

    @Argument(help: ArgumentHelp("Histories whose runs are added.", valueName: "file"), completion: .file())
    var others: [String]

    @OptionGroup var history: HistoryOptions

    func run() throws {
        for other in others { try FileName.check(other) }
        let sources = try others.map { try openHistory($0, creates: false) }
        let store = try history.open(creates: true)
        for source in sources {
            let (added, known) = try store.merge(source)
            let also = known > 0 ? "; \(known) \(known == 1 ? "was" : "were") there already" : ""
            Diagnostics.say("\(store.path): \(added) run\(added == 1 ? "" : "s") of \(source.path) added\(also)")
        }
    }
}
