internal import Glibc

/// The memory of another process, which goes on meanwhile.
package final class ProcessMemory {
    /// The open file `/proc/PID/mem`.
    package let descriptor: Int32

    /// Nil, and errno, when we may not.
    ///
    /// - Parameter writes: it is to be written, too, wherever it is mapped, whatever rights its pages have.
    package init?(_ pid: Int32, writes: Bool = false) {
        descriptor = open("/proc/\(pid)/mem", (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Reads a value at an address; nil when nothing is there.
    package func load<Value: BitwiseCopyable>(_ address: UInt64, as type: Value.Type = Value.self) -> Value? {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
            let size = MemoryLayout<Value>.size
            guard address < UInt64(Int64.max), pread(descriptor, buffer.baseAddress, size, off_t(address)) == size
            else { return nil }
            return buffer[0]
        }
    }
}
