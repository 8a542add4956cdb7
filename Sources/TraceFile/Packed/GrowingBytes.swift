internal import Glibc

/// Memory that grows as something is appended to it.
final class GrowingBytes {
    private var start: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    deinit { free(start) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    func clear() { count = 0 }

    /// Room for `size` bytes behind what there is, of which ``take(_:)`` takes some.
    func room(_ size: Int) -> UnsafeMutableRawPointer {
        if start == nil || count + size > capacity {
            capacity = max(count + size, 2 * capacity, 4096)
            guard let larger = realloc(start, capacity) else { fatalError("out of memory") }
            start = larger
        }
        return start! + count
    }

    func take(_ size: Int) { count += size }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        room(bytes.count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    func append<Value: BitwiseCopyable>(of value: Value) { withUnsafeBytes(of: value) { append($0) } }

    func append(zeros size: Int) {
        memset(room(size), 0, size)
        count += size
    }

    func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
        (start! + offset).storeBytes(of: value, as: Value.self)
    }

    /// Puts `bytes` in the place of what there is.
    func copy(_ bytes: UnsafeRawBufferPointer) {
        clear()
        append(bytes)
    }
}
