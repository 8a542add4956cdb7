internal import ArgumentParser
internal import TraceAnalysis
internal import TraceExport
internal import TraceFormat

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write a session for another tool.")

    @OptionGroup var input: SessionOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions

    @Option(help: "What to write.")
    var format: ExportFormat

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var output: String

    func run() throws {
        let filter = try filters.treeFilter()
        let session = try input.open()
        let selection = try input.selection(of: session)
        let resolver = FunctionResolver(SymbolSource().functions(lines: true))
        let source = ExportSource(session, resolver: resolver, selection: selection, filter: filter)
        let file = try OutputFile(output)
        let summary = format.exporter.export(source, to: file.writer)
        try file.finish()
        for warning in summary.warnings { Diagnostics.warn(warning) }
        Diagnostics.warn(session.damage)
        Diagnostics.warn(session.losses)
        guard summary.written > 0 else { throw Diagnostics.fail("no calls to export", status: 1) }
    }
}
