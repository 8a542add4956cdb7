internal import Glibc

/// Stands before a compiler: adds the hooks and lets it go on.
public struct CompilerDriver {
    /// Files that go into what is linked.
    public struct Parts: Sendable {
        /// What Swift code with hooks needs: `libfathom-swift.o`.
        public var swiftHooks: String
        /// What shared libraries with hooks get: `libfathom-shared.o`.
        public var sharedHooks: String
        /// What programs with hooks get that load no library: `libfathom.static`, options that link the runtime, which
        /// lies beside it.
        public var staticRuntime: String
        /// What programs and shared libraries with sleds get: `libfathom-sleds.o`.
        public var sleds: String

        public init(swiftHooks: String, sharedHooks: String, staticRuntime: String, sleds: String) {
            self.sleds = sleds
            self.swiftHooks = swiftHooks
            self.sharedHooks = sharedHooks
            self.staticRuntime = staticRuntime
        }
    }

    private let compiler: Compiler
    private let invocation: CompilerInvocation
    private let given: [String]
    private let options: BuildOptions
    private let directory = currentDirectory()

    /// - Parameters:
    ///   - name: what was called: `gcc`, `/usr/bin/clang++`, `ccache`.
    ///   - arguments: what it was called with.
    /// - Throws: ``BuildError/noCompiler(_:)``.
    public init(name: String, arguments: [String], options: BuildOptions) throws(BuildError) {
        var launcher: [String] = []
        var (name, arguments) = (name, arguments[...])
        if CompilerName.launchers.contains(lastComponent(name)) {
            guard let path = Compiler.find(name) else { throw .noCompiler(name) }
            launcher = [path]
            // ccache takes options and settings before the compiler: `ccache debug=true gcc`.
            while let next = arguments.first, !CompilerName.isCompiler(lastComponent(next)) {
                launcher.append(next)
                arguments = arguments.dropFirst()
            }
            guard let next = arguments.popFirst() else { throw Subprocess.become(launcher) }
            name = next
        }
        guard let path = Compiler.find(name) else { throw .noCompiler(name) }
        compiler = Compiler(path: path, launcher: launcher, family: Compiler.family(of: path))
        given = Array(arguments)
        invocation = CompilerInvocation(given)
        self.options = options
    }

    /// Compiles, or links. Returns only when more than one step was needed or something failed.
    ///
    /// - Returns: The exit status.
    public func run(linking parts: Parts) throws(BuildError) -> Int32 {
        StandIns.leave()
        guard invocation.stage != .nothing else { throw Subprocess.become(command(adding: [])) }
        if let order = options.order { throw Subprocess.become(try command(laidOutBy: OrderFlags(directory: order))) }
        let linked = invocation.stage == .link ? try additions(parts) : []
        guard !invocation.sources.isEmpty else {
            // With link-time optimisation, the link compiles.
            let isCompiling = !options.dormant && invocation.arguments.contains { $0.hasPrefix("-flto") }
            let before = isCompiling ? try standBeforeAssembler() : []
            let link = command(adding: before, linked + invocation.warningsAtLink)
            guard options.dormant else { throw Subprocess.become(link) }
            return settled(try Subprocess.run(link))
        }
        if options.afterInlining, compiler.family == .gcc {
            throw .needsClang(option: "--after-inlining", compiler: compiler.path)
        }
        let covered =
            invocation.isFreestanding || !takesSleds
            ? [] : invocation.sources.filter { options.covers($0, in: directory) }
        try note(covered: Set(covered))
        if covered.isEmpty, options.dormant {
            return settled(try Subprocess.run(command(adding: HookFlags.none(compiler.family), linked)))
        }
        if covered.isEmpty { throw Subprocess.become(command(adding: HookFlags.none(compiler.family), linked)) }
        let compilation = HookedCompilation(
            compiler: compiler, invocation: invocation, given: given, options: options, covered: covered,
            directory: directory, linked: linked, assembler: try standBeforeAssembler())
        guard invocation.hasFatalWarnings, !invocation.sources.contains("-") else {
            if options.dormant { return settled(try compilation.run(adding: [])) }
            guard mayFailWithHooks else { return try compilation.become() }
            return try explained(try compilation.run(adding: []))
        }
        return settled(try runAsThePlainBuildDecides(compilation, linked))
    }

    /// Whether what is compiled can have sleds.
    private var takesSleds: Bool {
        guard options.dormant else { return true }
        // Assembly that gcc writes for somebody else does not come by our assembler.
        if compiler.family == .gcc, invocation.stage == .assembly { return false }
        return compiler.isForThisMachine(given)
    }

    /// Makes gcc call our assembler, which calls the one that gcc would call.
    ///
    /// - Returns: The options for that; none for a compiler that needs no other assembler.
    /// - Throws: ``BuildError/noSleds(option:compiler:)``, ``BuildError/hooksOfItsOwn(option:)`` for a command that says
    ///   otherwise.
    private func standBeforeAssembler() throws(BuildError) -> [String] {
        if options.dormant, let option = invocation.hooksOfItsOwn(compiler.family) {
            throw .hooksOfItsOwn(option: option)
        }
        guard compiler.family == .gcc else { return [] }
        if options.dormant,
            let option = invocation.arguments.last(where: { $0.hasPrefix("-flto") || $0.hasPrefix("-fno-lto") }),
            option.hasPrefix("-flto")
        {
            throw .noSleds(option: option, compiler: compiler.path)
        }
        // Only for this machine is it known what the compiler makes.
        guard options.dormant || compiler.isForThisMachine(given) else { return [] }
        let directories = invocation.arguments.filter { $0.hasPrefix("-B") && $0.count > 2 }
        let answer = (try? Subprocess.output([compiler.path] + directories + ["-print-prog-name=as"])) ?? ""
        let name = answer.split(separator: "\n").first.map(String.init) ?? StandInAssembler.name
        guard let assembler = name.contains("/") ? name : Compiler.find(name) else { throw .noCompiler(name) }
        let directory = try StandIns.assembler(program: resolvedPath("/proc/self/exe") ?? "")
        setenv(StandInAssembler.variable, assembler, 1)
        if options.dormant {
            setenv(StandInAssembler.options, options.encoded, 1)
        } else {
            unsetenv(StandInAssembler.options)
        }
        return ["-B\(directory)/"]
    }

    /// The same status, after the sleds of what was linked got the form that costs least.
    private func settled(_ status: Int32) -> Int32 {
        if options.dormant, status == 0, invocation.stage == .link { SledForm.settle(invocation.output ?? "a.out") }
        return status
    }

    /// The command with what lays functions out. With link-time optimisation, the link compiles, too.
    private func command(laidOutBy order: OrderFlags) throws(BuildError) -> [String] {
        try note(covered: Set(invocation.sources))
        guard invocation.stage == .link else { return command(adding: [], [OrderFlags.sections]) }
        // What is put together to be linked later keeps its sections as they are.
        if given.contains("-r") { return command(adding: [], [OrderFlags.sections]) }
        let linker = try OrderFlags.linker(of: compiler, given)
        let words = order.words(linker).map { "-Wl,\($0)" }
        return command(adding: [], [OrderFlags.sections] + words)
    }

    /// Compiles where warnings may be errors. Hooks change what the compiler's analysis sees, so a command that fails
    /// with hooks is run without them. If that succeeds, it has shown every warning there is, and the command is run
    /// again with hooks and without warnings.
    private func runAsThePlainBuildDecides(
        _ compilation: HookedCompilation, _ linked: [String]
    ) throws(BuildError) -> Int32 {
        let colours = isatty(STDERR_FILENO) != 0 ? ["-fdiagnostics-color=always"] : []
        let held = try HeldDiagnostics { () throws(BuildError) in try compilation.run(adding: colours) }
        if held.status == 0 {
            held.release()
            return 0
        }
        let plain = try Subprocess.run(command(adding: []))
        return plain == 0 ? try explained(try compilation.run(adding: HookFlags.withoutWarnings)) : plain
    }

    /// Whether the compiler is one that ends with an internal error for some coroutines with hooks: gcc, up to 12 at least.
    private var mayFailWithHooks: Bool {
        compiler.family == .gcc && !options.dormant && !invocation.sources.contains("-")
            && given.contains { $0 == "-fcoroutines" || $0.hasPrefix("-std=") && $0.contains(/\+\+2/) }
    }

    /// Says so where a compilation failed because of its hooks alone.
    ///
    /// - Throws: ``BuildError/failsWithHooks(sources:compiler:)``.
    private func explained(_ status: Int32) throws(BuildError) -> Int32 {
        guard status != 0, mayFailWithHooks else { return status }
        let plain = try HeldDiagnostics { () throws(BuildError) in
            try Subprocess.run(command(adding: ["-fsyntax-only"]))
        }
        guard plain.status == 0 else { return status }
        throw .failsWithHooks(sources: invocation.sources, compiler: compiler.path)
    }

    /// Returns the arguments that are added to the link.
    private func additions(_ parts: Parts) throws(BuildError) -> [String] {
        let inputs = try LinkInputs(invocation.objects, of: invocation.output ?? "a.out", options)
        var linked: [String] = []
        if inputs.holdHookedSwift, !given.contains("-fsanitize=thread") { linked.append(parts.swiftHooks) }
        if options.dormant {
            if !invocation.sources.isEmpty || inputs.mayCallHooks, !invocation.isFreestanding,
                !invocation.arguments.contains("-r"), compiler.isForThisMachine(given)
            {
                linked.append(parts.sleds)
            } else {
                return []
            }
        }
        if let product = invocation.product, !invocation.sources.isEmpty || inputs.mayCallHooks,
            compiler.isForThisMachine(given)
        {
            switch product {
            case .sharedLibrary: if !options.dormant { linked.append(parts.sharedHooks) }
            case .staticProgram:
                let directory = directoryPart(parts.staticRuntime)
                linked += ["-L\(directory)", "@\(parts.staticRuntime)"]
            }
        }
        // Behind an option such as `-x c` the compiler would take the objects for sources.
        return linked.isEmpty || invocation.language == nil ? linked : ["-x", "none"] + linked
    }

    private func command(adding flags: [String], _ linked: [String] = []) -> [String] {
        compiler.launcher + [compiler.path] + flags + given + linked
    }

    private func note(covered: Set<String>) throws(BuildError) {
        let output = absolutePath(directoryPart(invocation.output ?? ""), in: directory)
        let sources = invocation.sources.map { name -> BuildLog.Entry in
            let source = absolutePath(name, in: directory)
            return ConfigureProbe.isOne(source: source, in: directory, output: output)
                ? .probe(source) : .file(source, isHooked: covered.contains(name))
        }
        try options.note(sources + [.directory(directory), .directory(output)])
    }
}
