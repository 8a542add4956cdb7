/// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) over 64-bit words. An incomplete last word counts as zero-extended.
package struct KeptChecksum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Adds `bytes`. Their size is a multiple of 8, except at the last addition.
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

    static func sum(of bytes: [UInt8]) -> UInt64 {
        var sum = KeptChecksum()
        bytes.withUnsafeBytes { sum.add($0) }
        return sum.value
    }

    /// Bytes behind their checksum.
    package static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: sum(of: bytes)) { Array($0) } + bytes
    }

    /// What ``sealed(_:)`` was given; nil where it is not as it was.
    package static func opened(_ sealed: [UInt8]) -> [UInt8]? {
        let size = MemoryLayout<UInt64>.size, bytes = Array(sealed.dropFirst(size))
        return withUnsafeBytes(of: sum(of: bytes)) { $0.elementsEqual(sealed.prefix(size)) } ? bytes : nil
    }
}
