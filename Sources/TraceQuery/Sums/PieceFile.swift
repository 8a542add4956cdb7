internal import CZstd
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceSystem

/// What a reader keeps of a finished recording beside it, so that the next reader need not read all of it: a head, which tells of which log
/// it is; pieces; and, at the end, where all of them are.
///
/// It is written at its end, and read anywhere. Pieces are compressed by libzstd: before each stands how many bytes it takes, and, in
/// the highest bit, whether it is as it was given. Where nothing can be kept beside the recording, and of small logs, the file has no
/// name, and is gone when nobody uses it any more.
final class PieceFile: SummaryStorage {
    private let descriptor: Int32
    private var size: UInt64
    var byteCount: UInt64 { size }
    /// Where it is kept once it is whole.
    private let place: Place?
    private let context = ZSTD_createCCtx()

    private static let head = MemoryLayout<UInt32>.size
    private static let plain: UInt32 = 1 << 31

    private init(_ descriptor: Int32, size: UInt64, _ place: Place? = nil) {
        self.descriptor = descriptor
        self.size = size
        self.place = place
    }

    deinit {
        ZSTD_freeCCtx(context)
        close(descriptor)
    }

    func append(_ bytes: [UInt8]) -> UInt64? {
        let room = ZSTD_compressBound(bytes.count)
        let kept = [UInt8](unsafeUninitializedCapacity: PieceFile.head + room) { buffer, count in
            let rest = buffer.baseAddress! + PieceFile.head
            var size = ZSTD_compressCCtx(context, rest, room, bytes, bytes.count, 1)
            var head = UInt32(truncatingIfNeeded: size)
            if ZSTD_isError(size) != 0 || size >= bytes.count {
                size = bytes.count
                head = UInt32(size) | PieceFile.plain
                bytes.withUnsafeBytes {
                    UnsafeMutableRawPointer(rest).copyMemory(from: $0.baseAddress!, byteCount: size)
                }
            }
            UnsafeMutableRawPointer(buffer.baseAddress!).storeBytes(of: head, as: UInt32.self)
            count = PieceFile.head + size
        }
        guard write(kept, at: size) else { return nil }
        defer { size += UInt64(kept.count) }
        return size
    }

    func read(_ offset: UInt64, _ size: Int) -> [UInt8]? {
        let kept = bytes(at: offset, atMost: PieceFile.head + size)
        guard kept.count > PieceFile.head else { return nil }
        let head = kept.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        let count = Int(head & ~PieceFile.plain)
        guard count <= kept.count - PieceFile.head else { return nil }
        if head & PieceFile.plain != 0 { return Array(kept[PieceFile.head..<PieceFile.head + count]) }
        var isRead = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            kept.withUnsafeBytes {
                isRead = ZSTD_decompress(buffer.baseAddress, size, $0.baseAddress! + PieceFile.head, count) == size
            }
            filled = isRead ? size : 0
        }
        return isRead ? bytes : nil
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

// MARK: Beside a recording

extension PieceFile {
    /// Logs smaller than this are as quickly read, in bytes.
    private static let leastSize = 1 << 20
    /// What such a file begins with: "fathsum", "fathout" or "fathoff", and the version of what follows.
    private static func magic(_ file: SessionFile) -> UInt64 {
        switch file {
        case .outlines: 0x01_74_75_6f_68_74_61_66
        case .offCPU: 0x01_66_66_6f_68_74_61_66
        default: 0x01_6d_75_73_68_74_61_66
        }
    }
    /// The magic number, ``LogIdentity/words``, where the end begins, and its size.
    private static let headWords = 7

    private struct Place {
        let file: SessionFile
        let session: String
        let identity: LogIdentity
    }

    /// Whether it is worth while to keep anything of a log.
    static func isUseful(for session: Session) -> Bool {
        session.plainLogSize >= leastSize && LogIdentity(session) != nil
    }

    /// A new one for `file` of a session.
    static func new(_ file: SessionFile, of session: Session) -> PieceFile? {
        if isUseful(for: session), let identity = LogIdentity(session), identity.isSettled,
            SessionFiles.canReplace(file, at: session.path), let descriptor = NamelessFile.open(in: session.path)
        {
            return PieceFile(
                descriptor, size: UInt64(headWords * 8),
                Place(file: file, session: session.path, identity: identity))
        }
        return NamelessFile.open().map { PieceFile($0, size: 0) }
    }

    /// Keeps the file, if it has a place, for the owner of the session.
    ///
    /// - Parameter end: tells where all is.
    func keep(_ end: [UInt8]) {
        guard let place, let offset = append(end) else { return }
        let head = [PieceFile.magic(place.file)] + place.identity.words + [offset, UInt64(end.count)]
        guard write(head.withUnsafeBytes { Array($0) }, at: 0) else { return }
        SessionFiles.put(nameless: descriptor, as: place.file, in: place.session)
    }

    /// Reads what was kept of this log; nil where there is nothing.
    ///
    /// - Returns: the pieces, and what tells where all is.
    static func kept(_ file: SessionFile, of session: Session) -> (pieces: PieceFile, end: [UInt8])? {
        guard isUseful(for: session), let identity = LogIdentity(session) else { return nil }
        // Without waiting, if it is something else than a file.
        let descriptor = open("\(session.path)/\(file.name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        let pieces = PieceFile(descriptor, size: 0)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            case let bytes = pieces.bytes(at: 0, atMost: headWords * 8), bytes.count == headWords * 8
        else { return nil }
        let head = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        guard head[0] == magic(file), Array(head[1...4]) == identity.words, head[6] <= 1 << 30,
            let end = pieces.read(head[5], Int(head[6]))
        else { return nil }
        return (pieces, end)
    }
}
