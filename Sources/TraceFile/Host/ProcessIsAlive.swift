internal import Glibc

/// Whether a process exists and has not ended. `pid` is what the process told us, which is its id in its own namespace
/// if it has one.
///
/// - Complexity: O(processes of the system) when no process here has that id.
package func processIsAlive(_ pid: Int32) -> Bool {
    if kill(pid, 0) == 0 || errno != ESRCH {
        // The line is: pid (name) state ... The name can hold anything, so the last parenthesis counts.
        let line = SystemFile.firstLine(of: "/proc/\(pid)/stat")
        guard let end = line.lastIndex(of: ")"), let state = line[end...].dropFirst(2).first else { return true }
        if state != "Z" && state != "X" { return true }
    }
    return SystemFile.processes().contains { process in
        // These are its ids, from our namespace to its own.
        let ids = SystemFile.value(of: "NSpid", in: "/proc/\(process)/status")?.split(separator: "\t") ?? []
        guard ids.count > 1, ids.last == "\(pid)" else { return false }
        let state = SystemFile.value(of: "State", in: "/proc/\(process)/status")?.first
        return state != "Z" && state != "X"
    }
}
