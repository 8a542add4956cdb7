internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceSystem

/// The call paths of a finished recording, kept beside it.
///
/// They are used only while the log is the file that they were made of: same inode, size and times of change. Nothing is
/// kept of a log that changed in the last two seconds, which may change again without its times telling.
struct KeptSumsFile {
    private let session: String
    private let path: String
    private let identity: [UInt64]
    private let isSettled: Bool

    /// Logs smaller than this are as quickly read, in bytes.
    private static let leastSize = 1 << 20

    /// - Returns: nil when `session` is not finished or too small to bother.
    init?(_ session: Session) {
        // What is kept knows nothing of memory.
        guard !session.isRecording, !session.followsMemory, session.buffersSize == 0,
            session.plainLogSize >= KeptSumsFile.leastSize
        else {
            return nil
        }
        var status = stat()
        guard stat("\(session.path)/\(SessionFile.trace.name)", &status) == 0, status.st_size == session.logSize
        else { return nil }
        self.session = session.path
        path = session.path + "/aggregate"
        identity = [
            UInt64(status.st_ino), UInt64(status.st_size), KeptSumsFile.nanoseconds(status.st_mtim),
            KeptSumsFile.nanoseconds(status.st_ctim),
        ]
        let settled = SystemClock.realtime &- 2_000_000_000
        isSettled = identity[2] < settled && identity[3] < settled
    }

    private static func nanoseconds(_ time: timespec) -> UInt64 {
        UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Reads the sums that were kept; nil when there are none of this log.
    func load() -> KeptSums? {
        // Without waiting, if it is something else than a file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = KeptFile(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return KeptSums(of: identity, fileSize: Int(status.st_size), read: file.read)
    }

    /// Keeps sums; where that cannot be, nothing is kept.
    ///
    /// - Parameters:
    ///   - tree: as it was recorded.
    ///   - rows: of its functions, made as `settings` say.
    ///   - threads: likewise, of the threads.
    func store(_ tree: CallPathTree, _ rows: [AggregateRow], _ threads: [ThreadSums], _ settings: RowSettings) {
        guard isSettled, SessionFiles.canReplace(.aggregate, at: session) else { return }
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        var isWritten = lseek(descriptor, KeptSums.headerSize, SEEK_SET) == KeptSums.headerSize
        let header = KeptSums.write(tree, functions: rows, threads: threads, settings, of: identity) { bytes in
            isWritten = isWritten && writeAll(bytes, to: descriptor) == 0
        }
        isWritten =
            isWritten && lseek(descriptor, 0, SEEK_SET) == 0
            && header.withUnsafeBytes { writeAll($0, to: descriptor) } == 0
        isWritten = close(descriptor) == 0 && isWritten
        if !isWritten || rename(temporary, path) != 0 { unlink(temporary) }
    }
}

/// A file that is read in pieces, as long as it is needed.
private final class KeptFile {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// `size` bytes from `offset`, or nil when they are not there.
    func read(_ offset: Int, _ size: Int) -> [UInt8]? {
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = pread(descriptor, buffer.baseAddress! + count, size - count, offset + count)
                if got < 0, errno == EINTR { continue }
                isRead = got > 0
                guard isRead else { return }
                count += got
            }
        }
        return isRead ? bytes : nil
    }
}
