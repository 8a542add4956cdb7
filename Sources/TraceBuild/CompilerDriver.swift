internal import Glibc

/// Stands before a compiler: adds the hooks and lets it go on.
public struct CompilerDriver {
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
    /// - Parameter swiftHooks: what Swift code among the objects needs.
    /// - Returns: The exit status.
    public func run(swiftHooks: String) throws(BuildError) -> Int32 {
        StandIns.leave()
        guard invocation.stage != .nothing else { throw Subprocess.become(command(adding: [])) }
        var added: [String] = []
        if invocation.stage == .link {
            let inputs = try LinkInputs(invocation.objects, of: invocation.output ?? "a.out", options)
            if inputs.holdHookedSwift, !given.contains("-fsanitize=thread") { added = [swiftHooks] }
        }
        guard !invocation.sources.isEmpty else { throw Subprocess.become(command(adding: [], added)) }
        if options.afterInlining, compiler.family == .gcc {
            throw .needsClang(option: "--after-inlining", compiler: compiler.path)
        }
        let covered =
            invocation.isFreestanding ? [] : invocation.sources.filter { options.covers($0, in: directory) }
        try note(invocation.sources, covered: Set(covered))
        if covered.isEmpty { throw Subprocess.become(command(adding: HookFlags.none(compiler.family), added)) }
        if covered.count < invocation.sources.count || needsIR {
            return try SeparateCompilation(
                compiler: compiler, invocation: invocation, options: options, directory: directory, linked: added
            ).run()
        }
        throw Subprocess.become(command(adding: HookFlags.all(compiler.family, options), added))
    }

    /// clang has no options to leave functions out: they are taken out of its intermediate form.
    private var needsIR: Bool { compiler.family == .clang && options.excludesFunctions }

    private func command(adding flags: [String], _ linked: [String] = []) -> [String] {
        compiler.launcher + [compiler.path] + flags + given + linked
    }

    private func note(_ sources: [String], covered: Set<String>) throws(BuildError) {
        try options.note(
            sources.map { .file(absolutePath($0, in: directory), isHooked: covered.contains($0)) })
    }
}
