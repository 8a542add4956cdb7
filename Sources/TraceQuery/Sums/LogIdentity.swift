internal import Glibc
internal import TraceFile
internal import TraceSystem

/// What tells that a session's log is still the file that something was made of: its inode, size and times of change.
struct LogIdentity {
    let words: [UInt64]
    /// Whether the log did not change in the last two seconds: it could change again without its times telling.
    let isSettled: Bool

    /// - Returns: nil where the session is not a directory whose recording has ended.
    init?(_ session: Session) {
        guard !session.isRecording, session.buffersSize == 0 else { return nil }
        var status = stat()
        guard stat("\(session.path)/\(SessionFile.trace.name)", &status) == 0, status.st_size == session.logSize
        else { return nil }
        words = [
            UInt64(status.st_ino), UInt64(status.st_size), LogIdentity.nanoseconds(status.st_mtim),
            LogIdentity.nanoseconds(status.st_ctim),
        ]
        let settled = SystemClock.realtime &- 2_000_000_000
        isSettled = words[2] < settled && words[3] < settled
    }

    private static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
