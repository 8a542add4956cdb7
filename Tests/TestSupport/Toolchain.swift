internal import Glibc

/// The compilers that tests build their programs with.
public enum Toolchain {
    public enum Compiler: String, Sendable, CaseIterable {
        case gcc = "gcc"
        case gxx = "g++"
        case clang = "clang"
        case clangxx = "clang++"
        case swiftc = "swiftc"
        case rustc = "rustc"

        /// Whether PATH has it.
        public var isInstalled: Bool { Toolchain.isInstalled(rawValue) }
    }

    /// Writes `sources` beside `output` and compiles those that are not headers into it, in that directory.
    ///
    /// - Parameters:
    ///   - sources: file name to text.
    ///   - flags: come before the sources.
    ///   - libraries: come after them, for instance `-lm`.
    ///   - output: an absolute path.
    /// - Returns: `output`.
    /// - Throws: ``TestSupportError/compilerFailed(command:stderr:)`` with the compiler's own words.
    @discardableResult
    public static func compile(
        sources: [String: String], compiler: Compiler, flags: [String] = [], libraries: [String] = [], output: String
    ) throws(TestSupportError) -> String {
        let directory = output.lastIndex(of: "/").map { String(output[..<$0]) } ?? "."
        for (name, text) in sources { try writeFile(Array(text.utf8), to: "\(directory)/\(name)") }
        let inputs = sources.keys.filter { !$0.hasSuffix(".h") }.sorted()
        let arguments = flags + inputs + libraries + ["-o", output]
        let result = try run(compiler.rawValue, arguments, workingDirectory: directory)
        guard result.status == 0 else {
            let command = ([compiler.rawValue] + arguments).joined(separator: " ")
            throw .compilerFailed(command: command, stderr: result.stderr)
        }
        return output
    }

    /// Whether the Swift compiler checks itself as it works, as Debian's does and swift.org's does not.
    public static let swiftHasAssertions =
        (try? run("swiftc", ["--version"]))?.stdout.contains("+assertions") ?? false

    /// Whether PATH has an executable of that name.
    public static func isInstalled(_ program: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }
}
