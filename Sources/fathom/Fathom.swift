internal import ArgumentParser
internal import TraceRecording

@main
struct Fathom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fathom",
        abstract: "Record every function call of a program, and read where its time went.",
        version: Recorder.version,
        subcommands: [
            Record.self, Tree.self, ReportCommand.self, Graph.self, Flame.self,
            Export.self, Info.self, Dump.self,
        ])
}
