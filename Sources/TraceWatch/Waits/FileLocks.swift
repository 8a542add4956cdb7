internal import Glibc
internal import TraceFile

/// Who has locked a file that a thread waits for.
enum FileLocks {
    /// The process that holds a lock of an open file; nil when that is not known.
    ///
    /// - Parameter byFlock: whether the thread waits in flock, whose locks and those of fcntl know nothing of each other.
    static func holder(ofDescriptor number: UInt64, of pid: Int32, byFlock: Bool) -> Int32? {
        var status = stat()
        guard stat("/proc/\(pid)/fd/\(Int32(truncatingIfNeeded: number))", &status) == 0 else { return nil }
        for line in SystemFile.lines(of: "/proc/locks") {
            // NUMBER: FLOCK (or POSIX, OFDLCK) ADVISORY WRITE PID MAJOR:MINOR:INODE START END; one that waits has "->" behind the number.
            let fields = line.split(separator: " ")
            guard fields.count >= 8, (fields[1] == "FLOCK") == byFlock, fields[1] != "->", let holder = Int32(fields[4])
            else { continue }
            guard fields[5].split(separator: ":").last.flatMap({ UInt64($0) }) == UInt64(status.st_ino) else {
                continue
            }
            if holder > 0 { return holder }
        }
        return nil
    }
}
