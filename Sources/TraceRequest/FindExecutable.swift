internal import Glibc
public import TraceRecording
internal import TraceText

/// Finds the program's file, in PATH as execvp(3) does unless the name holds a slash.
///
/// - Parameter path: directories with colons between; nil stands for PATH.
/// - Returns: a path that is executable; O(entries of PATH).
/// - Throws: ``RecordingError/notFound(command:)``, ``RecordingError/notExecutable(path:)``,
///   ``RecordingError/isDirectory(path:)``.
public func findExecutable(_ command: String, in path: String? = nil) throws(RecordingError) -> String {
    var candidates = [command]
    if !command.utf8.contains(UInt8(ascii: "/")) {
        let path = path ?? getenv("PATH").map { String(rawCString: $0) } ?? "/usr/bin:/bin"
        candidates = path.split(separator: ":", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "./\(command)" : "\($0)/\(command)" }
    }
    var failure = RecordingError.notFound(command: command)
    for candidate in candidates where !command.isEmpty {
        var status = stat()
        guard candidate.withRawCString({ stat($0, &status) }) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
            if candidates.count == 1 { failure = .isDirectory(path: candidate) }
        } else if candidate.withRawCString({ access($0, X_OK) }) != 0 {
            failure = .notExecutable(path: candidate)
        } else {
            return candidate
        }
    }
    throw failure
}
