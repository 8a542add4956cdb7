internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceSystem

/// The summaries of a finished recording, kept beside it in a file: a head, which tells of which log they are; what
/// ``TraceAnalysis/Summaries`` stores; and, at the end, where all of that is.
///
/// Where nothing can be kept beside it, the file has no name, and is gone when nobody uses it any more.
enum SummariesFile {
    /// `magic`, ``LogIdentity/words``, where the end begins, and its size.
    private static let headWords = 7
    /// "fathsum" and the version of what follows.
    private static let magic: UInt64 = 0x01_6d_75_73_68_74_61_66

    static func summaries(
        of session: Session, threads: [TracedThread], resolver: FunctionResolver, progress: @escaping (Double) -> Void
    ) -> Summaries? {
        let path = "\(session.path)/\(SessionFile.summaries.name)"
        let identity = LogIdentity(session)
        if let identity, let kept = read(path, identity, threads, session.clock, resolver) {
            progress(1)
            return kept
        }
        let canKeep = identity?.isSettled == true && SessionFiles.canReplace(.summaries, at: session.path)
        let temporary = "\(path).\(getpid())"
        var descriptor: Int32 = -1
        if canKeep { descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        let isKept = descriptor >= 0
        if !isKept { descriptor = NamelessFile.open() ?? -1 }
        guard descriptor >= 0 else { return nil }
        let storage = SummaryFile(descriptor, size: isKept ? UInt64(headWords * 8) : 0)
        guard
            let summaries = Summaries(
                of: threads, clock: session.clock, resolver: resolver, in: storage, onProgress: progress)
        else {
            if isKept { unlink(temporary) }
            return nil
        }
        if isKept, let identity {
            let end = summaries.encoded()
            let offset = storage.append(end)
            let head = [magic] + identity.words + [offset ?? 0, UInt64(end.count)]
            let isWritten =
                offset != nil && head.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
            if !isWritten || rename(temporary, path) != 0 { unlink(temporary) }
        }
        progress(1)
        return summaries
    }

    private static func read(
        _ path: String, _ identity: LogIdentity, _ threads: [TracedThread], _ clock: Clock, _ resolver: FunctionResolver
    ) -> Summaries? {
        // Without waiting, if it is something else than a file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        let storage = SummaryFile(descriptor, size: 0)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let bytes = storage.read(0, headWords * 8)
        else { return nil }
        let head = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        guard head[0] == magic, Array(head[1...4]) == identity.words, head[6] <= UInt64(status.st_size),
            let end = storage.read(head[5], Int(head[6]))
        else { return nil }
        return Summaries(end, of: threads, clock: clock, resolver: resolver, in: storage)
    }
}

/// A file that is written at its end, and read anywhere.
private final class SummaryFile: SummaryStorage {
    private let descriptor: Int32
    private var size: UInt64

    init(_ descriptor: Int32, size: UInt64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) -> UInt64? {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, bytes.count - written, off_t(size) + off_t(written))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            written += count
        }
        defer { size += UInt64(bytes.count) }
        return size
    }

    func read(_ offset: UInt64, _ size: Int) -> [UInt8]? {
        guard offset <= UInt64(Int64.max) - UInt64(size) else { return nil }
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = pread(descriptor, buffer.baseAddress! + count, size - count, off_t(offset) + off_t(count))
                if got < 0, errno == EINTR { continue }
                isRead = got > 0
                guard isRead else { return }
                count += got
            }
        }
        return isRead ? bytes : nil
    }
}
