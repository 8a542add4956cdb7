internal import Glibc
internal import TraceWatch

/// What the code that changes another process needs besides.
extension ProcessMemory {
    /// `count` values that lie one behind the other; nil when not all of them can be read.
    func array<Value: BitwiseCopyable>(_ address: UInt64, count: Int, of type: Value.Type = Value.self) -> [Value]? {
        guard address < UInt64(Int64.max), count >= 0, count < 1 << 28 else { return nil }
        let size = count * MemoryLayout<Value>.stride
        var isRead = true
        let values = [Value](unsafeUninitializedCapacity: count) { buffer, used in
            isRead = size == 0 || pread(descriptor, buffer.baseAddress, size, off_t(address)) == size
            used = isRead ? count : 0
        }
        return isRead ? values : nil
    }

    /// The words from an address on, up to `most`, as far as there are any.
    func words(from address: UInt64, most: Int) -> [UInt64] {
        guard address < UInt64(Int64.max) else { return [] }
        return [UInt64](unsafeUninitializedCapacity: most) { buffer, used in
            used = max(pread(descriptor, buffer.baseAddress, most * 8, off_t(address)), 0) / 8
        }
    }

    /// A text that ends with 0, up to `most` bytes.
    func text(_ address: UInt64, most: Int = 4096) -> String? {
        guard address < UInt64(Int64.max) else { return nil }
        var bytes = [UInt8](repeating: 0, count: most)
        let size = pread(descriptor, &bytes, most, off_t(address))
        guard size > 0 else { return nil }
        return String(decoding: bytes[..<size].prefix { $0 != 0 }, as: UTF8.self)
    }

    @discardableResult
    func store<Value: BitwiseCopyable>(_ address: UInt64, _ value: Value) -> Bool {
        withUnsafeBytes(of: value) { write($0, at: address) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at address: UInt64) -> Bool {
        guard address < UInt64(Int64.max) else { return false }
        return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(address)) == bytes.count
    }
}
