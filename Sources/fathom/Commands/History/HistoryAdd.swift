internal import ArgumentParser
internal import TraceHistory
internal import TraceText

struct HistoryAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add recordings to a history.",
        usage: "fathom history add [<options>] <session> ...",
        discussion: """
            What is kept is what the calls of each path add up to, and how long they took; the sessions may be deleted. A session that \
            is in the history already is not added again.
            """,
        examples: [
            (
                "fathom history add before.fathom --label version=1 --label commit=4f2a",
                "Adds a run, and says which version it is of."
            ),
            ("fathom history add prog.fathom after.fathom --label version=2", "Adds two runs of the next version."),
        ])

    @Argument(help: ArgumentHelp("Sessions.", valueName: "session"), completion: .session)
    var sessions: [String]

    @OptionGroup var history: HistoryOptions
    @OptionGroup var labels: LabelOptions
    @OptionGroup var symbols: SymbolOptions

    func run() throws {
        let store = try history.open(creates: true)
        for session in sessions {
            let read = try SessionRun(
                openSession(session), symbols: symbols.symbols, labels: labels.label.map { ($0.name, $0.value) },
                listener: Diagnostics.listener())
            Diagnostics.warn(read.warnings)
            try HistoryAdd.add(read, to: store)
        }
    }

    /// Adds a run, and says so.
    static func add(_ read: SessionRun, to store: HistoryStore) throws {
        let (id, isNew) = try store.add(read.run, read.content)
        let calls = CountText.grouped(read.run.calls), paths = CountText.grouped(UInt64(read.content.paths.count))
        Diagnostics.say(
            isNew
                ? "\(store.path): run \(id): \(calls) calls of \(paths) paths, of \(read.run.session)"
                : "\(store.path): \(read.run.session) is there already, as run \(id)")
    }
}
