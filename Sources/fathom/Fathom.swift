internal import ArgumentParser
internal import Glibc
internal import TraceBuild
internal import TraceRecording
internal import TraceText

@main
enum Main {
    static func main() {
        // It was called by a compiler's name, as one of the stand-ins that `fathom build` puts into PATH.
        if let name = GivenArguments.all.first, StandIns.isStandIn(name) {
            compile(as: name, Array(GivenArguments.all.dropFirst()))
        }
        if StandInFrontend.isCalled { StandInFrontend.run() }
        if StandInAs.isCalled { StandInAs.run() }
        let arguments = History.arguments(Array(GivenArguments.all.dropFirst()))
        ZshCompletion.writeIfAsked(arguments)
        do {
            var command = try Fathom.parsed(arguments)
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
            Build.self, CCompiler.self, CXXCompiler.self, Record.self, Arm.self, Ctl.self, Top.self, WatchCommand.self,
            SampleCommand.self, Tree.self, ReportCommand.self, Graph.self, TailCommand.self, WaitsCommand.self,
            ChainCommand.self,
            StartupCommand.self, Flame.self, View.self, Browse.self, Diff.self, History.self, GateCommand.self,
            Export.self,
            CollectCommand.self,
            Tune.self, Unused.self, Order.self, Info.self, Dump.self, Pack.self, Unpack.self,
            Doctor.self,
        ],
        examples: [
            ("fathom build -- make", "Builds a C or C++ program with hooks."),
            ("fathom record -- ./prog", "Records what it calls."),
            ("fathom tree prog.fathom", "Shows every call."),
        ])
}

extension Fathom {
    /// The command that arguments ask for.
    ///
    /// To read all commands' options takes half of the time in which a recording starts. So `record` is tried alone, and what is
    /// wrong with it is found out with the others.
    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        if arguments.first == Record._commandName, let record = try? Record.parse(Array(arguments.dropFirst())) {
            return record
        }
        try refuseUnknownCommand(arguments)
        return try parseAsRoot(Diff.arguments(arguments))
    }

    /// The command that arguments are for, or this one.
    static func command(of arguments: [String]) -> any ParsableCommand.Type {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var command: any ParsableCommand.Type = self
        for word in words {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            command = next
        }
        return command
    }

    /// Returns a command's name on the command line.
    static func name(of command: any ParsableCommand.Type) -> String {
        if command == self { return _commandName }
        let parent = configuration.subcommands.first { parent in
            parent.configuration.subcommands.contains { $0 == command }
        }
        return ([_commandName] + (parent.map { [$0._commandName] } ?? []) + [command._commandName]).joined(
            separator: " ")
    }

    /// Refuses what is none of the commands, and asks what was meant.
    static func refuseUnknownCommand(_ arguments: [String]) throws {
        let command = command(of: arguments)
        let commands = command.configuration.subcommands
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        let depth = command == self ? 0 : self.name(of: command).split(separator: " ").count - 1
        guard !commands.isEmpty, let name = words.dropFirst(depth).first, !name.hasPrefix("-"), name != "help" else {
            return
        }
        let near = NearNames(to: name, among: commands.map { $0._commandName })
        let kind = command == self ? "command" : "command of \(self.name(of: command))"
        let rest = near.names.isEmpty && command == self ? advice(on: name) : near.question
        throw ValidationError("there is no \(kind) '\(name)'\(rest)")
    }

    /// What may be done with a file that stands where a command is to be.
    private static func advice(on path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "" }
        let word = CommandText.file(path)
        return status.st_mode & S_IFMT == S_IFDIR
            ? "; a session is read by fathom tree \(word)" : "; a program is recorded by fathom record -- \(word)"
    }
}
