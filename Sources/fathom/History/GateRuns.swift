internal import Glibc
internal import TraceFile
internal import TraceHistory
internal import TraceSystem
internal import TraceText

/// Runs programs for a gate, each run recorded by a `fathom record` of its own, and reads what it recorded.
final class GateRuns {
    private let directory: String
    private let options: [String]
    private let symbols: [String]
    /// How long the runs have taken, in ns, and how many there were.
    private(set) var time: UInt64 = 0
    private(set) var count = 0

    /// What is run: a command's words, or a line for the shell.
    enum Program {
        case words([String])
        case line(String)

        var text: String {
            switch self {
            case .words(let words): CommandText.line(words)
            case .line(let line): line.visible
            }
        }
    }

    /// - Parameter options: of `fathom record`.
    init(_ options: [String], symbols: [String]) throws {
        self.options = options
        self.symbols = symbols
        do throws(SystemError) { directory = try Directory.makeTemporary("fathom-gate") } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }

    /// Removes what is left of the recordings.
    func finish() { Directory.remove(directory) }

    /// Runs a program once. Its standard output goes nowhere, and what it says on standard error is seen.
    ///
    /// - Throws: exit status 2, the reason said, when it does not end with status 0 or is not recorded.
    func run(_ program: Program) throws -> SessionRun {
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
        let status = try GateRuns.wait(for: command)
        time += SystemClock.monotonic - started
        count += 1
        defer { Directory.remove(session) }
        guard status == 0 else { throw Diagnostics.fail("\(program.text): \(GateRuns.text(of: status))", .failed) }
        return try SessionRun(session, symbols: symbols)
    }

    /// What this machine calls itself.
    static var host: String {
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

    /// - Parameter status: as waitpid(2) has it.
    private static func text(of status: Int32) -> String {
        let signal = status & 0x7f
        return signal == 0
            ? "ended with status \(status >> 8 & 0xff), so the run tells nothing"
            : "ended by signal \(signal), so the run tells nothing"
    }

    private static func wait(for command: [String]) throws -> Int32 {
        do throws(SystemError) { return try ChildProgram(output: .nothing).run(command[0], command) } catch {
            throw Diagnostics.fail(error.description, .failed)
        }
    }
}
