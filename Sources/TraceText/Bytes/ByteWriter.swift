public import Glibc

/// Collects output as bytes and hands it on in large pieces. No String is made on the way.
///
/// The methods that are called most are inlined into other modules, which takes a tenth off the time to write a tree as
/// JSON.
public final class ByteWriter {
    /// Takes bytes; returns false when it will take no more.
    public typealias Flush = (UnsafeRawBufferPointer) -> Bool

    /// The byte before its first is the last that was handed on, or 0.
    @usableFromInline let buffer: UnsafeMutablePointer<UInt8>
    @usableFromInline let capacity: Int
    /// The number of bytes in `buffer`. It has memory of its own, because the compiler would check accesses to a
    /// class's variable from other modules.
    @usableFromInline let filled: UnsafeMutablePointer<Int>
    private let take: Flush
    /// Whether the reader has gone, for instance because the user left the pager.
    public private(set) var isClosed = false

    /// - Parameter capacity: bytes kept before they are handed on.
    public init(capacity: Int = 1 << 16, flush: @escaping Flush) {
        self.capacity = max(capacity, 64)
        buffer = .allocate(capacity: self.capacity + 1) + 1
        buffer[-1] = 0
        filled = .allocate(capacity: 1)
        filled.initialize(to: 0)
        take = flush
    }

    deinit {
        (buffer - 1).deallocate()
        filled.deallocate()
    }

    public func flush() {
        if filled.pointee > 0 { hand(UnsafeRawBufferPointer(start: buffer, count: filled.pointee)) }
        filled.pointee = 0
    }

    @usableFromInline func hand(_ bytes: UnsafeRawBufferPointer) {
        if !isClosed, !take(bytes) { isClosed = true }
        if let last = bytes.last { buffer[-1] = last }
    }

    /// The byte that was written last; 0 before the first.
    @inlinable @inline(__always)
    var last: UInt8 { buffer[filled.pointee - 1] }

    /// Makes room for `size` bytes, at most 64.
    @inlinable @inline(__always)
    func reserve(_ size: Int) {
        if capacity - filled.pointee < size { flush() }
    }

    @inlinable public func write(byte: UInt8) {
        reserve(1)
        buffer[filled.pointee] = byte
        filled.pointee += 1
    }

    @inlinable public func write(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        if bytes.count > capacity - filled.pointee { flush() }
        if bytes.count > capacity { return hand(bytes) }
        memcpy(buffer + filled.pointee, start, bytes.count)
        filled.pointee += bytes.count
    }

    public func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    @inlinable public func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    @inlinable public func write(_ text: StaticString) {
        text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }

    @inlinable public func write(spaces: Int) {
        for _ in 0..<max(spaces, 0) { write(byte: UInt8(ascii: " ")) }
    }

    /// Writes `number` in decimal, right-aligned in `width`.
    @inlinable public func write(decimal number: UInt64, width: Int = 0) {
        var digits = 1
        var limit: UInt64 = 10
        while number >= limit {
            digits += 1
            let (next, isOver) = limit.multipliedReportingOverflow(by: 10)
            if isOver { break }
            limit = next
        }
        write(spaces: width - digits)
        reserve(20)
        filled.pointee += digits
        var place = buffer + filled.pointee
        var rest = number
        repeat {
            place -= 1
            place.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
    }

    /// Writes `number` as 0x and lower-case hexadecimal digits.
    @inlinable public func write(hexadecimal number: UInt64) {
        reserve(18)
        buffer[filled.pointee] = UInt8(ascii: "0")
        buffer[filled.pointee + 1] = UInt8(ascii: "x")
        filled.pointee += 2 + max(1, (64 - number.leadingZeroBitCount + 3) / 4)
        var place = buffer + filled.pointee
        var rest = number
        repeat {
            place -= 1
            let nibble = UInt8(truncatingIfNeeded: rest) & 15
            place.pointee = nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            rest >>= 4
        } while rest > 0
    }
}
