/// Takes values off the front of bytes that may hold anything.
public struct KeptReader {
    private let bytes: UnsafeRawBufferPointer
    public private(set) var offset: Int
    /// Whether more was taken than there is, or something that is no number. From then on all that is taken is 0.
    public private(set) var hasFailed = false

    public init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    public var isAtEnd: Bool { !hasFailed && offset == bytes.count }

    @inline(__always)
    public mutating func take() -> UInt64 {
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
    public mutating func take(below limit: Int) -> Int {
        let value = take()
        if value < UInt64(limit) { return Int(value) }
        fail()
        return 0
    }

    /// A count of things that take at least one byte each, so that no more than the rest of the bytes is believed.
    public mutating func takeCount() -> Int { take(below: bytes.count - offset + 1) }

    public mutating func takeBytes() -> [UInt8] {
        let count = takeCount()
        guard !hasFailed, count <= bytes.count - offset else {
            fail()
            return []
        }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    public mutating func fail() {
        hasFailed = true
        offset = bytes.count
    }
}
