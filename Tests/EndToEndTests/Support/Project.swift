import TestSupport
import Testing

/// A project of `Traces/projects`, copied to where it may be built.
struct Project {
    let directory: TemporaryDirectory
    let path: String

    init(_ name: String) throws {
        directory = try TemporaryDirectory("build")
        path = directory.file(name)
        try run("cp", ["-r", "\(Binaries.sources)/../projects/\(name)", path])
    }

    /// Runs `fathom build`.
    func build(
        _ command: [String], options: [String] = [], environment: [String: String] = [:]
    ) throws -> ProcessOutput {
        try Fathom.run(
            ["build"] + options + ["--"] + command,
            environment: environment.merging(["XDG_CACHE_HOME": directory.file("cache")]) { $1 },
            workingDirectory: path)
    }

    /// Configures into `out` behind `fathom build`, and builds without: the tree keeps the stand-ins as its compilers.
    func cmake(_ options: [String]) throws {
        let configured = try build(["cmake", "-S", ".", "-B", "out"] + options)
        #expect(configured.status == 0, "\(configured.stderr)")
        let built = try run("cmake", ["--build", "out"], workingDirectory: path)
        #expect(built.status == 0, "\(built.stdout)\(built.stderr)")
    }

    /// Calls by function, of what the project made.
    ///
    /// - Parameter output: what it is to print.
    func calls(of program: String, printing output: String) throws -> [String: Int] {
        let session = directory.file("session.fathom")
        let recorded = try Fathom.record(["\(path)/\(program)"], into: session)
        #expect(recorded.status == 0, Comment(rawValue: recorded.stderr))
        #expect(recorded.stdout == output)
        return try Dump(session).counts()
    }
}
