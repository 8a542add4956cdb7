internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// The kernel's rings of context switches, one a CPU, of the programs that this thread starts from now on.
final class SwitchRings {
    private struct Ring {
        let descriptor: Int32
        var memory: UnsafeMutableRawPointer
    }

    private var rings: [Ring] = []
    private let size: Int
    private let records: UnsafeMutablePointer<fathom_switch>

    /// Sizes of a ring, in bytes. An unprivileged user may have 512 KiB for each CPU (kernel.perf_event_mlock_kb), which holds
    /// 16384 switches.
    private static let sizes = [512, 256, 128, 64, 32].map { $0 << 10 }
    private static let room = 8192

    /// - Throws: ``SwitchRefusal``.
    init() throws(SwitchRefusal) {
        var problem: Int32 = 0
        for size in Self.sizes {
            do throws(SwitchRefusal) {
                rings = try Self.open(size)
                self.size = size
                records = .allocate(capacity: Self.room)
                return
            } catch {
                // Only too little memory is a reason to ask for less.
                problem = error.reason
                guard error.isOfMemory else { throw error }
            }
        }
        throw SwitchRefusal(reason: problem, isOfMemory: true)
    }

    private static func open(_ size: Int) throws(SwitchRefusal) -> [Ring] {
        var rings: [Ring] = []
        func give(_ refusal: SwitchRefusal) throws(SwitchRefusal) -> Never {
            rings.forEach { close($0, size) }
            throw refusal
        }
        for cpu in 0..<Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF))) {
            let descriptor = fathom_open_switches(cpu, UInt32(size / 4))
            if descriptor < 0 {
                if errno == ENODEV { continue }  // the CPU is not there at the moment
                try give(SwitchRefusal(reason: errno, isOfMemory: false))
            }
            guard let memory = fathom_map_switches(descriptor, size) else {
                let reason = errno
                Glibc.close(descriptor)
                try give(SwitchRefusal(reason: reason, isOfMemory: true))
            }
            rings.append(Ring(descriptor: descriptor, memory: memory))
        }
        return rings
    }

    private static func close(_ ring: Ring, _ size: Int) {
        fathom_unmap_switches(ring.memory, size)
        Glibc.close(ring.descriptor)
    }

    /// Maps the rings again, in a child of the process that opened them: it has the descriptors, but not their memory.
    ///
    /// - Returns: whether it has all rings.
    func mapAgain() -> Bool {
        var hasAll = true
        for index in rings.indices {
            if let memory = fathom_map_switches(rings[index].descriptor, size) {
                rings[index].memory = memory
            } else {
                hasAll = false
            }
        }
        return hasAll
    }

    /// Waits until a ring is a quarter full, or something else was told by `wake`.
    func wait(milliseconds: Int32, wake: Int32) {
        var descriptors = rings.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        // A ring whose programs have all ended is always ready, and has nothing to tell.
        descriptors = descriptors.filter { !hungUp.contains($0.fd) }
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return }
        for descriptor in descriptors where descriptor.revents & Int16(POLLHUP) != 0 { hungUp.insert(descriptor.fd) }
    }

    private var hungUp: Set<Int32> = []

    /// Passes on all switches that are there, and how many the kernel had no room for.
    func take(_ pass: (UnsafeBufferPointer<fathom_switch>, _ lost: UInt64) -> Void) {
        for ring in rings {
            while true {
                var lost: UInt64 = 0
                let count = Int(fathom_take_switches(ring.memory, size, records, UInt32(Self.room), &lost))
                if count > 0 || lost > 0 { pass(UnsafeBufferPointer(start: records, count: count), lost) }
                if count < Self.room { break }
            }
        }
    }

    func close() {
        for ring in rings { Self.close(ring, size) }
        rings = []
        records.deallocate()
    }
}
