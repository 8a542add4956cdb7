internal import Glibc

/// One command that compiles sources with hooks.
struct HookedCompilation {
    let compiler: Compiler
    let invocation: CompilerInvocation
    /// Its arguments as they were given: response files stand there by their names.
    let given: [String]
    let options: BuildOptions
    /// The sources that get hooks, at least one.
    let covered: [String]
    let directory: String
    /// Objects to link besides.
    let linked: [String]
    /// What makes gcc call our assembler.
    private let assembler: [String]
    private let systemHeaders: SystemHeaders

    init(
        compiler: Compiler, invocation: CompilerInvocation, given: [String], options: BuildOptions, covered: [String],
        directory: String, linked: [String], assembler: [String]
    ) {
        self.compiler = compiler
        self.invocation = invocation
        self.given = given
        self.options = options
        self.covered = covered
        self.directory = directory
        self.linked = linked
        self.assembler = assembler
        let leavesOut = !options.dormant && (!options.systemHeaders || !options.only.isEmpty)
        let headers =
            leavesOut
            ? SystemHeaders(compiler, invocation, in: directory, log: options.log.map(BuildLog.init)) : .none
        // Whoever asks by `--only` for functions of system headers gets them.
        systemHeaders = options.only.contains { headers.hold($0 + "/") } ? .none : headers
    }

    /// Compiles. Where one step is enough, this process becomes the compiler.
    func become() throws(BuildError) -> Int32 {
        if isSeparate || writesAssembly { return try run(adding: []) }
        throw Subprocess.become(command(adding: []))
    }

    /// - Parameter flags: options that come behind the command's own.
    /// - Returns: The exit status.
    func run(adding flags: [String]) throws(BuildError) -> Int32 {
        let status = isSeparate ? try separate.run(adding: flags) : try Subprocess.run(command(adding: flags))
        if status == 0, writesAssembly {
            for source in covered { try StandInAssembler.settle(invocation.result(of: source)) }
        }
        return status
    }

    /// Whether gcc writes assembly for somebody else, which does not come by our assembler.
    private var writesAssembly: Bool { !assembler.isEmpty && !options.dormant && invocation.stage == .assembly }

    private func command(adding flags: [String]) -> [String] {
        compiler.launcher + [compiler.path] + hooks + given + flags + linked
    }

    private var hooks: [String] {
        assembler
            + HookFlags.all(
                compiler.family, options,
                systemHeaders: compiler.family == .gcc
                    ? systemHeaders.texts(besides: invocation.includeDirectories) : [])
    }

    private var isSeparate: Bool {
        // Where gcc also links, the options that mark places for sleds would link the profiler's start files.
        let isApart = options.dormant && compiler.family == .gcc && invocation.stage == .link
        return covered.count < invocation.sources.count || form != .none || isApart
    }

    private var separate: SeparateCompilation {
        SeparateCompilation(
            compiler: compiler, invocation: invocation, options: options, directory: directory, linked: linked,
            hooks: hooks, form: form, systemHeaders: systemHeaders)
    }

    /// clang has no options to leave functions out: their hooks are taken out of its intermediate form.
    private var form: SeparateCompilation.Form {
        guard compiler.family == .clang, !options.dormant || options.excludesFunctions else { return .none }
        if options.excludesFunctions { return .demanded }
        return invocation.hasIntermediateForm ? .tried : .none
    }
}

extension CompilerInvocation {
    /// Whether clang can compile the command in two steps, by way of its intermediate form, with the same result.
    fileprivate var hasIntermediateForm: Bool {
        if let language, !["c", "c++", "none"].contains(language) { return false }
        // These options make files of other kinds, or files that are named after the result.
        let other = [
            "-save-temps", "-fmodule", "--precompile", "-fopenmp-targets", "--offload", "-fembed-bitcode", "-emit-pch",
            "-arch", "-MJ", "-ftime-trace", "-gsplit-dwarf", "--coverage", "-fprofile-arcs", "-ftest-coverage",
        ]
        return !arguments.contains { argument in other.contains { argument.hasPrefix($0) } }
    }
}
