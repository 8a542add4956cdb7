internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// The kernel's rings of what happens to threads, one a CPU: of the programs that this thread starts from now on, or, of wakings,
/// of all threads of the machine.
final class EventRings {
    private struct Ring {
        /// That which has the memory, and those that write into it as well.
        var descriptors: [Int32]
        var memory: UnsafeMutableRawPointer
        /// What the kernel calls the event of page faults that read.
        var majorID: UInt64 = 0
    }

    private var rings: [Ring] = []
    private let size: Int
    /// Where a record of a waking has the woken thread's id; 0 in rings of other events.
    private let wokenAt: UInt32
    private let records: UnsafeMutablePointer<fathom_event>
    /// Whether they tell of what happens while the kernel works for a thread, too.
    let seesSystemCalls: Bool

    private static let room = 8192

    /// Sizes of a ring, in bytes, the first one that can be had. An unprivileged user may have 512 KiB for each CPU
    /// (kernel.perf_event_mlock_kb), which holds 16384 switches, or as many page faults; with `--blocked` and `--faults`, rings
    /// of both have to fit. What is beyond it counts as locked memory (ulimit -l), which root and some users may have. Page faults
    /// may come by the hundred thousand in the time between two looks.
    private static func sizes(_ kind: KernelEvents, processors: Int, isAlone: Bool) -> [Int] {
        let sizes = [4096, 2048, 1024, 512, 256, 128, 64, 32].map { $0 << 10 }
        switch kind {
        case .switches: return sizes.filter { $0 <= (isAlone ? 512 : 256) << 10 }
        case .wakings: return sizes.filter { $0 <= 1 << 20 }
        case .faults: return sizes.filter { $0 <= 512 << 10 || $0 * processors <= 64 << 20 }
        }
    }

    /// - Parameter isAlone: whether no other such rings are there, or will be.
    /// - Throws: ``EventRefusal``.
    init(_ kind: KernelEvents, isAlone: Bool) throws(EventRefusal) {
        let processors = Int(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF)))
        let waking = try kind == .wakings ? Tracepoint.waking() : nil
        wokenAt = waking?.wokenAt ?? 0
        var problem: Int32 = 0
        // A user who may not be told of the kernel may be told of the program alone.
        for inKernel in kind == .faults ? [true, false] : [false] {
            for size in Self.sizes(kind, processors: processors, isAlone: isAlone) {
                do throws(EventRefusal) {
                    rings = try Self.open(kind, size, processors, inKernel: inKernel, waking: waking)
                    self.size = size
                    seesSystemCalls = inKernel
                    records = .allocate(capacity: Self.room)
                    return
                } catch {
                    problem = error.reason
                    if error.isOfMemory { continue }  // too little memory is a reason to ask for less
                    if inKernel { break }
                    throw error
                }
            }
        }
        throw EventRefusal(reason: problem, isOfMemory: true)
    }

    private static func open(
        _ kind: KernelEvents, _ size: Int, _ processors: Int, inKernel: Bool, waking: Tracepoint?
    ) throws(EventRefusal) -> [Ring] {
        var rings: [Ring] = []
        func give(_ descriptors: [Int32], isOfMemory: Bool) throws(EventRefusal) -> Never {
            let refusal = EventRefusal(reason: errno, isOfMemory: isOfMemory)
            descriptors.forEach { Glibc.close($0) }
            rings.forEach { close($0, size) }
            throw refusal
        }
        for cpu in 0..<Int32(processors) {
            let wakeup = UInt32(size / 4)
            let first =
                switch kind {
                case .switches: fathom_open_switches(cpu, wakeup)
                case .wakings: fathom_open_wakings(cpu, waking?.id ?? 0, wakeup)
                case .faults: fathom_open_faults(cpu, 0, inKernel ? 1 : 0, wakeup)
                }
            if first < 0 {
                if errno == ENODEV { continue }  // the CPU is not there at the moment
                try give([], isOfMemory: false)
            }
            guard let memory = fathom_map_ring(first, size) else { try give([first], isOfMemory: true) }
            var ring = Ring(descriptors: [first], memory: memory)
            if kind == .faults {
                let major = fathom_open_faults(cpu, 1, inKernel ? 1 : 0, wakeup)
                if major >= 0 { ring.descriptors.append(major) }
                guard major >= 0, fathom_share_ring(major, first) == 0 else {
                    let reason = errno
                    fathom_unmap_ring(memory, size)
                    errno = reason
                    try give(ring.descriptors, isOfMemory: false)
                }
                ring.majorID = fathom_event_id(major)
            }
            rings.append(ring)
        }
        return rings
    }

    private static func close(_ ring: Ring, _ size: Int) {
        fathom_unmap_ring(ring.memory, size)
        ring.descriptors.forEach { Glibc.close($0) }
    }

    /// Maps the rings again, in a child of the process that opened them: it has the descriptors, but not their memory.
    ///
    /// - Returns: whether it has all rings.
    func mapAgain() -> Bool {
        var hasAll = true
        for index in rings.indices {
            if let memory = fathom_map_ring(rings[index].descriptors[0], size) {
                rings[index].memory = memory
            } else {
                hasAll = false
            }
        }
        return hasAll
    }

    /// Waits until a ring is a quarter full, or something else was told by `wake`.
    func wait(milliseconds: Int32, wake: Int32) {
        var descriptors = rings.map { pollfd(fd: $0.descriptors[0], events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        // A ring whose programs have all ended is always ready, and has nothing to tell.
        descriptors = descriptors.filter { !hungUp.contains($0.fd) }
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return }
        for descriptor in descriptors where descriptor.revents & Int16(POLLHUP) != 0 { hungUp.insert(descriptor.fd) }
    }

    private var hungUp: Set<Int32> = []

    /// Passes on all events that are there, and how many the kernel had no room for.
    func take(_ pass: (UnsafeBufferPointer<fathom_event>, _ lost: UInt64) -> Void) {
        for ring in rings {
            while true {
                var lost: UInt64 = 0
                let count = Int(
                    fathom_take_events(ring.memory, size, ring.majorID, wokenAt, records, UInt32(Self.room), &lost))
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
