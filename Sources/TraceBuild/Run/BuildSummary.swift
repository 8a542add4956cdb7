internal import Glibc
internal import TraceSymbols
internal import TraceSystem
internal import TraceText

/// What came of a build whose command has succeeded.
struct BuildSummary {
    let built: Set<BuildLog.Entry>
    let command: [String]
    let options: BuildOptions
    /// Fathom's executable.
    let program: String
    /// Where the command ran.
    let directory: String
    /// When it was started.
    let start: timespec

    /// How the build went: with status 1 where nothing got hooks of what was built.
    ///
    /// - Parameter remedy: the command that configures a tree anew, where it was configured without Fathom.
    func result(reconfigureBy remedy: String) -> BuildResult {
        let status: Int32 = options.order == nil && hasOnlyBareFiles ? 1 : 0
        // When the command is itself a compiler, called through Fathom, nothing can have gone past.
        if StandIns.isStandIn(command[0]) || options.order != nil {
            return BuildResult(status: status, lines: built.isEmpty ? [Self.nothing] : lines)
        }
        let past = BuildTree.objectsWithoutHooks(of: built, in: directory, since: start)
        if built.isEmpty, past.isEmpty { return withoutCompilations(remedy) }
        if built.isEmpty {
            // What is of another language is no reason to fail.
            let fails = past.contains { $0.language == nil }
            return BuildResult(status: fails ? 1 : 0, lines: [Self.nothing] + warnings(past, remedy))
        }
        return BuildResult(status: status, lines: lines + warnings(past, remedy))
    }

    /// Commands whose directory has, as a rule, no programs but those that they make.
    private static let makesPrograms: Set<String> = ["make", "gmake", "ninja", "cmake"]
    private static let nothing = "nothing was compiled through Fathom"

    /// Whether files of C and C++ were compiled, all of them without hooks, and nothing else.
    private var hasOnlyBareFiles: Bool {
        var files = 0
        for entry in built {
            switch entry {
            case .file(_, let isHooked):
                if isHooked { return false }
                files += 1
            case .swift, .package: return false
            case .probe, .products, .directory: break
            }
        }
        return files > 0
    }

    /// A build that is up to date is none that failed, but one is whose program has no hooks.
    private func withoutCompilations(_ remedy: String) -> BuildResult {
        let place = BuildTree.place(of: command) ?? "."
        let content = BuildTree.content(
            of: place, in: directory, since: Self.makesPrograms.contains(lastComponent(command[0])) ? timespec() : start
        )
        if content == .hooks {
            return BuildResult(
                status: 0,
                lines: ["nothing was to be compiled: all is up to date; fathom info PROGRAM tells what has hooks"])
        }
        if let tree = ConfiguredTree.built(by: command, in: directory, program: program), tree.goesPast {
            return BuildResult(status: 1, lines: ["\(Self.nothing): \(Self.advice(on: tree, remedy))"])
        }
        if case .bare(let path) = content, path.hasSuffix(".o") || OtherLanguage(command) == nil {
            let reason =
                "\(path) has no hooks, because it was made before, or by a compiler that was called by its full path; clean the tree "
                + "and build it again"
            return BuildResult(status: 1, lines: ["\(Self.nothing): \(reason)"])
        }
        if let language = OtherLanguage(command) { return BuildResult(status: 1, lines: [language.advice]) }
        return BuildResult(
            status: 0,
            lines: [Self.nothing + ": the command made nothing in \(place == "." ? "this directory" : place)"])
    }

    /// Warns of objects that were compiled during this build, but went past Fathom.
    private func warnings(_ objects: [BuildTree.BareObject], _ remedy: String) -> [String] {
        let byLanguage = Dictionary(grouping: objects, by: \.language)
        return byLanguage.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { language, objects in
            let paths = objects.map(\.path), verb = paths.count == 1 ? "has" : "have"
            let start = "warning: \(listed(paths)) \(verb) no hooks: "
            if let language { return start + "compiled from \(language), which gets none; only C, C++ and Swift do" }
            let trees = objects.lazy.compactMap { object in
                ConfiguredTree.holding(object.path, in: directory, program: program)
            }
            if let tree = trees.first(where: \.goesPast) { return start + Self.advice(on: tree, remedy) }
            return start + "made by a compiler that was called by its full path, "
                + "which is to be called by its name, or by another build meanwhile"
        }
    }

    private static func advice(on tree: ConfiguredTree, _ remedy: String) -> String {
        let fresh =
            tree.reconfigure.first?.first == "cmake" ? "begin it again by fathom build -- cmake --fresh, or " : ""
        return
            "the tree \(tree.directory) was configured without Fathom, so compilers are called by their full paths there; "
            + "\(fresh)configure it anew: \(remedy)"
    }

    /// What functions get.
    private var what: String { options.dormant ? "closed sleds" : "hooks" }

    /// What is said of a build whose functions were put in order.
    private func laidOut(files: Int, packages: Int) -> String {
        let compiled = files == 1 ? "1 file" : "\(files) files"
        let made = packages == 0 ? compiled : "\(packages) Swift package\(packages == 1 ? "" : "s")"
        return "\(made) compiled with a section for each function, and linked in the order that was given"
    }

    private var lines: [String] {
        var (files, hooked, swiftFiles, packages, probes) = (0, 0, 0, 0, 0)
        var holdsCXX = false
        var products: [String] = []
        for entry in built {
            switch entry {
            case .file(let path, let isHooked):
                files += 1
                if isHooked { hooked += 1 }
                if isHooked, CompilerInvocation.isCXX(path) { holdsCXX = true }
            case .swift: swiftFiles += 1
            case .package: packages += 1
            case .products(let path): products.append(path)
            case .probe: probes += 1
            case .directory: break
            }
        }
        if probes > 0, files + swiftFiles + packages == 0 {
            return ["configured; nothing of the program itself is compiled yet"]
        }
        if options.order != nil { return [laidOut(files: files + swiftFiles, packages: packages)] }
        var lines: [String] = []
        if files + swiftFiles > 0 {
            var line = "\(hooked + swiftFiles) of \(files + swiftFiles) files compiled with \(what)"
            if hooked + swiftFiles == 0 {
                line += ": none is left by --only and --exclude-file, or it is freestanding code"
            } else if holdsCXX, !options.systemHeaders, !options.dormant, options.only.isEmpty {
                line += "; those of system headers have none (--system-headers)"
            }
            lines.append(line)
        }
        if packages > 0 {
            let programs = products.sorted().flatMap(programs)
            lines.append(
                "\(packages) Swift package\(packages == 1 ? "" : "s") built with \(what)"
                    + (programs.isEmpty ? "" : ": \(listed(programs))"))
        }
        if swiftFiles + packages > 0, options.choosesFunctions {
            lines.append("warning: Swift code has all hooks: what leaves functions out is for C and C++")
        }
        return lines
    }

    /// The programs in a package's directory of products, but for the package's own tools, as the user names them.
    private func programs(in products: String) -> [String] {
        (Directory.names(in: products) ?? []).sorted().map { "\(products)/\($0)" }.filter { path in
            let name = lastComponent(path)
            guard name.hasSuffix(".xctest") || !name.contains("."), !name.hasSuffix("-tool"),
                access(path, X_OK) == 0, let program = try? ExecutableInspection.inspect(path: path)
            else { return false }
            return [.elfDynamic, .elfStatic].contains(program.kind)
        }.map { PathText.relative($0, to: directory) }
    }
}
