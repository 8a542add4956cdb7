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
    /// - Returns: The exit status.
    public func run(checkingObjects check: (_ path: String) -> [String]) throws(BuildError) -> Int32 {
        Self.leaveStandIns()
        guard invocation.stage != .nothing else { throw Subprocess.become(command(adding: [])) }
        if invocation.stage == .link, !options.keepGoing {
            let bare = invocation.objects.flatMap(check)
            if !bare.isEmpty { throw .mixed(objects: bare, output: invocation.output ?? "a.out") }
        }
        guard !invocation.sources.isEmpty else { throw Subprocess.become(command(adding: [])) }
        if options.afterInlining, compiler.family == .gcc {
            throw .needsClang(option: "--after-inlining", compiler: compiler.path)
        }
        let covered =
            invocation.isFreestanding ? [] : invocation.sources.filter { options.covers($0, in: directory) }
        try note(invocation.sources, covered: Set(covered))
        if covered.isEmpty { throw Subprocess.become(command(adding: HookFlags.none(compiler.family))) }
        if covered.count < invocation.sources.count || needsIR {
            return try SeparateCompilation(
                compiler: compiler, invocation: invocation, options: options, directory: directory
            ).run()
        }
        throw Subprocess.become(command(adding: HookFlags.all(compiler.family, options)))
    }

    /// clang has no options to leave functions out: they are taken out of its intermediate form.
    private var needsIR: Bool { compiler.family == .clang && options.excludesFunctions }

    private func command(adding flags: [String]) -> [String] { compiler.launcher + [compiler.path] + flags + given }

    /// What the compiler runs finds the real compilers.
    private static func leaveStandIns() {
        guard let path = environmentVariable("PATH") else { return }
        let kept = path.split(separator: ":", omittingEmptySubsequences: false).filter {
            !StandIns.isDirectory(String($0))
        }
        setenv("PATH", kept.joined(separator: ":"), 1)
    }

    /// Tells `fathom build` of the compilation; a line is one write, so compilers that run at once do not mix theirs.
    private func note(_ sources: [String], covered: Set<String>) throws(BuildError) {
        guard let log = options.log else { return }
        let descriptor = open(log, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }  // the build is over, and this compiler was left behind
        defer { close(descriptor) }
        for source in sources {
            let line =
                (covered.contains(source) ? "+ " : "- ") + absolutePath(source, in: directory) + "\n"
            guard write(descriptor, line, line.utf8.count) == line.utf8.count else {
                throw .cannotWrite(log, errno: errno)
            }
        }
    }
}
