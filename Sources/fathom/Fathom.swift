internal import ArgumentParser
internal import TraceBuild
internal import TraceRecording

@main
enum Main {
    static func main() {
        // It was called by a compiler's name, as one of the stand-ins that `fathom build` puts into PATH.
        if let name = CommandLine.arguments.first, StandIns.isStandIn(name) {
            compile(as: name, Array(CommandLine.arguments.dropFirst()))
        }
        if StandInFrontend.isCalled { StandInFrontend.run() }
        do {
            var command = try Fathom.parseAsRoot(Diff.arguments(Array(CommandLine.arguments.dropFirst())))
            try command.run()
        } catch {
            Fathom.exit(withError: Diagnostics.ended(by: error))
        }
    }
}

struct Fathom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fathom",
        abstract: "Record every function call of a program, and read where its time went.",
        version: Recorder.version,
        subcommands: [
            Build.self, CCompiler.self, CXXCompiler.self, Record.self, Tree.self, ReportCommand.self, Graph.self,
            Flame.self, Diff.self, Export.self, Tune.self, Info.self, Dump.self,
            Doctor.self,
        ],
        examples: [
            ("fathom build -- make", "Builds a C or C++ program with hooks."),
            ("fathom record -- ./prog", "Records what it calls."),
            ("fathom tree prog.fathom", "Shows every call."),
        ])
}
