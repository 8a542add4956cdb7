internal import Glibc
internal import TraceText

/// A build command, run with the stand-ins before the compilers.
public struct BuildRun {
    private let command: [String]
    private let options: BuildOptions
    private let program: String
    private let reconfigures: Bool

    /// - Parameters:
    ///   - program: Fathom's executable.
    ///   - reconfigures: whether a tree that was configured without Fathom is configured anew first.
    public init(command: [String], options: BuildOptions, program: String, reconfigures: Bool = false) {
        self.command = command
        self.options = options
        self.program = program
        self.reconfigures = reconfigures
    }

    /// Runs the command to its end.
    ///
    /// - Throws: ``BuildError`` when it could not be started, or cannot get hooks.
    public func run() throws(BuildError) -> BuildResult {
        if let refused = SwiftInvocation.buildsNothing(command) { throw .buildsNothing(refused) }
        let language = OtherLanguage(command)
        if let language, language.isAlone { throw .otherLanguage(language.name, command[0]) }
        let standIns = try StandIns.make(of: program)
        if ["bazel", "bazelisk"].contains(lastComponent(command[0])) { throw try bazel(standIns) }
        let log = try BuildLog.make()
        defer { log.remove() }
        let start = log.time
        let directory = currentDirectory()
        setUp(standIns, log)
        let tree = StandIns.isStandIn(command[0]) ? nil : self.tree(in: directory)
        var notes: [String] = []
        var lost = try tree.map { (tree) throws(BuildError) in try unrestored(tree.lost) } ?? []
        if let tree, reconfigures, tree.goesPast || !lost.isEmpty || isBare(tree, in: directory, since: start) {
            for (index, words) in tree.reconfigure.enumerated() {
                let status = try Subprocess.run(words)
                guard status == 0 || index > 0 else { return BuildResult(status: status, lines: []) }
            }
            lost = []
            notes = ["from here on, the tree \(tree.directory) calls Fathom in plain builds, too"]
        }
        let isPath = command[0].contains("/") && StandIns.isStandIn(command[0])
        let words = isPath ? StandIns.standIn(for: command[0], program: program) + command.dropFirst() : command
        // The command gets the terminal's signals too. We wait for what it does about them.
        let ignored = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in ignored { signal(number, handler) } }
        let status = try Subprocess.run(words, restoring: ignored.filter { $0.1 == nil }.map(\.0))
        guard status == 0 else {
            return BuildResult(status: status, lines: lost.isEmpty ? [] : [Self.gone(lost, remedy)])
        }
        let summary = BuildSummary(
            built: try log.entries(), command: command, options: options, program: program, directory: directory,
            start: start)
        let result = summary.result(reconfigureBy: remedy)
        return BuildResult(status: result.status, lines: result.lines + notes)
    }

    /// Sets the environment that the command is to run in.
    private func setUp(_ standIns: [String], _ log: BuildLog) {
        var options = options
        options.log = log.location
        setenv(BuildOptions.variable, options.encoded, 1)
        let path = standIns + [environmentVariable("PATH") ?? "/usr/bin:/bin"]
        setenv("PATH", path.joined(separator: ":"), 1)
        // A compiler that the user names by its path goes through a stand-in too.
        for variable in StandIns.compilerVariables {
            guard let value = environmentVariable(variable), value.hasPrefix("/"),
                CompilerName.isCompiler(lastComponent(value))
            else { continue }
            setenv(variable, StandIns.standIn(for: value, program: program).joined(separator: " "), 1)
        }
    }

    private func tree(in directory: String) -> ConfiguredTree? {
        ConfiguredTree.built(by: command, in: directory, program: program)
    }

    /// Puts stand-ins back that a tree was configured with.
    ///
    /// - Returns: Those that cannot be.
    private func unrestored(_ paths: [String]) throws(BuildError) -> [String] {
        var left: [String] = []
        for path in paths where try !StandIns.restore(path, program: program) { left.append(path) }
        return left
    }

    /// Whether a tree calls Fathom, but holds what was compiled without.
    private func isBare(_ tree: ConfiguredTree, in directory: String, since start: timespec) -> Bool {
        if case .bare = BuildTree.content(of: tree.directory, in: directory, since: start) { return true }
        return false
    }

    /// The command that configures anew what this one builds, and builds it.
    private var remedy: String { "fathom build --reconfigure -- \(CommandText.line(command))" }

    private static func gone(_ paths: [String], _ remedy: String) -> String {
        "the tree was configured with \(listed(paths)), which \(paths.count == 1 ? "is" : "are") not there any more; "
            + "configure it anew: \(remedy)"
    }

    /// Bazel runs compilers in an environment of its own, so it has to be told which to call. They may write nothing where it
    /// runs them, so all that they need is made before.
    private func bazel(_ standIns: [String]) throws(BuildError) -> BuildError {
        _ = try StandIns.assembler(program: program)
        let compiler = standIns.map { "\($0)/gcc" }.first { access($0, X_OK) == 0 } ?? "\(standIns.last ?? "")/gcc"
        return .bazel(
            CommandText.line(
                [command[0]] + command.dropFirst().prefix(1) + ["--repo_env=CC=\(compiler)"]
                    + command.dropFirst(2)))
    }
}
