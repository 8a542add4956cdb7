internal import ArgumentParser
internal import TraceHistory
internal import TraceText

struct HistoryCompact: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Make a history's file as small as it can be.",
        discussion: "It needs as much room again while it works, and others that write wait.",
        examples: [
            ("fathom history compact", "Makes fathom-history.db small."),
            ("fathom history compact --history fathom-history.db", "Makes this file small."),
        ])

    @OptionGroup var history: NamedHistoryOptions

    func run() throws {
        let store = try history.open()
        let (before, after) = try store.compact()
        Diagnostics.say("\(store.path): \(CountText.size(before)), now \(CountText.size(after))")
    }
}
