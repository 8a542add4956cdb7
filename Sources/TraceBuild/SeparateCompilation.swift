internal import Glibc

/// Compiles the sources of one command one by one, because they get different hooks or clang's intermediate form has to
/// be changed on the way; then links, if the command does.
struct SeparateCompilation {
    let compiler: Compiler
    let invocation: CompilerInvocation
    let options: BuildOptions
    let directory: String
    /// Objects to link besides.
    let linked: [String]

    /// - Returns: The exit status of the first step that failed, or 0.
    func run() throws(BuildError) -> Int32 {
        var template = Array("\(environmentVariable("TMPDIR") ?? "/tmp")/fathom-cc-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .cannotWrite("a temporary directory", errno: errno) }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var made: [String] = []
        defer {
            for file in made { unlink(file) }
            rmdir(temporary)
        }
        var objects: [String: String] = [:]
        for (number, source) in invocation.sources.enumerated() {
            let output = invocation.stage == .link ? "\(temporary)/\(number).o" : output(for: source)
            if invocation.stage == .link { made.append(output) }
            let intermediate = "\(temporary)/\(number).ll"
            made.append(intermediate)
            let status = try compile(source, to: output, by: intermediate)
            guard status == 0 else { return status }
            objects[source] = output
        }
        guard invocation.stage == .link else { return 0 }
        // `-x c` would hold for the objects too.
        let arguments = withoutLanguage(invocation.arguments).map { objects[$0] ?? $0 }
        return try Subprocess.run([compiler.path] + arguments + linked)
    }

    /// What the compiler names its result.
    private func output(for source: String) -> String {
        if let output = invocation.output { return output }
        let name = lastComponent(source)
        return name[..<(name.lastIndex(of: ".") ?? name.endIndex)] + (invocation.stage == .assembly ? ".s" : ".o")
    }

    private func compile(
        _ source: String, to output: String, by intermediate: String
    ) throws(BuildError) -> Int32 {
        var common = invocation.arguments.filter {
            !invocation.sources.contains($0) && !invocation.objects.contains($0)
        }
        common = without(common, flags: ["-c", "-S"], pairs: ["-o"])
        let stage = invocation.stage == .assembly ? "-S" : "-c"
        guard options.covers(source, in: directory) else {
            let flags = HookFlags.none(compiler.family) + common + dependencies(of: output, common)
            return try Subprocess.run(compiler.launcher + [compiler.path] + flags + [stage, "-o", output, source])
        }
        let flags = HookFlags.all(compiler.family, options)
        guard compiler.family == .clang, options.excludesFunctions else {
            let arguments = flags + common + dependencies(of: output, common)
            return try Subprocess.run(compiler.launcher + [compiler.path] + arguments + [stage, "-o", output, source])
        }
        let front = flags + common + dependencies(of: output, common)
        let unoptimised = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", intermediate, source]
        let status = try Subprocess.run([compiler.path] + front + unoptimised)
        guard status == 0 else { return status }
        try IntermediateForm.removeHooks(in: intermediate) { function, file in
            !covers(function: function, file: file ?? source)
        }
        let back = flags + withoutLanguage(withoutDependencies(common)) + ["-Wno-unused-command-line-argument"]
        return try Subprocess.run([compiler.path] + back + [stage, "-o", output, "-x", "ir", intermediate])
    }

    private func covers(function: String, file: String) -> Bool {
        guard options.covers(file, in: directory) else { return false }
        let names = FunctionName.all(of: function)
        return !options.excludedFunctions.contains { glob in names.contains { Glob.matches(glob, $0) } }
    }

    /// Names in the dependencies what the whole command would name: the compiler goes by `-o`.
    private func dependencies(of output: String, _ arguments: [String]) -> [String] {
        guard arguments.contains("-MD") || arguments.contains("-MMD"), invocation.stage != .link else { return [] }
        var added: [String] = []
        if !arguments.contains(where: { $0.hasPrefix("-MF") }) {
            added += ["-MF", output[..<(output.lastIndex(of: ".") ?? output.endIndex)] + ".d"]
        }
        if !arguments.contains(where: { $0.hasPrefix("-MT") || $0.hasPrefix("-MQ") }) { added += ["-MT", output] }
        return added
    }

    private func withoutDependencies(_ arguments: [String]) -> [String] {
        without(arguments, flags: ["-MD", "-MMD", "-MP", "-MG"], pairs: ["-MF", "-MT", "-MQ", "-MJ"])
            .filter { argument in !["-MF", "-MT", "-MQ", "-Wp,-M"].contains { argument.hasPrefix($0) } }
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
