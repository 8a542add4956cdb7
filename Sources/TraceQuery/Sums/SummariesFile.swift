internal import CZstd
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceSystem

/// The summaries of a finished recording, kept beside it in a file: a head, which tells of which log they are; what
/// ``TraceAnalysis/Summaries`` stores; and, at the end, where all of that is.
///
/// Where nothing can be kept beside it, and of small logs, the file has no name, and is gone when nobody uses it any more.
enum SummariesFile {
    /// Logs smaller than this are as quickly read, in bytes.
    private static let leastSize = 1 << 20
    /// `magic`, ``LogIdentity/words``, where the end begins, and its size.
    fileprivate static let headWords = 7
    /// "fathsum" and the version of what follows.
    fileprivate static let magic: UInt64 = 0x01_6d_75_73_68_74_61_66

    static func summaries(
        of session: Session, threads: [TracedThread], resolver: FunctionResolver, progress: @escaping (Double) -> Void
    ) -> Summaries? {
        let path = "\(session.path)/\(SessionFile.summaries.name)"
        let identity = session.plainLogSize < leastSize ? nil : LogIdentity(session)
        defer { progress(1) }
        if let identity, let kept = read(path, identity, threads, session.clock, resolver) { return kept }
        func made(_ storage: SummaryFile) -> Summaries? {
            Summaries(of: threads, clock: session.clock, resolver: resolver, in: storage, onProgress: progress)
        }
        if let identity, identity.isSettled, SessionFiles.canReplace(.summaries, at: session.path),
            let descriptor = NamelessFile.open(in: session.path)
        {
            let storage = SummaryFile(descriptor, size: UInt64(headWords * 8))
            if let summaries = made(storage) {
                if storage.end(summaries.encoded(), identity) { put(descriptor, at: path, in: session.path) }
                return summaries
            }
        }
        return NamelessFile.open().flatMap { made(SummaryFile($0, size: 0)) }
    }

    /// Gives a file its name, for the owner of the session. Where that cannot be, it has none.
    private static func put(_ descriptor: Int32, at path: String, in session: String) {
        var owner = stat()
        if geteuid() == 0, stat(session, &owner) == 0, owner.st_uid != 0 {
            _ = fchown(descriptor, owner.st_uid, owner.st_gid)
        }
        let temporary = "\(path).\(getpid())"
        if NamelessFile.link(descriptor, as: temporary), rename(temporary, path) != 0 { unlink(temporary) }
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
            case let bytes = storage.bytes(at: 0, atMost: headWords * 8), bytes.count == headWords * 8
        else { return nil }
        let head = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        guard head[0] == magic, Array(head[1...4]) == identity.words, head[6] <= 1 << 30,
            let end = storage.read(head[5], Int(head[6]))
        else { return nil }
        return Summaries(end, of: threads, clock: clock, resolver: resolver, in: storage)
    }
}

/// A file that is written at its end, and read anywhere. What is kept there is compressed by libzstd: before each piece stands how many
/// bytes it takes, and, in the highest bit, whether it is as it was given.
private final class SummaryFile: SummaryStorage {
    private let descriptor: Int32
    private var size: UInt64
    private let context = ZSTD_createCCtx()

    private static let head = MemoryLayout<UInt32>.size
    private static let plain: UInt32 = 1 << 31

    init(_ descriptor: Int32, size: UInt64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit {
        ZSTD_freeCCtx(context)
        close(descriptor)
    }

    func append(_ bytes: [UInt8]) -> UInt64? {
        let room = ZSTD_compressBound(bytes.count)
        let kept = [UInt8](unsafeUninitializedCapacity: SummaryFile.head + room) { buffer, count in
            let rest = buffer.baseAddress! + SummaryFile.head
            var size = ZSTD_compressCCtx(context, rest, room, bytes, bytes.count, 1)
            var head = UInt32(truncatingIfNeeded: size)
            if ZSTD_isError(size) != 0 || size >= bytes.count {
                size = bytes.count
                head = UInt32(size) | SummaryFile.plain
                bytes.withUnsafeBytes {
                    UnsafeMutableRawPointer(rest).copyMemory(from: $0.baseAddress!, byteCount: size)
                }
            }
            UnsafeMutableRawPointer(buffer.baseAddress!).storeBytes(of: head, as: UInt32.self)
            count = SummaryFile.head + size
        }
        guard write(kept, at: size) else { return nil }
        defer { size += UInt64(kept.count) }
        return size
    }

    func read(_ offset: UInt64, _ size: Int) -> [UInt8]? {
        let kept = bytes(at: offset, atMost: SummaryFile.head + size)
        guard kept.count > SummaryFile.head else { return nil }
        let head = kept.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        let count = Int(head & ~SummaryFile.plain)
        guard count <= kept.count - SummaryFile.head else { return nil }
        if head & SummaryFile.plain != 0 { return Array(kept[SummaryFile.head..<SummaryFile.head + count]) }
        var isRead = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            kept.withUnsafeBytes {
                isRead = ZSTD_decompress(buffer.baseAddress, size, $0.baseAddress! + SummaryFile.head, count) == size
            }
            filled = isRead ? size : 0
        }
        return isRead ? bytes : nil
    }

    /// Writes what tells where all is, and the head.
    ///
    /// - Returns: whether all is written.
    func end(_ bytes: [UInt8], _ identity: LogIdentity) -> Bool {
        guard let offset = append(bytes) else { return false }
        let head = [SummariesFile.magic] + identity.words + [offset, UInt64(bytes.count)]
        return write(head.withUnsafeBytes { Array($0) }, at: 0)
    }

    /// - Returns: whether all is written.
    private func write(_ bytes: [UInt8], at offset: UInt64) -> Bool {
        bytes.withUnsafeBytes { writeAll($0, to: descriptor, at: Int(offset)) } == 0
    }

    /// The bytes that are there.
    func bytes(at offset: UInt64, atMost size: Int) -> [UInt8] {
        offset > UInt64(Int.max - size) ? [] : readAll(size, from: descriptor, at: Int(offset))
    }
}
