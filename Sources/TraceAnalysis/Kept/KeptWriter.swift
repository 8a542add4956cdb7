internal import TraceText

/// Writes one section of kept sums: numbers as LEB128, which takes a byte for each seven bits (DWARF 5, 7.6).
struct KeptWriter {
    private var bytes: [UInt8] = []
    private var sum = KeptChecksum()
    private(set) var size = 0
    private let write: (UnsafeRawBufferPointer) -> Void

    /// Bytes are passed on when there are this many: a multiple of what the checksum takes at once.
    private static let pieceSize = 64 << 10

    init(_ write: @escaping (UnsafeRawBufferPointer) -> Void) {
        self.write = write
        bytes.reserveCapacity(KeptWriter.pieceSize + 64)
    }

    @inline(__always)
    mutating func append(_ value: UInt64) {
        bytes.append(leb128: value)
        if bytes.count >= KeptWriter.pieceSize { pass(KeptWriter.pieceSize) }
    }

    mutating func append(_ text: some Collection<UInt8>) {
        append(UInt64(text.count))
        for byte in text { append(byte: byte) }
    }

    mutating func append(_ durations: DurationCounts) {
        bytes.append(durations)
        while bytes.count >= KeptWriter.pieceSize { pass(KeptWriter.pieceSize) }
    }

    private mutating func append(byte: UInt8) {
        bytes.append(byte)
        if bytes.count >= KeptWriter.pieceSize { pass(KeptWriter.pieceSize) }
    }

    private mutating func pass(_ count: Int) {
        bytes.withUnsafeBytes { bytes in
            let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
            sum.add(piece)
            write(piece)
        }
        bytes.removeFirst(count)
        size += count
    }

    /// Passes on the bytes that are left.
    ///
    /// - Returns: the checksum of the section.
    mutating func finish() -> UInt64 {
        pass(bytes.count)
        return sum.value
    }
}
