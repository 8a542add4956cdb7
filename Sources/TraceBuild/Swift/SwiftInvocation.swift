/// What Fathom needs to know of one call of `swiftc`, or of `swift` with a command behind it.
struct SwiftInvocation {
    enum Stage {
        /// Answers a question, checks types, interprets, or is about packages without building them.
        case nothing
        /// Builds a package: `swift build`, `swift-test`.
        case package
        /// Stops at objects or what comes before them.
        case object
        case link
    }

    private(set) var stage = Stage.nothing
    /// Files to compile.
    private(set) var sources: [String] = []
    /// Objects and static libraries to link.
    private(set) var objects: [String] = []
    /// `-o`; nil when the compiler chooses.
    private(set) var output: String?

    /// - Parameters:
    ///   - name: what is called; a path will do.
    ///   - arguments: what it is called with.
    init(_ name: String, _ arguments: [String]) {
        let name = lastComponent(name)
        if name == "swiftc" {
            readCompilation((try? ResponseFile.expand(arguments)) ?? arguments)
        } else if name.hasPrefix("swift-") {
            readPackage(String(name.dropFirst(6)), arguments[...])
        } else if let first = arguments.first, Self.building.contains(first) {
            readPackage(first, arguments.dropFirst())
        }
    }

    /// The first two words of a `swift` command that builds nothing, such as `swift package`; nil for any other
    /// command.
    static func buildsNothing(_ command: [String]) -> String? {
        guard lastComponent(command[0]) == "swift" else { return nil }
        if let second = command.dropFirst().first, building.contains(second) { return nil }
        return command.prefix(2).joined(separator: " ")
    }

    /// Words behind `swift` that build.
    static let building: Set<String> = ["build", "run", "test"]

    private mutating func readPackage(_ command: String, _ arguments: ArraySlice<String>) {
        // Behind its first argument, `swift run` may have the arguments of the program that it runs.
        let own = command == "run" ? arguments.prefix(1) : arguments
        stage = own.contains { Self.questionsOfPackages.contains($0) } ? .nothing : .package
    }

    private mutating func readCompilation(_ arguments: [String]) {
        if let first = arguments.first, Self.otherTools.contains(first) { return }
        stage = .link
        var (emitsModule, emitsCode, asks) = (false, false, false)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-o": output = rest.popFirst()
            case "-c", "-emit-object", "-emit-assembly", "-S", "-emit-ir", "-emit-bc": stage = .object
            case "-emit-executable", "-emit-library": emitsCode = true
            case "-emit-module": emitsModule = true
            case _ where Self.questions.contains(argument): asks = true
            case _ where Self.takesNext.contains(argument): rest = rest.dropFirst()
            case _ where argument.hasPrefix("-"): break
            case _ where argument.hasSuffix(".swift"): sources.append(argument)
            case _ where argument.hasSuffix(".o") || argument.hasSuffix(".a"): objects.append(argument)
            default: break
            }
        }
        if asks || emitsModule && !emitsCode && stage != .object || sources.isEmpty && objects.isEmpty {
            stage = .nothing
        }
    }

    /// First arguments that make `swiftc` act as another program.
    private static let otherTools: Set<String> = ["-frontend", "-modulewrap", "-autolink-extract"]

    private static let questions: Set<String> = [
        "-version", "--version", "-help", "--help", "-h", "-help-hidden", "-print-target-info", "-typecheck", "-parse",
        "-dump-parse", "-dump-ast", "-print-ast", "-emit-sil", "-emit-silgen", "-emit-sib", "-emit-sibgen", "-emit-pch",
        "-emit-pcm", "-dump-pcm", "-scan-dependencies", "-emit-imported-modules", "-dump-type-info", "-###",
        "-driver-print-jobs",
    ]

    private static let questionsOfPackages: Set<String> = ["--version", "--help", "-h", "-help", "--show-bin-path"]

    /// Options whose value could be taken for a file to compile or link.
    private static let takesNext: Set<String> = [
        "-Xlinker", "-Xcc", "-Xfrontend", "-Xllvm", "-Xclang-linker", "-Xcxx", "-module-name", "-module-link-name",
        "-I",
        "-L", "-F", "-D", "-target", "-sdk", "-resource-dir", "-output-file-map", "-import-objc-header",
        "-working-directory",
        "-emit-module-path", "-emit-dependencies-path", "-serialize-diagnostics-path",
    ]
}
