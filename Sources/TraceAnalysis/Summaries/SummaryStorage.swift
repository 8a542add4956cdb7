internal import Synchronization

/// Where the bytes of summaries are.
public protocol SummaryStorage: AnyObject {
    /// Keeps bytes; nil where that cannot be.
    func append(_ bytes: [UInt8]) -> UInt64?
    /// Bytes that were kept; nil where they are not there.
    func read(_ offset: UInt64, _ size: Int) -> [UInt8]?
    /// How many bytes it takes.
    var byteCount: UInt64 { get }
}

/// Keeps them in memory.
public final class SummaryMemory: SummaryStorage {
    private let kept = Mutex<[UInt8]>([])

    public init() {}

    public var byteCount: UInt64 { kept.withLock { UInt64($0.count) } }

    public func append(_ more: [UInt8]) -> UInt64? {
        kept.withLock { bytes in
            defer { bytes += more }
            return UInt64(bytes.count)
        }
    }

    public func read(_ offset: UInt64, _ size: Int) -> [UInt8]? {
        kept.withLock { SummaryMemory.part(of: $0, offset, size) }
    }

    private static func part(of bytes: [UInt8], _ offset: UInt64, _ size: Int) -> [UInt8]? {
        guard offset <= UInt64(bytes.count), size <= bytes.count - Int(offset) else { return nil }
        return Array(bytes[Int(offset)..<Int(offset) + size])
    }
}

/// A piece of a storage, and its checksum.
struct SummaryPiece {
    var offset: UInt64
    var size: UInt32
    var sum: UInt64

    /// Nil where it cannot be kept.
    init?(_ bytes: [UInt8], in storage: any SummaryStorage) {
        guard let offset = storage.append(bytes) else { return nil }
        self.init(offset: offset, size: UInt32(bytes.count), sum: KeptChecksum.sum(of: bytes))
    }

    init(offset: UInt64, size: UInt32, sum: UInt64) {
        self.offset = offset
        self.size = size
        self.sum = sum
    }

    /// Nil where it is not there, or not as it was.
    func read(from storage: any SummaryStorage) -> [UInt8]? {
        guard let bytes = storage.read(offset, Int(size)), KeptChecksum.sum(of: bytes) == sum else { return nil }
        return bytes
    }
}
