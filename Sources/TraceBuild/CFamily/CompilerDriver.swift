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

        public init(swiftHooks: String, sharedHooks: String, staticRuntime: String) {
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
        let linked = invocation.stage == .link ? try additions(parts) : []
        guard !invocation.sources.isEmpty else {
            throw Subprocess.become(command(adding: [], linked + invocation.warningsAtLink))
        }
        if options.afterInlining, compiler.family == .gcc {
            throw .needsClang(option: "--after-inlining", compiler: compiler.path)
        }
        let covered =
            invocation.isFreestanding ? [] : invocation.sources.filter { options.covers($0, in: directory) }
        try note(covered: Set(covered))
        if covered.isEmpty { throw Subprocess.become(command(adding: HookFlags.none(compiler.family), linked)) }
        let compilation = HookedCompilation(
            compiler: compiler, invocation: invocation, given: given, options: options, covered: covered,
            directory: directory, linked: linked)
        guard invocation.hasFatalWarnings, !invocation.sources.contains("-") else { return try compilation.become() }
        return try runAsThePlainBuildDecides(compilation, linked)
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
        return plain == 0 ? try compilation.run(adding: HookFlags.withoutWarnings) : plain
    }

    /// What the link gets besides.
    private func additions(_ parts: Parts) throws(BuildError) -> [String] {
        let inputs = try LinkInputs(invocation.objects, of: invocation.output ?? "a.out", options)
        var linked: [String] = []
        if inputs.holdHookedSwift, !given.contains("-fsanitize=thread") { linked.append(parts.swiftHooks) }
        if let product = invocation.product, !invocation.sources.isEmpty || inputs.mayCallHooks,
            compiler.isForThisMachine(given)
        {
            switch product {
            case .sharedLibrary: linked.append(parts.sharedHooks)
            case .staticProgram:
                let directory = parts.staticRuntime.dropLast(lastComponent(parts.staticRuntime).utf8.count)
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
        let place = invocation.output.map { String($0.dropLast(lastComponent($0).utf8.count)) } ?? "."
        let output = absolutePath(place, in: directory)
        let sources = invocation.sources.map { name -> BuildLog.Entry in
            let source = absolutePath(name, in: directory)
            return ConfigureProbe.isOne(source: source, in: directory, output: output)
                ? .probe(source) : .file(source, isHooked: covered.contains(name))
        }
        try options.note(sources + [.directory(directory), .directory(output)])
    }
}
