internal import Glibc

/// A build command, run with the stand-ins before the compilers.
public struct BuildRun {
    private let command: [String]
    private var options: BuildOptions
    private let program: String

    /// - Parameter program: Fathom's executable.
    public init(command: [String], options: BuildOptions, program: String) {
        self.command = command
        self.options = options
        self.program = program
    }

    /// Runs the command to its end.
    ///
    /// - Throws: ``BuildError`` when it could not be started.
    public func run() throws(BuildError) -> BuildResult {
        if let refused = SwiftInvocation.buildsNothing(command) { throw .buildsNothing(refused) }
        let language = OtherLanguage(command)
        if let language, language.isAlone { throw .otherLanguage(language.name, command[0]) }
        let standIns = try StandIns.make(of: program)
        let log = try BuildLog.make()
        defer { log.remove() }
        let start = log.time
        let directory = currentDirectory()
        var options = options
        options.log = log.location
        setenv(BuildOptions.variable, options.encoded, 1)
        setenv("PATH", "\(standIns):\(environmentVariable("PATH") ?? "/usr/bin:/bin")", 1)
        // A compiler that the user names by its path goes through a stand-in too.
        for variable in StandIns.compilerVariables {
            guard let value = environmentVariable(variable), value.hasPrefix("/"),
                CompilerName.isCompiler(lastComponent(value))
            else { continue }
            setenv(variable, StandIns.standIn(for: value, program: program).joined(separator: " "), 1)
        }
        let isPath = command[0].contains("/") && StandIns.isStandIn(command[0])
        let words = isPath ? StandIns.standIn(for: command[0], program: program) + command.dropFirst() : command
        // The command gets the terminal's signals too. We wait for what it does about them.
        let ignored = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in ignored { signal(number, handler) } }
        let status = try Subprocess.run(words, restoring: ignored.filter { $0.1 == nil }.map(\.0))
        guard status == 0 else { return BuildResult(status: status, lines: []) }
        let built = try log.entries()
        if built.isEmpty, let language { return BuildResult(status: status, lines: [language.advice]) }
        // When the command is itself a compiler, called through Fathom, nothing can have gone past.
        if StandIns.isStandIn(command[0]) || options.order != nil {
            return BuildResult(status: status, lines: lines(built))
        }
        let past = BuildTree.objectsWithoutHooks(of: built, in: directory, since: start)
        if built.isEmpty, past.isEmpty, let tree = ConfiguredTree.built(by: command, in: directory) {
            return BuildResult(status: 1, lines: ["nothing was compiled through Fathom: " + Self.advice(on: tree)])
        }
        // A build that is up to date is none that failed, and one that makes everything without hooks is.
        return BuildResult(
            status: built.isEmpty && past.contains { $0.language == nil } ? 1 : status,
            lines: lines(built, of: past.isEmpty) + Self.warnings(past, in: directory))
    }

    /// Warns of objects that were compiled during this build, but went past Fathom.
    private static func warnings(_ objects: [BuildTree.BareObject], in directory: String) -> [String] {
        let byLanguage = Dictionary(grouping: objects, by: \.language)
        return byLanguage.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { language, objects in
            let paths = objects.map(\.path), verb = paths.count == 1 ? "has" : "have"
            let start = "warning: \(listed(paths)) \(verb) no hooks: "
            if let language { return start + "compiled from \(language), which gets none; only C, C++ and Swift do" }
            if let tree = objects.lazy.compactMap({ ConfiguredTree.holding($0.path, in: directory) }).first {
                return start + advice(on: tree)
            }
            return start + "made by a compiler that was called by its full path, "
                + "which is to be called by its name, or by another build meanwhile"
        }
    }

    private static func advice(on tree: ConfiguredTree) -> String {
        "\(tree.directory) was configured without Fathom, so compilers are called by their full paths there; configure it "
            + "anew: \(tree.remedy)"
    }

    /// What functions get.
    private var what: String { options.dormant ? "closed sleds" : "hooks" }

    /// What is said of a build whose functions were put in order.
    private func laidOut(files: Int, packages: Int) -> String {
        let compiled = files == 1 ? "1 file" : "\(files) files"
        let made = packages == 0 ? compiled : "\(packages) Swift package\(packages == 1 ? "" : "s")"
        return "\(made) compiled with a section for each function, and linked in the order that was given"
    }

    /// - Parameter isWhole: whether nothing else was compiled, as far as is known.
    private func lines(_ built: Set<BuildLog.Entry>, of isWhole: Bool = true) -> [String] {
        var (files, hooked, swiftFiles, packages, probes) = (0, 0, 0, 0, 0)
        var holdsCXX = false
        for entry in built {
            switch entry {
            case .file(let path, let isHooked):
                files += 1
                if isHooked { hooked += 1 }
                if isHooked, CompilerInvocation.isCXX(path) { holdsCXX = true }
            case .swift: swiftFiles += 1
            case .package: packages += 1
            case .probe: probes += 1
            case .directory: break
            }
        }
        if probes > 0, files + swiftFiles + packages == 0 {
            return ["configured; nothing of the program itself is compiled yet"]
        }
        if built.isEmpty, !isWhole { return ["nothing was compiled through Fathom"] }
        if built.isEmpty {
            return [
                "nothing was compiled through Fathom: if the tree is up to date, clean it; if it was configured without, "
                    + "configure it anew with fathom build; a compiler called by its full path is not seen"
            ]
        }
        var lines: [String] = []
        if options.order != nil { return [laidOut(files: files + swiftFiles, packages: packages)] }
        if files + swiftFiles > 0 {
            var line = "\(hooked + swiftFiles) of \(files + swiftFiles) files compiled with \(what)"
            if hooked + swiftFiles == 0 {
                line += ": none is left by --only and --exclude-file, or it is freestanding code"
            } else if holdsCXX, !options.systemHeaders, !options.dormant, options.only.isEmpty {
                line += ", but for functions of system headers (--system-headers)"
            }
            lines.append(line)
        }
        if packages > 0 { lines.append("\(packages) Swift package\(packages == 1 ? "" : "s") built with \(what)") }
        if swiftFiles + packages > 0, options.choosesFunctions {
            lines.append("warning: Swift code has all hooks: what leaves functions out is for C and C++")
        }
        return lines
    }
}
