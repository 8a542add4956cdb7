internal import Glibc

/// Stands in for the compiler's frontend, and divides its work: the real frontend compiles to LLVM's assembly, the
/// functions there are marked to be hooked, and the real frontend makes code of the result.
///
/// Everything else that the driver asks for is left to the real frontend.
public struct SwiftFrontend {
    private let frontend: String
    private let arguments: [String]
    private let isDormant: Bool

    /// - Parameters:
    ///   - name: what the driver called: the link that ``StandIns/frontend(of:program:)`` made.
    ///   - arguments: as the driver gives them.
    /// - Throws: ``BuildError/cannotRead(_:errno:)``, ``BuildError/noToolchain(_:)``.
    public init(name: String, arguments: [String]) throws(BuildError) {
        guard let toolchain = StandIns.toolchain(behind: name) else { throw .noToolchain(name) }
        frontend = toolchain.frontend
        isDormant = lastComponent(name) == SwiftBuild.sledFrontendName
        self.arguments = Self.withoutHooksOfC(try ResponseFile.expand(arguments))
    }

    /// Takes out the option that hooks C. The functions of a package's C headers become part of the Swift module that
    /// calls them, and get hooks as its own functions do.
    private static func withoutHooksOfC(_ arguments: [String]) -> [String] {
        var result: [String] = []
        for argument in arguments {
            if argument == HookFlags.everyFunction || HookFlags.sleds.contains(argument), result.last == "-Xcc" {
                result.removeLast()
            } else {
                result.append(argument)
            }
        }
        return result
    }

    /// Does what the driver asks for.
    ///
    /// - Returns: the exit status.
    /// - Throws: ``BuildError/cannotRun(_:errno:)``, ``BuildError/cannotRead(_:errno:)``, ``BuildError/cannotWrite(_:errno:)``.
    public func run() throws(BuildError) -> Int32 {
        guard !arguments.contains(SwiftBuild.sanitizerHooks), let compilation = try Compilation(arguments) else {
            return try run(arguments)
        }
        defer { compilation.temporaries.forEach { unlink($0) } }
        try compilation.prepare()
        let status = try run(compilation.toIR)
        guard status == 0 else { return status }
        for output in compilation.outputs {
            try SwiftIR.mark(
                path: Compilation.intermediate(of: output), optimizes: compilation.optimizes, isDormant: isDormant)
            let status = try run(compilation.toObject(output))
            guard status == 0 else { return status }
        }
        return 0
    }

    private func run(_ arguments: [String]) throws(BuildError) -> Int32 {
        try Subprocess.run([frontend] + arguments)
    }
}
