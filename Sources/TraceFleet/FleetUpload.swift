internal import Glibc
internal import TraceHistory
internal import TraceSystem
internal import TraceText

/// Hands the files of intervals over to a tool that takes them elsewhere, and removes what it has taken.
///
/// A file that the tool fails to take stays in its place, and is handed over again, by whoever collects into the directory later, too.
/// So a file may be taken twice; it has the same name and the same bytes then.
public struct FleetUpload {
    public let directory: FleetDirectory
    /// A command for the shell, to which `$1` is the file and `$2` where it belongs.
    let command: String
    /// What `$2` begins with, before the place below the directory.
    let prefix: String

    public init(directory: FleetDirectory, command: String, prefix: String) {
        (self.directory, self.command, self.prefix) = (directory, command, prefix)
    }

    /// After so many intervals that are not taken, the tool is taken to reach nothing at all.
    private static let patience = 3

    /// Hands over all files that are there, the oldest day first, and of each interval that of `run` last. Of an interval that has
    /// a file which is not taken the later files wait, too.
    ///
    /// - Parameter isStopped: whether to leave the rest for later; asked before each file.
    /// - Returns: why a file was not taken, the first one; nil when all were.
    public func run(until isStopped: () -> Bool) -> String? {
        var first: String?
        var missed: Set<String> = []
        for (interval, file) in files() where !missed.contains(interval) {
            if isStopped() || missed.count >= Self.patience { break }
            guard let failure = take(file) else { continue }
            first = first ?? failure
            missed.insert(interval)
        }
        return first
    }

    /// The files of intervals in the order in which they are handed over.
    private func files() -> [(interval: String, file: String)] {
        directory.parts().map { ("\($0.date) \($0.name)", $0.table, $0.file) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.0, $0.2) }
    }

    private func take(_ file: String) -> String? {
        let path = "\(directory.path)/\(file)"
        let words = ["sh", "-c", command, "sh", path, prefix.isEmpty ? file : "\(prefix)/\(file)"]
        var tool = ChildProgram(input: .nothing)
        // This program blocks the signals that end it while it writes; the tool must not.
        tool.blockedSignals = sigset_t()
        signal(SIGCHLD, SIG_DFL)  // Where it is ignored, nobody knows how a tool ended.
        let status: Int32
        do throws(SystemError) { status = try tool.run("/bin/sh", words) } catch { return error.description }
        if status == 0 {
            unlink(path)
            directory.removeEmpty(FleetDirectory.parent(of: file))
            return nil
        }
        // Another one that collects here has handed it over.
        if access(path, F_OK) != 0 { return nil }
        let signal = status & 0x7f
        let end = signal == 0 ? "status \(status >> 8 & 0xff)" : "signal \(signal)"
        return "\(file.visible): '\(command.visible)' ended with \(end)"
    }
}
