/// What Fathom needs to know of one call of gcc or clang.
struct CompilerInvocation {
    /// How far it goes.
    enum Stage {
        /// Stops at preprocessed text, dependencies or a syntax check; or answers a question (`--version`).
        case nothing
        /// `-S`: assembly or, with `-emit-llvm`, IR.
        case assembly
        /// `-c`
        case object
        case link
    }

    /// The arguments as given, with what response files hold in place of their names.
    let arguments: [String]
    private(set) var stage = Stage.link
    /// Files to compile: C, C++, Objective-C and their preprocessed forms.
    private(set) var sources: [String] = []
    /// Files of assembly, which get no hooks.
    private(set) var assembly: [String] = []
    /// Objects and static libraries to link.
    private(set) var objects: [String] = []
    /// All files that it is given, of whatever kind.
    private(set) var files: Set<String> = []
    /// Where `-x` tells a file's language, that.
    private(set) var languages: [String: String] = [:]
    /// `-o`; nil when the compiler chooses.
    private(set) var output: String?
    /// Whether the code is made to run without a C library, which would define hooks that do nothing.
    private(set) var isFreestanding = false
    /// The value of `-x`. When it is given, file names do not tell the language.
    private(set) var language: String?

    /// Whether a file is C++ by its name or by what the command says.
    var isCXX: Bool {
        language.map { $0.contains("c++") } ?? sources.contains { Self.isCXX($0) }
    }

    static func isCXX(_ source: String) -> Bool {
        let suffix = String(source[(source.lastIndex(of: ".") ?? source.endIndex)...].dropFirst())
        return sourceSuffixes.contains(suffix) && !["c", "i", "m", "mi"].contains(suffix)
    }

    /// What is linked, where that needs a part of Fathom's; nil for anything else, such as a program that loads
    /// libraries, what already contains the runtime, and what has hooks of its own.
    var product: Product? {
        guard stage == .link,
            !arguments.contains(where: {
                $0.hasPrefix(HookFlags.everyFunction) || ["-lfathom", "-l:libfathom.a", "-r"].contains($0)
            }), !objects.contains(where: { lastComponent($0) == "libfathom.a" })
        else { return nil }
        if arguments.contains("-shared") { return .sharedLibrary }
        let isStatic = arguments.contains { ["-static", "--static", "-static-pie"].contains($0) }
        return isStatic && !isFreestanding ? .staticProgram : nil
    }

    enum Product { case sharedLibrary, staticProgram }

    /// The name that the compiler gives what it makes of a source.
    func result(of source: String) -> String {
        if let output { return output }
        let name = lastComponent(source)
        return name[..<(name.lastIndex(of: ".") ?? name.endIndex)] + (stage == .assembly ? ".s" : ".o")
    }

    /// Options for a link that also compiles. It does so with hooks, and no compilation without them can decide which
    /// of its warnings are errors.
    var warningsAtLink: [String] {
        hasFatalWarnings && arguments.contains { $0.hasPrefix("-flto") } ? ["-Wno-error"] : []
    }

    /// The option that gives functions hooks without Fathom, where one does so. gcc's for its profiler is among them, because
    /// the places for sleds are those of that profiler's hooks.
    func hooksOfItsOwn(_ family: Compiler.Family) -> String? {
        let isOff = "-fno-instrument-functions"
        let hooks = arguments.last {
            $0 == isOff || ($0.hasPrefix(HookFlags.everyFunction) && !$0.contains("-exclude-"))
        }
        if let hooks, hooks != isOff { return hooks }
        return family == .gcc ? arguments.first { ["-p", "-pg", "-mfentry"].contains($0) } : nil
    }

    /// Whether a warning may end the compilation.
    var hasFatalWarnings: Bool { arguments.contains { $0 == "-Werror" || $0.hasPrefix("-Werror=") } }

    /// - Parameter arguments: without the compiler's name.
    init(_ arguments: [String]) {
        self.arguments = (try? ResponseFile.expand(arguments)) ?? arguments
        var rest = self.arguments[...]
        var asks = false
        while let argument = rest.popFirst() {
            switch argument {
            case "-o": output = rest.popFirst()
            case "-x": language = rest.popFirst()
            case "-c": if stage == .link { stage = .object }
            case "-S": if stage != .nothing { stage = .assembly }
            case "-E", "-M", "-MM", "-fsyntax-only", "--analyze": stage = .nothing
            case "-ffreestanding", "-nostdlib", "-nodefaultlibs", "-nolibc", "-mkernel": isFreestanding = true
            case "--version", "-###", "--help", "-cc1", "-cc1as", "-cc1gen-reproducer": asks = true
            case _ where Self.takesNext.contains(argument): rest = rest.dropFirst()
            case "-":
                sources.append(argument)
                languages[argument] = language
            case _ where argument.hasPrefix("-o"): output = String(argument.dropFirst(2))
            case _ where argument.hasPrefix("-x"): language = String(argument.dropFirst(2))
            case _ where argument.hasPrefix("-dump"), _ where argument.hasPrefix("-print"): asks = true
            case _ where argument.hasPrefix("--print"): asks = true
            case _ where argument.hasPrefix("-"): break
            default: add(argument)
            }
        }
        if asks { stage = .nothing }
    }

    private mutating func add(_ file: String) {
        let dot = file.lastIndex(of: ".") ?? file.endIndex
        let suffix = file[dot...].dropFirst()
        files.insert(file)
        let told = language == "none" ? nil : language
        languages[file] = told
        if told?.hasPrefix("assembler") ?? ["s", "S", "sx"].contains(suffix) {
            assembly.append(file)
        } else if told != nil || Self.sourceSuffixes.contains(String(suffix)) {
            sources.append(file)
        } else if suffix == "o" || suffix == "a" || suffix == "lo" {
            objects.append(file)
        }
    }

    /// gcc's "Options Controlling the Kind of Output": C, C++, Objective-C and their preprocessed forms.
    private static let sourceSuffixes: Set<String> = [
        "c", "i", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii", "cppm", "ixx", "m", "mi", "mm", "M",
        "mii",
    ]

    /// Options of gcc's and clang's whose value is the next argument.
    static let takesNext: Set<String> = [
        "-A", "-B", "-D", "-F", "-G", "-I", "-L", "-MF", "-MJ", "-MQ", "-MT", "-T", "-U", "-Xanalyzer", "-Xassembler",
        "-Xclang", "-Xlinker", "-Xpreprocessor", "-arch", "-aux-info", "-dependency-file", "-dumpbase",
        "-dumpbase-ext", "-dumpdir", "-e", "-h", "-idirafter", "-imacros", "-imultilib", "-include", "-include-pch",
        "-iprefix", "-iquote", "-isysroot", "-isystem", "-isystem-after", "-ivfsoverlay", "-iwithprefix",
        "-iwithprefixbefore", "-l", "-mllvm", "-resource-dir", "-serialize-diagnostics", "-target", "-u",
        "-working-directory", "-wrapper", "-z", "--param", "--serialize-diagnostics", "--sysroot", "--target",
    ]
}
