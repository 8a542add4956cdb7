/// Takes numbers, as `append(leb128:)` writes them, off the front of bytes that may hold anything.
public struct LEB128Reader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var place: Int
    public var offset: Int { place }
    /// Whether more was taken than there is, or something that is no number. From then on all that is taken is 0.
    public private(set) var hasFailed = false

    public init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        place = offset
    }

    public var isAtEnd: Bool { !hasFailed && place == bytes.count }

    @inlinable @inline(__always)
    public mutating func take() -> UInt64 {
        if place < bytes.count, bytes[place] < 128 {
            defer { place += 1 }
            return UInt64(bytes[place])
        }
        return takeLong()
    }

    @usableFromInline @inline(never)
    mutating func takeLong() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while place < bytes.count, shift < 64 {
            let byte = UInt64(bytes[place])
            place += 1
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
    public mutating func takeCount() -> Int { take(below: bytes.count - place + 1) }

    /// A number of either sign in zigzag.
    public mutating func takeZigzag() -> Int64 {
        let number = take()
        return Int64(bitPattern: number >> 1) ^ -Int64(number & 1)
    }

    /// Bytes, behind their number.
    public mutating func takeBytes() -> [UInt8] { Array(take(takeCount())) }

    /// That many bytes as they are.
    public mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        guard !hasFailed, count <= bytes.count - place else {
            fail()
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { place += count }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
    }

    public mutating func fail() {
        hasFailed = true
        place = bytes.count
    }
}
