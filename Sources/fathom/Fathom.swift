internal import ArgumentParser
internal import Glibc
internal import TraceBuild
internal import TraceRecording
internal import TraceText

@main
enum Main {
    static func main() {
        // It was called by a compiler's name, as one of the stand-ins that `fathom build` puts into PATH.
        if let name = CommandLine.arguments.first, StandIns.isStandIn(name) {
            compile(as: name, Array(CommandLine.arguments.dropFirst()))
        }
        if StandInFrontend.isCalled { StandInFrontend.run() }
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            try Fathom.refuseUnknownCommand(arguments)
            var command = try Fathom.parseAsRoot(Diff.arguments(arguments))
            try command.run()
        } catch {
            StandardOutput.leavePager()
            Ending.end(Fathom.command(of: arguments), by: error, arguments)
        }
    }
}

struct Fathom: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fathom",
        abstract: "Record every function call of a program, and read where its time went.",
        version: Recorder.version,
        subcommands: [
            Build.self, CCompiler.self, CXXCompiler.self, Record.self, Ctl.self, Top.self, WatchCommand.self,
            SampleCommand.self, Tree.self, ReportCommand.self, Graph.self, TailCommand.self, WaitsCommand.self,
            ChainCommand.self,
            Flame.self, Browse.self, Diff.self, Export.self, Tune.self, Unused.self, Order.self, Info.self, Dump.self,
            Doctor.self,
        ],
        examples: [
            ("fathom build -- make", "Builds a C or C++ program with hooks."),
            ("fathom record -- ./prog", "Records what it calls."),
            ("fathom tree prog.fathom", "Shows every call."),
        ])
}

extension Fathom {
    /// The command that arguments are for, or this one.
    static func command(of arguments: [String]) -> any ParsableCommand.Type {
        let name = commandName(in: arguments)
        return configuration.subcommands.first { $0._commandName == name } ?? self
    }

    /// What a command is called on the command line.
    static func name(of command: any ParsableCommand.Type) -> String {
        command == self ? _commandName : "\(_commandName) \(command._commandName)"
    }

    private static func commandName(in arguments: [String]) -> String? {
        arguments.first == "help" ? arguments.dropFirst().first : arguments.first
    }

    /// Refuses what is none of the commands, and asks what was meant.
    static func refuseUnknownCommand(_ arguments: [String]) throws {
        guard let name = commandName(in: arguments), !name.hasPrefix("-"), name != "help",
            command(of: arguments) == self
        else { return }
        let near = NearNames(to: name, among: configuration.subcommands.map { $0._commandName })
        throw ValidationError("there is no command '\(name)'\(near.names.isEmpty ? advice(on: name) : near.question)")
    }

    /// What may be done with a file that stands where a command is to be.
    private static func advice(on path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        let word = CommandText.line([path])
        return status.st_mode & S_IFMT == S_IFDIR
            ? "; a session is read by fathom tree \(word)" : "; a program is recorded by fathom record -- \(word)"
    }
}
