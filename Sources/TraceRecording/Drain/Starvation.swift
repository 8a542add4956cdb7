internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Whether the calling thread gets the processor time that it wants, by what the kernel tells of its waiting for a
/// processor.
struct Starvation {
    private let descriptor: Int32
    private var waited: UInt64 = 0
    private var looked: UInt64
    private var end: UInt64 = 0

    /// The time between two looks, the part of that which may be waiting, and how long waiting is remembered.
    /// Nanoseconds.
    private static let interval: UInt64 = 1_000_000, patience: UInt64 = 4, memory: UInt64 = 50_000_000

    /// For the thread that calls this. Without /proc it never starves.
    init() {
        descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        looked = SystemClock.monotonic
        waited = timeWaited() ?? 0
    }

    func close() { if descriptor >= 0 { _ = Glibc.close(descriptor) } }

    /// Whether the thread lately waited for more than a quarter of some time.
    mutating func isFound() -> Bool {
        let now = SystemClock.monotonic
        guard now - looked >= Self.interval else { return now < end }
        if let time = timeWaited() {
            if (time &- waited) * Self.patience > now - looked { end = now + Self.memory }
            waited = time
        }
        looked = now
        return now < end
    }

    /// How long the thread has waited for a processor until now, in nanoseconds: the second number of Linux's
    /// Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat.
    func timeWaited() -> UInt64? {
        guard descriptor >= 0 else { return nil }
        var bytes: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &bytes) { bytes in
            let size = pread(descriptor, bytes.baseAddress, bytes.count, 0)
            guard size > 0, var index = bytes[..<size].firstIndex(of: UInt8(ascii: " ")) else { return nil }
            var number: UInt64 = 0
            while index + 1 < size, case let digit = bytes[index + 1] &- UInt8(ascii: "0"), digit < 10 {
                number = number &* 10 &+ UInt64(digit)
                index += 1
            }
            return number
        }
    }
}
