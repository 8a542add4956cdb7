internal import ArgumentParser
internal import TraceFormat
internal import TraceReports

struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what a session holds: the command, processes, threads, modules, sizes, damage.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @Argument(help: "A session directory, or a program recorded into PROGRAM.fathom.")
    var session: String

    @Flag(help: "List the modules of each process.")
    var modules = false

    @Option(help: "text or json.")
    var format = Format.text

    func run() throws {
        let opened = try openSession(session)
        let writer = StandardOutput.writer()
        let report = InfoReport(writer, session: opened, showsModules: modules)
        switch format {
        case .text: report.writeText()
        case .json: report.writeJSON()
        }
        try StandardOutput.finish(writer)
        Diagnostics.warn(opened.damage)
    }
}
