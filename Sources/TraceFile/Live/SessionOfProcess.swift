internal import Glibc

/// Finds the session that a running process is recorded into.
public enum SessionOfProcess {
    /// The directory of the session whose buffers the process has mapped; nil when it has none, or may not be looked into.
    ///
    /// - Complexity: O(mappings of the process).
    public static func directory(_ pid: Int32) -> String? {
        let end = "/" + SessionFile.buffers.name
        for line in SystemFile.lines(of: "/proc/\(pid)/maps") where line.hasSuffix(end) {
            // Address, rights, offset, device and inode come before the path, which may have blanks.
            guard let slash = line.firstIndex(of: "/") else { continue }
            let directory = String(line[slash...].dropLast(end.count))
            if Session.exists(at: directory) { return directory }
        }
        return nil
    }
}
