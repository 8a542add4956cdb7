internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct ChainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain", abstract: "Show what a call took so long for, over all threads that it waited for.",
        usage: """
            fathom chain [<options>] [<session>] --call <function>
            fathom chain [<options>] [<session>] --from <time> --to <time>
            """,
        discussion: """
            From the call's end back: what its thread ran, what it waited for, what the thread did meanwhile that ended the \
            wait, and so on. Of sessions that were recorded with fathom record --blocked.
            """,
        examples: [
            ("fathom chain prog.fathom --call work", "Shows the critical path of the longest call of work."),
            (
                "fathom chain prog.fathom --call main --without leaf",
                "Also shows when the call would end if leaf took no time."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Option(
        help: ArgumentHelp("The longest call of this function.", valueName: "glob|/regex/"), completion: .function)
    var call: String?

    @Option(
        help: ArgumentHelp("Instead of a call, a stretch of time of one thread: from here.", valueName: "time"),
        transform: TimeSpan.init(argument:))
    var from: TimeSpan?

    @Option(help: ArgumentHelp("And to here.", valueName: "time"), transform: TimeSpan.init(argument:))
    var to: TimeSpan?

    @Option(
        help: ArgumentHelp("Tell when it would end if these functions took no time.", valueName: "glob|/regex/"),
        completion: .function)
    var without: String?

    @Option(help: ArgumentHelp("Show this many parts; 0 for all. On a terminal, as many as fit.", valueName: "parts"))
    var limit: Int?

    @Option(help: "How to write it.")
    var format = ReportFormat.text

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of parts") }
        if (call == nil) == (from == nil && to == nil) {
            throw ValidationError("name a call (--call FUNC), or a stretch of time (--from, --to)")
        }
        if let from, let to, from.nanoseconds >= to.nanoseconds { throw ValidationError("--from is before --to") }
        _ = try call.map(namePattern)
        _ = try without.map(namePattern)
    }

    func run() throws {
        let end = SessionQuery.ChainEnd.stretch(from: from?.nanoseconds ?? 0, to: to?.nanoseconds ?? .max)
        let path = try input.query { $0.joinsTasks = false }.chain(
            call.map { try .call(namePattern($0)) } ?? end, without: without.map(namePattern))
        let screen = Screen(screenOptions, format)
        let report = ChainReport(path.content, limit: screen.rows(limit, lines: 2), layout: screen.layout)
        try screen.show(report, as: format, of: path)
    }
}
