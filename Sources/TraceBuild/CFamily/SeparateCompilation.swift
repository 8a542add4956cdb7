internal import Glibc
internal import TraceSystem

/// Compiles the sources of one command one by one, because they get different hooks or clang's intermediate form has to
/// be changed on the way; then links, if the command does.
struct SeparateCompilation {
    /// Why clang's intermediate form is needed.
    enum Form {
        /// It is not: the source is compiled in one step.
        case none
        /// To leave out what is always left out. A source that cannot be compiled that way is compiled in one step,
        /// with all hooks.
        case tried
        /// To leave out what the user asked to.
        case demanded
    }

    let compiler: Compiler
    let invocation: CompilerInvocation
    let options: BuildOptions
    let directory: String
    /// Objects to link besides.
    let linked: [String]
    /// What gives functions hooks.
    let hooks: [String]
    let form: Form
    let systemHeaders: SystemHeaders

    /// - Parameter added: options that come behind the command's own.
    /// - Returns: The exit status of the first step that failed, or 0.
    func run(adding added: [String]) throws(BuildError) -> Int32 {
        let temporary: String
        do throws(SystemError) { temporary = try Directory.makeTemporary("fathom-cc") } catch {
            throw .cannotWrite("a temporary directory", errno: error.errno)
        }
        defer {
            // Options such as -save-temps=obj leave files of their own beside an object.
            Directory.remove(temporary)
        }
        var objects: [String: String] = [:]
        for (number, source) in invocation.sources.enumerated() {
            let output = invocation.stage == .link ? "\(temporary)/\(number).o" : invocation.result(of: source)
            let intermediate = "\(temporary)/\(number).ll"
            let status = try compile(source, to: output, by: intermediate, adding: added)
            guard status == 0 else { return status }
            objects[source] = output
        }
        if invocation.stage == .link { return try Subprocess.run([compiler.path] + link(objects) + linked) }
        for file in invocation.assembly where invocation.stage == .object {
            let quiet = compiler.family == .clang ? ["-Wno-unused-command-line-argument"] : []
            let arguments = compilerOptions + quiet + ["-c", "-o", invocation.result(of: file)] + input(file)
            let status = try Subprocess.run(compiler.launcher + [compiler.path] + arguments)
            guard status == 0 else { return status }
        }
        return 0
    }

    /// The arguments with objects in place of the sources that they were made of. Assembly stays, for the compiler to
    /// assemble.
    private func link(_ objects: [String: String]) -> [String] {
        invocation.arguments.flatMap { argument in
            guard let object = objects[argument] else { return [argument] }
            guard let language = invocation.languages[argument] else { return [object] }
            return ["-x", "none", object, "-x", language]
        }
    }

    /// What says which file to compile, in which language.
    private func input(_ file: String) -> [String] {
        (invocation.languages[file].map { ["-x", $0] } ?? []) + [file]
    }

    /// The command's options, without those that say what it makes of which files.
    private var compilerOptions: [String] {
        let named = withoutLanguage(invocation.arguments).filter { !invocation.files.contains($0) && $0 != "-" }
        return without(named, flags: ["-c", "-S"], pairs: ["-o"])
    }

    private func compile(
        _ source: String, to output: String, by intermediate: String, adding added: [String]
    ) throws(BuildError) -> Int32 {
        let common = compilerOptions + added
        let goal = [invocation.stage == .assembly ? "-S" : "-c", "-o", output]
        let isCovered = options.covers(source, in: directory)
        let front =
            (isCovered ? hooks : HookFlags.none(compiler.family)) + common
            + dependencies(of: output, common) + leftovers(of: source, common)
        let direct = compiler.launcher + [compiler.path] + front + goal + input(source)
        guard isCovered, form != .none else { return try Subprocess.run(direct) }
        var unoptimised = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", intermediate]
        unoptimised += input(source)
        // clang must not warn that options for the link are not used here.
        if invocation.stage == .link { unoptimised.append("-Wno-unused-command-line-argument") }
        let status = try Subprocess.run([compiler.path] + front + unoptimised)
        guard status == 0 else { return status }
        let verdicts = Verdicts(self, source: source)
        try IntermediateForm.removeHooks(in: intermediate, where: verdicts.isExcluded)
        let back = hooks + withoutPrecompiled(withoutDependencies(common))
        let second = [compiler.path] + back + ["-Wno-unused-command-line-argument"] + goal + ["-x", "ir", intermediate]
        let held = try HeldDiagnostics { () throws(BuildError) in try Subprocess.run(second) }
        if held.status != 0, form == .tried { return try Subprocess.run(direct) }
        held.release()
        return held.status
    }

    /// Makes the list of dependencies name the result of the whole command. By itself the compiler would name what `-o`
    /// says.
    private func dependencies(of output: String, _ arguments: [String]) -> [String] {
        guard arguments.contains("-MD") || arguments.contains("-MMD"), invocation.stage != .link else { return [] }
        var added: [String] = []
        if !arguments.contains(where: { $0.hasPrefix("-MF") }) {
            added += ["-MF", output[..<(output.lastIndex(of: ".") ?? output.endIndex)] + ".d"]
        }
        if !arguments.contains(where: { $0.hasPrefix("-MT") || $0.hasPrefix("-MQ") }) { added += ["-MT", output] }
        return added
    }

    /// Makes gcc call the files that it leaves as it does in one step: by the names of what is linked and of the source.
    private func leftovers(of source: String, _ arguments: [String]) -> [String] {
        guard compiler.family == .gcc, invocation.stage == .link,
            arguments.contains(where: { $0.hasPrefix("-save-temps") })
        else { return [] }
        let name = lastComponent(source)
        let suffix = name[(name.lastIndex(of: ".") ?? name.endIndex)...]
        let output = invocation.output ?? "a"
        let prefix = arguments.contains("-save-temps=obj") ? output : lastComponent(output)
        return ["-dumpdir", "\(prefix)-", "-dumpbase", name, "-dumpbase-ext", String(suffix)]
    }

    private func withoutDependencies(_ arguments: [String]) -> [String] {
        without(arguments, flags: ["-MD", "-MMD", "-MP", "-MG"], pairs: ["-MF", "-MT", "-MQ", "-MJ"])
            .filter { argument in !["-MF", "-MT", "-MQ", "-Wp,-M"].contains { argument.hasPrefix($0) } }
    }

    /// Takes out a precompiled header, in the ways that CMake names it.
    private func withoutPrecompiled(_ arguments: [String]) -> [String] {
        var kept: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "-Xclang", rest.first == "-include-pch" || rest.first == "-include", rest.count >= 3 {
                rest = rest.dropFirst(3)
            } else {
                kept.append(argument)
            }
        }
        return without(kept, flags: [], pairs: ["-include", "-include-pch"])
    }

    private func withoutLanguage(_ arguments: [String]) -> [String] {
        without(arguments, flags: [], pairs: ["-x"]).filter { !$0.hasPrefix("-x") }
    }

    private func without(_ arguments: [String], flags: Set<String>, pairs: Set<String>) -> [String] {
        var kept: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if pairs.contains(argument) {
                rest = rest.dropFirst()
            } else if !flags.contains(argument), !(pairs.contains("-o") && argument.hasPrefix("-o")) {
                kept.append(argument)
            }
        }
        return kept
    }
}

/// Which functions of one source's intermediate form get no hooks.
private final class Verdicts {
    private let compilation: SeparateCompilation
    private let source: String
    private var files: [String: Bool] = [:]

    init(_ compilation: SeparateCompilation, source: String) {
        self.compilation = compilation
        self.source = source
    }

    func isExcluded(_ function: String, _ place: IntermediateForm.Place) -> Bool {
        switch place {
        case .file(let file): if isExcluded(file: file) { return true }
        case .unknown: if isExcluded(file: source) || isOfStandardLibrary(function) { return true }
        case .hidden: if !compilation.systemHeaders.isEmpty || isExcluded(file: source) { return true }
        }
        let globs = compilation.options.excludedFunctions
        guard !globs.isEmpty else { return false }
        let names = FunctionName.all(of: function)
        return globs.contains { glob in names.contains { Glob.matches(glob, $0) } }
    }

    /// Decides by the name, where nothing else tells.
    private func isOfStandardLibrary(_ function: String) -> Bool {
        guard !compilation.systemHeaders.isEmpty, let name = FunctionName.all(of: function).last else { return false }
        return name.hasPrefix("std::") || name.hasPrefix("__gnu_cxx::")
    }

    private func isExcluded(file: String) -> Bool {
        if let known = files[file] { return known }
        let isExcluded =
            !compilation.options.covers(file, in: compilation.directory)
            || compilation.systemHeaders.hold(absolutePath(file, in: compilation.directory))
        files[file] = isExcluded
        return isExcluded
    }
}
