internal import Glibc
import Synchronization
import TestSupport

/// Compiles the programs of `Traces/programs`: each of them once in a test run, into a directory beside the test bundle.
enum Binaries {
    /// The repository, absolute.
    static let repository = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    /// `Traces/programs`, absolute.
    static let sources = "\(repository)/Traces/programs"

    private static let directory = "\(Fathom.made)/TracedPrograms"
    private static let compilations = Mutex<[String: Compilation]>([:])

    /// Whoever asks first compiles; others who ask for the same wait meanwhile.
    private final class Compilation: Sendable {
        let isDone = Mutex(false)
    }

    /// Compiles a source with tracing hooks; it may include `fathom.h`.
    ///
    /// - Parameters:
    ///   - flags: come before the source.
    ///   - libraries: come after it.
    ///   - variant: tells builds with different flags apart.
    /// - Returns: the binary's absolute path.
    static func instrumented(
        _ source: String, _ build: Build, flags: [String] = [], libraries: [String] = [], variant: String = ""
    ) throws(TestSupportError) -> String {
        let stem = source.split(separator: "/").last!.split(separator: ".")[0]
        let name = "\(stem)\(variant)-\(build.compiler.rawValue)-O\(build.level)"
        let hooks = [
            "-g", "-O\(build.level)", "-finstrument-functions", "-pthread", "-I\(repository)/Sources/CFathom/include",
            // clang 17 and older give hooks to inline functions of the C library's headers too.
            "-D__NO_INLINE__",
        ]
        return try make(
            name, command: build.command(for: source), ["-Wall", "-Wextra", "-Werror"] + hooks + flags,
            ["\(sources)/\(source)"], libraries)
    }

    /// The preloadable library that counts calls (`hooks/counting.c`).
    static func countingHooks() throws(TestSupportError) -> String {
        try make("libcounting.so", command: "gcc", ["-O2", "-shared", "-fPIC"], ["\(sources)/hooks/counting.c"])
    }

    /// Runs a compiler, once a test run for each `name`.
    ///
    /// - Returns: the absolute path of what it made.
    static func make(
        _ name: String, command: String, _ flags: [String], _ inputs: [String], _ libraries: [String] = []
    ) throws(TestSupportError) -> String {
        let output = "\(directory)/\(name)"
        let compilation = compilations.withLock { compilations in
            let found = compilations[name] ?? Compilation()
            compilations[name] = found
            return found
        }
        try compilation.isDone.withLock { isDone throws(TestSupportError) in
            guard !isDone else { return }
            mkdir(directory, 0o755)
            let arguments = flags + inputs + ["-o", output] + libraries
            let result = try run(command, arguments)
            guard result.status == 0 else {
                throw .compilerFailed(command: "\(command) \(arguments)", stderr: result.stderr)
            }
            isDone = true
        }
        return output
    }
}
