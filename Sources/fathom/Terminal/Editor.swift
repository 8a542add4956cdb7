internal import Glibc
internal import TraceSystem
internal import TraceText

/// The program that the user edits text with: VISUAL, EDITOR or vi, as git takes them.
enum Editor {
    /// Editors that take a place as `file:line`. All others take `+line file`.
    private static let colonEditors = ["code", "codium", "subl", "hx", "helix", "zed"]

    private static var command: String {
        for name in ["VISUAL", "EDITOR"] {
            if let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty { return value }
        }
        return "vi"
    }

    /// Why a file cannot be edited; nil when it can.
    static func problem(with file: String) -> String? {
        access(file, R_OK) == 0 ? nil : "\(file): \(String(cString: strerror(errno)))"
    }

    /// Opens a file at a line, and waits until the editor ends.
    ///
    /// - Returns: what went wrong; nil for nothing.
    static func open(_ file: String, line: Int) -> String? {
        let command = command
        let program = PathText.name(String(command.split(separator: " ").first ?? ""))
        let place =
            program.hasPrefix("code") || colonEditors.contains(program)
            ? (program.hasPrefix("cod") ? ["--goto", "\(file):\(line)"] : ["\(file):\(line)"]) : ["+\(line)", file]
        let words = ["sh", "-c", command + " \"$@\"", command] + place
        // While the editor runs, Ctrl-C is meant for the editor alone.
        let (interrupt, quit) = (signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN))
        defer {
            signal(SIGINT, interrupt)
            signal(SIGQUIT, quit)
        }
        let status: Int32
        do throws(SystemError) {
            status = try ChildProgram(restoring: [SIGPIPE, SIGINT, SIGQUIT]).run("/bin/sh", words)
        } catch {
            return error.subject == "waitpid" ? nil : "\(command): \(error.reason)"
        }
        return status >> 8 & 0xff == 127 ? "there is no editor '\(command)' (VISUAL, EDITOR)" : nil
    }
}
