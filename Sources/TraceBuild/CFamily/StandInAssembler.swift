internal import Glibc

/// Stands before the assembler, where gcc calls it for `fathom build`: takes hooks out of what gcc has compiled where they do
/// harm, or puts sleds into it, and lets the assembler go on.
public enum StandInAssembler {
    /// What it is called, because gcc looks for the assembler by this name.
    public static let name = "as"
    /// The variable that has the assembler's path.
    static let variable = "FATHOM_ASSEMBLER"
    /// The variable that is there where sleds are put in, and has the build's options (``BuildOptions/encoded``).
    static let options = "FATHOM_ASSEMBLER_OPTIONS"

    /// - Parameter arguments: without the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) throws(BuildError) -> Int32 {
        guard let assembler = environmentVariable(variable) ?? Compiler.find(name) else { throw .noCompiler(name) }
        let place = input(of: arguments)
        let text = try TextFile.bytes(place.map { arguments[$0] } ?? "/dev/stdin")
        guard let changed = environmentVariable(options).map({ sledded(text, $0) }) ?? withoutHooksInNaked(text)
        else {
            if place != nil { throw Subprocess.become([assembler] + arguments) }
            return try assemble(text, by: assembler, arguments, at: nil)
        }
        return try assemble(changed, by: assembler, arguments, at: place)
    }

    private static func sledded(_ text: [UInt8], _ encoded: String) -> [UInt8]? {
        let options = BuildOptions(encoded: encoded)
        let directory = currentDirectory()
        return SledAssembly.sledded(text) { function, file in
            if let file, !options.covers(file, in: directory) { return true }
            guard !options.excludedFunctions.isEmpty else { return false }
            let names = FunctionName.all(of: function)
            return options.excludedFunctions.contains { glob in names.contains { Glob.matches(glob, $0) } }
        }
    }

    /// Takes hooks out of assembly that the compiler has written into a file.
    static func settle(_ path: String) throws(BuildError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let changed = withoutHooksInNaked(try TextFile.bytes(path))
        else { return }
        try TextFile.write(changed, to: path)
    }

    private static func withoutHooksInNaked(_ text: [UInt8]) -> [UInt8]? {
        let assembly = NakedAssembly(text)
        for function in assembly.left {
            let name = FunctionName.all(of: function).last ?? function
            let warning =
                "fathom: warning: \(name) has no prologue, but statements that use its arguments, so hooks may change it; "
                + "leave it out: --exclude-function '\(name)'\n"
            _ = write(STDERR_FILENO, warning, warning.utf8.count)
        }
        return assembly.text
    }

    private static func assemble(
        _ text: [UInt8], by assembler: String, _ arguments: [String], at place: Int?
    ) throws(BuildError) -> Int32 {
        let (descriptor, path) = temporary("\(environmentVariable("TMPDIR") ?? "/tmp")/fathom-as-XXXXXX") {
            mkstemp($0)
        }
        guard descriptor >= 0 else { throw .cannotWrite("a temporary file", errno: errno) }
        close(descriptor)
        defer { unlink(path) }
        try TextFile.write(text, to: path)
        var arguments = arguments
        if let place { arguments[place] = path } else { arguments = arguments.filter { $0 != "-" } + [path] }
        return try Subprocess.run([assembler] + arguments)
    }

    /// The place of the file to assemble; nil when that is standard input.
    static func input(of arguments: [String]) -> Int? {
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if takesNext.contains(argument) {
                index += 2
            } else if argument.hasPrefix("-") || argument.hasPrefix("@") {
                index += 1
            } else {
                return index
            }
        }
        return nil
    }

    /// Options of the assembler's whose value is the next argument.
    private static let takesNext: Set<String> = ["-o", "-I", "--MD", "--defsym", "--debug-prefix-map"]
}
