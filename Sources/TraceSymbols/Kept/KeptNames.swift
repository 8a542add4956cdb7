internal import CZstd
internal import Glibc

/// What a session keeps of its modules' symbols, as the bytes of a file.
///
/// The file begins with ``magic``, and 4 bytes, little-endian, that say how many modules there are. Each module follows: 4 such bytes
/// that say how many the module takes, and these: a frame of Zstandard (RFC 8878) with a checksum.
public struct KeptNames: Sendable {
    /// What the file begins with; its last byte is the format's version.
    public static let magic: [UInt8] = Array("FATHNAM".utf8) + [1]

    private var modules: [Key: KeptModule] = [:]
    /// The bytes that are damaged, so that what they held is not known; nil when none are.
    public private(set) var damage: Range<Int>?

    /// A module that has a build-id is the same wherever it lies.
    private enum Key: Hashable {
        case build([UInt8])
        case path(String)

        init(_ path: String, _ buildID: [UInt8]) { self = buildID.isEmpty ? .path(path) : .build(buildID) }
    }

    public init(_ modules: [KeptModule]) {
        for module in modules { self.modules[Key(module.path, module.buildID)] = module }
    }

    /// What is kept of the module; nil when nothing is.
    public subscript(path path: String, buildID buildID: [UInt8]) -> KeptModule? { modules[Key(path, buildID)] }

    public var isEmpty: Bool { modules.isEmpty }

    /// Whether any of the modules holds Swift code.
    public var hasSwiftCode: Bool { modules.values.contains(where: \.hasSwiftCode) }

    /// The source files in which functions and call sites are, in order.
    public var sourceFiles: [String] { Set(modules.values.flatMap(\.files)).sorted() }

    /// The file's bytes.
    ///
    /// - Complexity: O(bytes of all names and lines), about 100 MB/s.
    public var bytes: [UInt8] {
        var result = Self.magic
        withUnsafeBytes(of: UInt32(modules.count).littleEndian) { result += $0 }
        for module in modules.values.sorted(by: { ($0.path, $1.buildID.count) < ($1.path, $0.buildID.count) }) {
            let frame = Self.compress(module.bytes)
            withUnsafeBytes(of: UInt32(frame.count).littleEndian) { result += $0 }
            result += frame
        }
        return result
    }

    /// Reads a file's bytes. Modules that are damaged are left out, see ``damage``.
    ///
    /// - Returns: nil when they are no such file, or a later version's.
    /// - Complexity: O(bytes of all names and lines).
    public init?(bytes: UnsafeRawBufferPointer) {
        func number(at position: Int) -> Int? {
            guard bytes.count - position >= sizes else { return nil }
            return Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        }
        let sizes = MemoryLayout<UInt32>.size
        guard bytes.starts(with: Self.magic), let count = number(at: Self.magic.count) else { return nil }
        var position = Self.magic.count + sizes
        for _ in 0..<count {
            guard let size = number(at: position), size <= bytes.count - position - sizes else {
                noteDamage(position..<bytes.count)
                return
            }
            let frame = UnsafeRawBufferPointer(rebasing: bytes[position + sizes..<position + sizes + size])
            if let module = Self.module(in: frame) {
                modules[Key(module.path, module.buildID)] = module
            } else {
                noteDamage(position..<position + sizes + size)
            }
            position += sizes + size
        }
        if position < bytes.count { noteDamage(position..<bytes.count) }
    }

    private mutating func noteDamage(_ range: Range<Int>) {
        damage = min(damage?.lowerBound ?? .max, range.lowerBound)..<max(damage?.upperBound ?? 0, range.upperBound)
    }

    /// More than this is no module: the names of a million functions take a tenth of it.
    private static let largest = 1 << 30

    private static func module(in frame: UnsafeRawBufferPointer) -> KeptModule? {
        guard let start = frame.baseAddress, let size = Int(exactly: ZSTD_getFrameContentSize(start, frame.count)),
            size > 0, size < largest, let room = malloc(size)
        else { return nil }
        defer { free(room) }
        guard ZSTD_decompress(room, size, start, frame.count) == size else { return nil }
        return KeptModule(bytes: UnsafeRawBufferPointer(start: room, count: size))
    }

    private static func compress(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = ZSTD_createCCtx() else { preconditionFailure("out of memory") }
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 3)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        return [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { room, count in
            count = ZSTD_compress2(context, room.baseAddress, room.count, bytes, bytes.count)
            precondition(ZSTD_isError(count) == 0, "out of memory")
        }
    }
}
