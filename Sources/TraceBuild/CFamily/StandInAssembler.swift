internal import Glibc

/// Stands before the assembler, where gcc calls it for `fathom build --dormant`: puts sleds into what gcc has compiled,
/// and lets the assembler go on.
public enum StandInAssembler {
    /// What it is called, because gcc looks for the assembler by this name.
    public static let name = "as"
    /// The variable that has the assembler's path.
    static let variable = "FATHOM_ASSEMBLER"
    /// The variable that has the build's options (``BuildOptions/encoded``).
    static let options = "FATHOM_ASSEMBLER_OPTIONS"

    /// - Parameter arguments: without the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) throws(BuildError) -> Int32 {
        guard let assembler = environmentVariable(variable) ?? Compiler.find(name) else { throw .noCompiler(name) }
        let place = input(of: arguments)
        let text = try TextFile.bytes(place.map { arguments[$0] } ?? "/dev/stdin")
        let options = BuildOptions(encoded: environmentVariable(options) ?? "")
        let directory = currentDirectory()
        let isExcluded = { (function: String, file: String?) in
            if let file, !options.covers(file, in: directory) { return true }
            guard !options.excludedFunctions.isEmpty else { return false }
            let names = FunctionName.all(of: function)
            return options.excludedFunctions.contains { glob in names.contains { Glob.matches(glob, $0) } }
        }
        guard let sledded = SledAssembly.sledded(text, isExcluded: isExcluded) else {
            if place != nil { throw Subprocess.become([assembler] + arguments) }
            return try assemble(text, by: assembler, arguments, at: nil)
        }
        return try assemble(sledded, by: assembler, arguments, at: place)
    }

    private static func assemble(
        _ text: [UInt8], by assembler: String, _ arguments: [String], at place: Int?
    ) throws(BuildError) -> Int32 {
        var template = Array("\(environmentVariable("TMPDIR") ?? "/tmp")/fathom-as-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .cannotWrite("a temporary file", errno: errno) }
        close(descriptor)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
