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

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Terminal") var screenOptions: ScreenOptions

    @Flag(help: "Show where chunks begin, too.")
    var chunks = false

    @Option(help: "text, or jsonl: one JSON object a line.")
    var format = DumpReport.Format.text

    func run() throws {
        let query = try input.query {
            $0.rawNames = true
            $0.joinsTasks = false
            $0.lines = false
        }
        try query.session.requireMoments(for: "fathom dump shows records of single calls")
        let screen = Screen(screenOptions, format)
        try screen.show { writer in
            let report = DumpReport(
                writer, session: query.session, resolver: query.resolver, format: format, showsChunks: chunks,
                layout: screen.layout)
            defer { report.writeLosses() }
            return try query.records(report.write)
        }
    }
}
