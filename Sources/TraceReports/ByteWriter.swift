internal import Glibc

/// Collects output as bytes and hands it on in large pieces. No String is made on the way.
public final class ByteWriter {
    /// Takes bytes; false when no more will be taken.
    public typealias Flush = (UnsafeRawBufferPointer) -> Bool

    private let buffer: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var count = 0
    private let take: Flush
    /// Nobody takes the output any more, for instance because a pager was left.
    public private(set) var isClosed = false

    /// - Parameter capacity: bytes kept before they are handed on.
    public init(capacity: Int = 1 << 16, flush: @escaping Flush) {
        self.capacity = max(capacity, 64)
        buffer = .allocate(capacity: self.capacity)
        take = flush
    }

    deinit { buffer.deallocate() }

    public func flush() {
        if count > 0, !isClosed, !take(UnsafeRawBufferPointer(start: buffer, count: count)) { isClosed = true }
        count = 0
    }

    /// Makes room for `size` bytes, at most 64.
    @inline(__always)
    private func reserve(_ size: Int) {
        if capacity - count < size { flush() }
    }

    public func write(byte: UInt8) {
        reserve(1)
        buffer[count] = byte
        count += 1
    }

    public func write(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        if bytes.count > capacity - count { flush() }
        if bytes.count > capacity {
            if !isClosed, !take(bytes) { isClosed = true }
            return
        }
        memcpy(buffer + count, start, bytes.count)
        count += bytes.count
    }

    public func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    public func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    public func write(_ text: StaticString) {
        text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }

    public func write(spaces: Int) {
        for _ in 0..<max(spaces, 0) { write(byte: UInt8(ascii: " ")) }
    }

    /// Writes `number` in decimal, right-aligned in `width`.
    public func write(decimal number: UInt64, width: Int = 0) {
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        write(spaces: width - digits)
        reserve(20)
        var value = number
        for index in stride(from: count + digits - 1, through: count, by: -1) {
            buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
            value /= 10
        }
        count += digits
    }

    /// Writes `number` as 0x and lower-case hexadecimal digits.
    public func write(hexadecimal number: UInt64) {
        write("0x" as StaticString)
        reserve(16)
        let digits = max(1, (64 - number.leadingZeroBitCount + 3) / 4)
        for index in 0..<digits {
            let nibble = UInt8(truncatingIfNeeded: number >> UInt64(4 * (digits - 1 - index))) & 15
            buffer[count + index] = nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        }
        count += digits
    }

    /// Writes `text` as a JSON string, quotes included (RFC 8259, section 7).
    public func write(json text: String) {
        var text = text
        write(byte: UInt8(ascii: "\""))
        text.withUTF8 { bytes in
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    write(byte: UInt8(ascii: "\\"))
                    write(byte: byte)
                case 0x0a: write("\\n" as StaticString)
                case 0x09: write("\\t" as StaticString)
                case 0..<0x20:
                    write(byte < 0x10 ? "\\u000" : "\\u001" as StaticString)
                    write(byte: "0123456789abcdef".utf8.dropFirst(Int(byte & 15)).first!)
                default: write(byte: byte)
                }
            }
        }
        write(byte: UInt8(ascii: "\""))
    }

    /// Writes `text` as a JSON string, or null.
    public func write(json text: String?) {
        if let text { write(json: text) } else { write("null" as StaticString) }
    }
}
