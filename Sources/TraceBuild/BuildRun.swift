internal import Glibc

/// How a build went.
public struct BuildResult: Sendable {
    /// The command's own exit status.
    public var status: Int32
    /// What to tell the user.
    public var lines: [String]
}

/// A build command, run with the stand-ins before the compilers.
public struct BuildRun {
    private let command: [String]
    private var options: BuildOptions
    private let program: String

    /// - Parameter program: Fathom's executable.
    public init(command: [String], options: BuildOptions, program: String) {
        self.command = command
        self.options = options
        self.program = program
    }

    /// Runs the command to its end.
    ///
    /// - Throws: ``BuildError`` when it could not be started.
    public func run() throws(BuildError) -> BuildResult {
        let standIns = try StandIns.make(of: program)
        let log = try makeLog()
        defer { unlink(log) }
        var options = options
        options.log = log
        setenv(BuildOptions.variable, options.encoded, 1)
        setenv("PATH", "\(standIns):\(environmentVariable("PATH") ?? "/usr/bin:/bin")", 1)
        // A compiler that the user names by its path goes through a stand-in too, when there is one of that name.
        for variable in ["CC", "CXX"] {
            guard let value = environmentVariable(variable), value.hasPrefix("/") else { continue }
            let name = lastComponent(value)
            if CompilerName.isCompiler(name) { setenv(variable, "\(program) cc \(value)", 1) }
        }
        // What the terminal sends, the command gets too, and we wait for what it makes of it.
        let ignored = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in ignored { signal(number, handler) } }
        let status = try Subprocess.run(command)
        return BuildResult(status: status, lines: lines(try readLog(log), status))
    }

    private func lines(_ log: [String], _ status: Int32) -> [String] {
        if status != 0 { return [] }
        let hooked = log.count { $0.hasPrefix("+") }
        if log.isEmpty {
            return [
                "nothing was compiled through Fathom: if the tree is up to date, clean it; if it was configured without, "
                    + "configure it anew with fathom build; a compiler called by its full path is not seen"
            ]
        }
        var line = "\(hooked) of \(log.count) files compiled with hooks"
        if hooked == 0 { line += ": none is left by --only and --exclude-file, or it is freestanding code" }
        return [line]
    }

    private func makeLog() throws(BuildError) -> String {
        var template = Array("\(environmentVariable("TMPDIR") ?? "/tmp")/fathom-build-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0 else { throw .cannotWrite(path, errno: errno) }
        close(descriptor)
        return path
    }

    /// The files compiled, each once however often it was.
    private func readLog(_ path: String) throws(BuildError) -> [String] {
        Array(Set(try TextFile.read(path).split(separator: "\n").map(String.init)))
    }
}
