internal import ArgumentParser
internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceReports
internal import TraceText

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print every record of a session, thread by thread, in order of time.",
        usage: "fathom dump [<options>] [<session>]",
        examples: [
            (
                "fathom dump prog.fathom --thread main",
                "Prints when the main thread entered and left which function."
            ),
            (
                "fathom dump prog.fathom --format jsonl",
                "Prints a JSON object for each record, for other programs."
            ),
        ])

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, jsonl }

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Flag(help: "Show where chunks begin, too.")
    var chunks = false

    @Option(help: "text, or jsonl: one JSON object a line.")
    var format = Format.text

    func run() throws {
        let query = try input.query {
            $0.rawNames = true
            $0.joinsTasks = false
            $0.lines = false
        }
        try query.session.requireMoments(for: "fathom dump shows records of single calls")
        let selection = try query.selected()
        let screen = Screen(screenOptions, isText: format == .text)
        let writer = screen.writer()
        let report = DumpReport(
            writer, session: query.session, resolver: query.resolver, format: format == .jsonl ? .jsonLines : .text,
            showsChunks: chunks, layout: screen.layout)
        let progress = ReadingProgress(of: selection.flatMap(\.threads), report: Diagnostics.progress())
        for (_, threads) in selection {
            for thread in threads where !writer.isClosed { report.write(thread, progress) }
        }
        progress.end()
        report.writeLosses()
        try StandardOutput.finish(writer)
        Diagnostics.warn(query.session.warnings, of: query.session)
        if !query.session.hasCalls { throw query.emptiness }
    }
}
