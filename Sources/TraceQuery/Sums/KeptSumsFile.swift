internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceSystem

/// The call paths of a finished recording, kept beside it.
///
/// They are used only while the log is the file that they were made of.
struct KeptSumsFile {
    private let session: String
    private let path: String
    private let identity: LogIdentity

    /// Logs smaller than this are as quickly read, in bytes.
    private static let leastSize = 1 << 20

    /// - Returns: nil when `session` is not finished or too small to bother.
    init?(_ session: Session) {
        // What is kept knows nothing of memory.
        guard !session.followsMemory, session.plainLogSize >= KeptSumsFile.leastSize,
            let identity = LogIdentity(session)
        else { return nil }
        self.session = session.path
        path = "\(session.path)/\(SessionFile.aggregate.name)"
        self.identity = identity
    }

    /// Reads the sums that were kept; nil when there are none of this log.
    func load() -> KeptSums? {
        // Without waiting, if it is something else than a file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = KeptFile(descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return KeptSums(of: identity.words, fileSize: Int(status.st_size), read: file.read)
    }

    /// Keeps sums; where that cannot be, nothing is kept.
    ///
    /// - Parameters:
    ///   - tree: as it was recorded.
    ///   - rows: of its functions, made as `settings` say.
    ///   - threads: likewise, of the threads.
    func store(_ tree: CallPathTree, _ rows: [AggregateRow], _ threads: [ThreadSums], _ settings: RowSettings) {
        guard identity.isSettled else { return }
        SessionFiles.put(.aggregate, in: session) { descriptor in
            var isWritten = lseek(descriptor, KeptSums.headerSize, SEEK_SET) == KeptSums.headerSize
            let header = KeptSums.write(tree, functions: rows, threads: threads, settings, of: identity.words) {
                isWritten = isWritten && writeAll($0, to: descriptor) == 0
            }
            return isWritten && lseek(descriptor, 0, SEEK_SET) == 0
                && header.withUnsafeBytes { writeAll($0, to: descriptor) } == 0
        }
    }
}

/// A file that is read in pieces, as long as it is needed.
private final class KeptFile {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// `size` bytes from `offset`, or nil when they are not there.
    func read(_ offset: Int, _ size: Int) -> [UInt8]? {
        let bytes = readAll(size, from: descriptor, at: offset)
        return bytes.count == size ? bytes : nil
    }
}
