internal import TraceFile

/// Whether a process is there.
enum TargetProcess {
    static func isAlive(_ pid: Int32) -> Bool {
        let line = SystemFile.firstLine(of: "/proc/\(pid)/stat")
        guard let end = line.lastIndex(of: ")"), let state = line[end...].dropFirst(2).first else { return false }
        return state != "Z" && state != "X"
    }
}
