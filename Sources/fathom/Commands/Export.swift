internal import ArgumentParser
internal import TraceAnalysis
internal import TraceExport
internal import TraceFile
internal import TraceQuery

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a session for another tool.",
        examples: [
            (
                "fathom export prog.fathom --format perfetto -o prog.perfetto-trace",
                "Writes the timeline for ui.perfetto.dev."
            ),
            (
                "fathom export prog.fathom --format pprof -o prog.pb.gz",
                "Writes the call paths for go tool pprof."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(
        help: """
            What to write. Rows of folded, pprof and parquet name all callers of a path: where that makes more than 1 GB, of deep \
            recursion, nothing is written, and the --max-depth that fits is told.
            """)
    var format: ExportFormat

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"), completion: .file())
    var output: String

    @Flag(
        help: """
            Write several files by time, FILE-1, FILE-2 …, each small enough for the format's viewers. A call that \
            reaches over a cut is in each of the files that it touches, for as long as it ran there.
            """)
    var split = false

    @Option(help: ArgumentHelp("Calls a file, for --split.", valueName: "calls"))
    var splitCalls: UInt64?

    func validate() throws {
        guard split || splitCalls != nil else { return }
        if !split { throw ValidationError("--split-calls needs --split") }
        if splitCalls == 0 { throw ValidationError("--split-calls: a file holds one call at least") }
        if output == "-" { throw ValidationError("--split needs a file name to number, not standard output") }
        guard format.callLimit != nil else {
            throw ValidationError("--split: files of format \(format) do not grow with the calls, or are for no viewer")
        }
    }

    func run() throws {
        let query = try input.query(filters)
        let source = ExportSource(
            query.session, resolver: query.resolver, selection: try query.selected(), filter: query.filter)
        let parts = split ? source.split(calls: splitCalls ?? format.callLimit ?? .max) : [source]
        if let reason = format.exporter.refusal(source) {
            throw Diagnostics.fail("\(format): \(reason)", .nothing)
        }
        var written: UInt64 = 0
        for (index, part) in parts.enumerated() {
            let name = split ? numbered(index + 1) : output
            let file = try OutputFile(name)
            var summary = format.exporter.export(part, to: file.writer)
            try file.finish()
            summary.canSplit = !split && output != "-"
            for warning in summary.warnings { Diagnostics.warn(split ? "\(name): \(warning)" : warning) }
            written += summary.written
        }
        if split {
            let (first, last) = (numbered(1), numbered(parts.count))
            Diagnostics.say(
                parts.count == 1 ? "wrote 1 file: \(first)" : "wrote \(parts.count) files: \(first) … \(last)")
        }
        Diagnostics.warn(query.session.warnings)
        guard written > 0 else { throw query.emptiness }
    }

    /// The output's name with a number before its extension: trace-1.json, of speedscope's trace-1.speedscope.json.
    private func numbered(_ number: Int) -> String {
        let directory = output.lastIndex(of: "/").map { output[...$0] } ?? output.prefix(0)
        let name = output[directory.endIndex...]
        let dot = name.dropFirst().firstIndex(of: ".") ?? name.endIndex
        return "\(directory)\(name[..<dot])-\(number)\(name[dot...])"
    }
}
