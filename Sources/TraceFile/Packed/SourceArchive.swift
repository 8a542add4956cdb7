internal import CTraceFormat

/// The source files that a session holds: a magic, the sum of all that follows, and then each file with its path.
public struct SourceArchive {
    static let magic = "FATHSRC1"

    /// By path, as debug information has it.
    public private(set) var files: [String: [UInt8]] = [:]

    public init(_ files: [String: [UInt8]]) { self.files = files }

    /// Reads the bytes of an archive; nil when they are not as they were written.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let start = Self.magic.utf8.count + 8
        guard bytes.count >= start, bytes.starts(with: Self.magic.utf8),
            case var rest = UnsafeRawBufferPointer(rebasing: bytes[start...]),
            bytes.loadUnaligned(fromByteOffset: start - 8, as: UInt64.self) == hashOf(rest)
        else { return nil }
        func take(_ size: Int) -> UnsafeRawBufferPointer? {
            guard size <= rest.count else { return nil }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest[size...]) }
            return UnsafeRawBufferPointer(rebasing: rest[..<size])
        }
        while !rest.isEmpty {
            guard let sizes = take(8), let path = take(Int(sizes.loadUnaligned(as: UInt32.self))),
                let text = take(Int(sizes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            else { return nil }
            files[String(decoding: path, as: UTF8.self)] = Array(text)
        }
    }

    /// The bytes of the archive, always the same for the same files.
    public var bytes: [UInt8] {
        var content: [UInt8] = []
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            let path = Array(path.utf8)
            for size in [path.count, text.count] { withUnsafeBytes(of: UInt32(size)) { content += $0 } }
            content += path
            content += text
        }
        let sum = content.withUnsafeBytes(hashOf)
        return Array(Self.magic.utf8) + withUnsafeBytes(of: sum) { Array($0) } + content
    }
}
