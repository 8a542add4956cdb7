internal import Glibc

/// Reads the memory of another process, which goes on meanwhile.
final class ProcessMemory {
    private let descriptor: Int32

    /// Nil when we may not.
    init?(_ pid: Int32) {
        descriptor = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// A value at an address; nil when nothing is there.
    func load<Value: BitwiseCopyable>(_ address: UInt64, as type: Value.Type = Value.self) -> Value? {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
            let size = MemoryLayout<Value>.size
            guard address < UInt64(Int64.max), pread(descriptor, buffer.baseAddress, size, off_t(address)) == size
            else { return nil }
            return buffer[0]
        }
    }
}
