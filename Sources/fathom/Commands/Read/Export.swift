internal import ArgumentParser
internal import TraceAnalysis
internal import TraceExport
internal import TraceFile
internal import TraceFleet
internal import TraceHistory
internal import TraceQuery
internal import TraceSystem
internal import TraceText

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
            (
                "fathom export prog.fathom --format fleet --label version=1.2 -o fleet",
                "Adds the run to tables of many runs."
            ),
        ])

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(
        help: """
            What to write. Rows of folded, pprof, otlp and parquet name all callers of a path: where that makes more than 1 GB, of \
            deep recursion, nothing is written, and the --max-depth that fits is reported. What is more than a format's viewers \
            take is reported before it is written.
            """)
    var format: ExportFormat

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            """
            The file to write; - for standard output. For fleet, the directory of the tables. A name that ends in .gz or .zst is that of a compressed file. The file is \
            there when it is whole; until then an old one stays.
            """, valueName: "file"), completion: .file())
    var output: String

    @Flag(
        help: """
            Write several files by time, FILE-1, FILE-2 …, each small enough for the format's viewers. A call that \
            reaches over a cut is in each of the files that it touches, for as long as it ran there.
            """)
    var split = false

    @Option(help: ArgumentHelp("Calls a file, for --split.", valueName: "calls"))
    var splitCalls: UInt64?

    @Flag(help: "One row for each call, instead of one for each call path; for parquet.")
    var calls = false

    @OptionGroup var cache: CacheOptions
    @OptionGroup(title: "Fleet") var labels: LabelOptions

    private var compression: Compression { Compression(ofFile: output) }

    func validate() throws {
        if calls, format.exporterOfCalls == nil {
            throw ValidationError("--calls is for parquet: the other formats have calls or call paths, and no choice")
        }
        try labels.checkFleet()
        if !labels.label.isEmpty, format != .fleet { throw ValidationError("--label is for --format fleet") }
        if format.isDirectory, output == "-" {
            throw ValidationError("\(format) is several files: name a directory, not standard output")
        }
        if format.isCompressed, compression != .none, !(format == .pprof && compression == .gzip) {
            throw ValidationError(
                "\(format) is compressed by itself, and its readers take it as it is: end the name otherwise")
        }
        guard split || splitCalls != nil else { return }
        if !split { throw ValidationError("--split-calls needs --split") }
        if splitCalls == 0 { throw ValidationError("--split-calls: a file holds one call at least") }
        if output == "-" { throw ValidationError("--split needs a file name to number, not standard output") }
        guard format.hasLimit else {
            throw ValidationError("--split: files of format \(format) do not grow with the calls, or are for no viewer")
        }
    }

    func run() throws {
        let query = try input.query(filters) { $0.usesCache = cache.isUsed }
        if calls || format.showsCalls {
            try query.session.requireCalls(for: "\(format) is a format of single calls")
        } else if query.filter.from > 0 || query.filter.to < .max {
            try query.session.requireCalls(for: "--from and --to ask for moments")
        }
        if format.isDirectory { return try writeFleet(query) }
        let first = split ? nil : try file(output)  // what cannot be written is reported before a long reading
        let source = try ExportSource(query)
        guard let exporter = (calls ? format.exporterOfCalls : nil) ?? format.exporter else { return }
        if let reason = exporter.refusal(source) {
            throw Diagnostics.fail("\(format): \(reason)", .nothing)
        }
        if let warning = format.misleadingName(output) { Diagnostics.warn(warning) }
        let written: UInt64
        if let first {
            let forecast = ExportForecast(format, of: source)
            Diagnostics.warn(forecast?.warnings(canSplit: output != "-") ?? [])
            written = try write(source, by: exporter, to: first)
        } else {
            written = try writeParts(of: source, by: exporter)
        }
        try source.answer(written, isWhole: first?.writer.isClosed != true).say()
    }

    /// Writes the session as a run of the fleet's tables.
    private func writeFleet(_ query: SessionQuery) throws {
        try FileName.check(output)
        try query.session.requireSums(for: "the tables have what all calls add up to")
        let source = try ExportSource(query)
        let run = source.fleetRun(labels: labels.label.map { ($0.name, $0.value) })
        if let reason = FleetTables(run).refusal { throw Diagnostics.fail("\(format): \(reason)", .nothing) }
        guard !run.isEmpty else { return try source.answer(0).say() }
        do throws(SystemError) {
            try FleetDirectory(output).write(run)
        } catch {
            throw Diagnostics.fail("\(error)", .failed)
        }
        try source.answer(1).say()
    }

    private func file(_ name: String) throws -> OutputFile {
        try OutputFile(name, compression: format.isCompressed ? .none : compression)
    }

    /// Writes one file, unless there is nothing to write: then an old one stays.
    private func write(_ source: ExportSource, by exporter: any Exporter, to file: OutputFile) throws -> UInt64 {
        let summary = exporter.export(source, to: file.writer)
        if summary.written > 0 || output == "-" { try file.finish() }
        Diagnostics.warn(summary.remarks)
        return summary.written
    }

    private func writeParts(of source: ExportSource, by exporter: any Exporter) throws -> UInt64 {
        let fitting = splitCalls ?? ExportForecast(format, of: source)?.callsThatFit ?? .max
        let parts = source.split(calls: fitting)
        var written: UInt64 = 0
        for (index, part) in parts.enumerated() {
            let name = numbered(index + 1)
            let file = try file(name)
            for warning in ExportForecast(format, of: part)?.warnings(canSplit: false) ?? [] {
                Diagnostics.warn("\(name): \(warning)")
            }
            written += try write(part, by: exporter, to: file)
        }
        let (first, last) = (numbered(1), numbered(parts.count))
        Diagnostics.say(parts.count == 1 ? "wrote 1 file: \(first)" : "wrote \(parts.count) files: \(first) … \(last)")
        return written
    }

    /// The output's name with a number before its extension: trace-1.json, of speedscope's trace-1.speedscope.json.
    private func numbered(_ number: Int) -> String {
        let directory = output.lastIndex(of: "/").map { output[...$0] } ?? output.prefix(0)
        let name = output[directory.endIndex...]
        let dot = name.dropFirst().firstIndex(of: ".") ?? name.endIndex
        return "\(directory)\(name[..<dot])-\(number)\(name[dot...])"
    }
}
