internal import Glibc
internal import TraceFile
public import TraceQuery
public import TraceSystem
internal import TraceText

/// Runs programs for a gate, each run recorded by a `fathom record` of its own, and reads what it recorded.
public final class GateRuns {
    private let directory: String
    private let options: [String]
    private let symbols: [String]
    private let listener: () -> QueryListener
    /// How long the runs have taken, in ns, and how many there were.
    public private(set) var time: UInt64 = 0
    public private(set) var count = 0

    /// What is run: a command's words, or a line for the shell.
    public enum Program {
        case words([String])
        case line(String)

        public var text: String {
            switch self {
            case .words(let words): CommandText.line(words)
            case .line(let line): line.visible
            }
        }
    }

    /// - Parameters:
    ///   - options: of `fathom record`.
    ///   - listener: makes what is told of each reading.
    public init(
        _ options: [String], symbols: [String], listener: @escaping () -> QueryListener
    ) throws(SystemError) {
        self.options = options
        self.symbols = symbols
        self.listener = listener
        directory = try Directory.makeTemporary("fathom-gate")
    }

    /// Removes what is left of the recordings.
    public func finish() { Directory.remove(directory) }

    /// Runs a program once. Its standard output goes nowhere, and what it says on standard error is seen.
    ///
    /// - Throws: ``GateFailure/ended(program:status:)`` when it does not end with status 0, ``SystemError`` when it cannot be
    ///   started, ``QueryError`` when it is not recorded.
    public func run(_ program: Program) throws -> SessionRun {
        let session = "\(directory)/run.fathom"
        let started = SystemClock.monotonic
        let record = ["/proc/self/exe", "record", "--quiet"] + options + ["-o", session, "--"]
        let command: [String]
        switch program {
        case .words(let words): command = record + words
        case .line(let line):
            // The shell has another executable.
            let own = GateRuns.executable
            command = ["/bin/sh", "-c", "exec \(CommandText.line([own] + record.dropFirst())) \(line)"]
        }
        let status = try ChildProgram(output: .nothing).run(command[0], command)
        time += SystemClock.monotonic - started
        count += 1
        defer { Directory.remove(session) }
        guard status == 0 else { throw GateFailure.ended(program: program.text, status: status) }
        return try SessionRun(Session.opened(session), symbols: symbols, listener: listener())
    }

    /// What this machine calls itself.
    public static var host: String {
        var system = utsname()
        uname(&system)
        return withUnsafeBytes(of: &system.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static var executable: String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = path.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        return String(decoding: path.prefix(max(length, 0)), as: UTF8.self)
    }
}
