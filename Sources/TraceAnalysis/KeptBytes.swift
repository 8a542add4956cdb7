/// Writes one section of kept sums: numbers as LEB128, which takes a byte for each seven bits (DWARF 5, 7.6).
struct KeptWriter {
    private var bytes: [UInt8] = []
    private var sum = KeptSum()
    private(set) var size = 0
    private let write: (UnsafeRawBufferPointer) -> Void

    /// Passed on when there are so many; a multiple of what the checksum takes at once.
    private static let pieceSize = 64 << 10

    init(_ write: @escaping (UnsafeRawBufferPointer) -> Void) {
        self.write = write
        bytes.reserveCapacity(KeptWriter.pieceSize + 64)
    }

    @inline(__always)
    mutating func append(_ value: UInt64) {
        var rest = value
        while rest >= 128 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
        if bytes.count >= KeptWriter.pieceSize { pass(KeptWriter.pieceSize) }
    }

    mutating func append(_ text: some Collection<UInt8>) {
        append(UInt64(text.count))
        for byte in text { append(byte: byte) }
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

    /// Passes on what is left.
    ///
    /// - Returns: the checksum of the section.
    mutating func finish() -> UInt64 {
        pass(bytes.count)
        return sum.value
    }
}

/// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over 64-bit words; a last incomplete one counts as zero-extended.
struct KeptSum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Adds `bytes`; all but the last that are added are a multiple of 8.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        for byte in bytes[offset...].reversed() { last = last << 8 | UInt64(byte) }
        add(last)
    }

    mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x100_0000_01b3 }
}

/// Takes values off the front of bytes that may hold anything.
struct KeptReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int
    /// More was taken than there is, or what is no number; all that is taken then is 0.
    private(set) var hasFailed = false

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { !hasFailed && offset == bytes.count }

    @inline(__always)
    mutating func take() -> UInt64 {
        if offset < bytes.count, bytes[offset] < 128 {
            defer { offset += 1 }
            return UInt64(bytes[offset])
        }
        return takeLong()
    }

    @inline(never)
    private mutating func takeLong() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 64 {
            let byte = UInt64(bytes[offset])
            offset += 1
            value |= (byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
        fail()
        return 0
    }

    /// A number below `limit`.
    mutating func take(below limit: Int) -> Int {
        let value = take()
        if value < UInt64(limit) { return Int(value) }
        fail()
        return 0
    }

    /// A number of things of at least one byte each.
    mutating func takeCount() -> Int { take(below: bytes.count - offset + 1) }

    mutating func takeBytes() -> [UInt8] {
        let count = takeCount()
        guard !hasFailed, count <= bytes.count - offset else {
            fail()
            return []
        }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func fail() {
        hasFailed = true
        offset = bytes.count
    }
}
