internal import Glibc
internal import TraceAnalysis
internal import TraceFormat
internal import TraceRecording

/// The call paths of a finished recording, kept beside it.
///
/// They are used only while the log is the file that they were made of: same inode, size and times of change. Nothing is
/// kept of a log that changed in the last two seconds, which may change again without its times telling.
struct AggregateCache {
    private let session: String
    private let path: String
    private let identity: [UInt64]
    private let isSettled: Bool

    /// Logs smaller than this are as quickly read, in bytes.
    private static let leastSize = 1 << 20

    /// - Returns: nil when `session` is not finished or too small to bother.
    init?(_ session: Session) {
        guard !session.isRecording, session.buffersSize == 0, session.logSize >= AggregateCache.leastSize else {
            return nil
        }
        var status = stat()
        var now = timespec()
        guard stat(session.path + "/trace", &status) == 0, status.st_size == session.logSize,
            clock_gettime(CLOCK_REALTIME, &now) == 0
        else { return nil }
        self.session = session.path
        path = session.path + "/aggregate"
        identity = [
            UInt64(status.st_ino), UInt64(status.st_size), AggregateCache.nanoseconds(status.st_mtim),
            AggregateCache.nanoseconds(status.st_ctim),
        ]
        let settled = AggregateCache.nanoseconds(now) &- 2_000_000_000
        isSettled = identity[2] < settled && identity[3] < settled
    }

    private static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The kept tree, or nil when there is none of this log.
    func load(_ functions: FunctionTable) -> CallPathTree? {
        guard let file = try? MappedFile(path: path), file.size > 0 else { return nil }
        let header = identity.count * 8
        guard file.size > header else { return nil }
        for (index, value) in identity.enumerated()
        where file.bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) != value { return nil }
        return CallPathTree(decoding: Array(file.bytes[header...]), functions: functions)
    }

    /// Keeps `tree`; where that cannot be, nothing is kept.
    func store(_ tree: CallPathTree) {
        guard isSettled, SessionFiles.canReplace("aggregate", at: session) else { return }
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten =
            identity.withUnsafeBytes { write($0, to: descriptor) }
            && tree.encoded().withUnsafeBytes { write($0, to: descriptor) }
        close(descriptor)
        if !isWritten || rename(temporary, path) != 0 { unlink(temporary) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
