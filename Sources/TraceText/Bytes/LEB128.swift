/// Numbers of seven bits a byte, the low ones first, where all bytes but the last have their highest bit set: LEB128 (DWARF 5, 7.6),
/// which protobuf, Thrift and Parquet call varints.
extension [UInt8] {
    @inlinable @inline(__always)
    public mutating func append(leb128 number: UInt64) {
        var rest = number
        while rest >= 128 {
            append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number of either sign in zigzag: 0, -1, 1, -2 … become 0, 1, 2, 3 …
    @inlinable public mutating func append(zigzag number: Int64) {
        append(leb128: UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    /// Appends a text, or other bytes, behind their number.
    @inlinable public mutating func append(counted bytes: some Collection<UInt8>) {
        append(leb128: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

extension UInt64 {
    /// How many bytes it takes as LEB128.
    public var leb128Size: Int { Swift.max(1, (bitWidth - leadingZeroBitCount + 6) / 7) }
}
