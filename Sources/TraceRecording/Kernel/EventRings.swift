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
        /// What the kernel calls the second event, such as that of page faults that read.
        var otherID: UInt64 = 0
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
    convenience init(_ kind: KernelEvents, isAlone: Bool) throws(EventRefusal) {
        let processors = Self.processors
        let waking = try kind == .wakings ? Tracepoint.waking() : nil
        let sizes = Self.sizes(kind, processors: processors, isAlone: isAlone)
        func open(inKernel: Bool) throws(EventRefusal) -> (rings: [Ring], size: Int) {
            switch kind {
            case .switches: try Self.open(sizes, processors, fathom_open_switches)
            case .wakings: try Self.open(sizes, processors, { fathom_open_wakings($0, waking?.id ?? 0, $1) })
            case .faults:
                try Self.open(
                    sizes, processors, { fathom_open_faults($0, 0, inKernel ? 1 : 0, $1) },
                    { fathom_open_faults($0, 1, inKernel ? 1 : 0, $1) })
            }
        }
        let wokenAt = waking?.threadAt ?? 0
        // A user who may not be told of the kernel may be told of the program alone.
        if kind == .faults, let opened = try? open(inKernel: true) {
            self.init(opened, wokenAt: wokenAt, seesSystemCalls: true)
        } else {
            self.init(try open(inKernel: false), wokenAt: wokenAt, seesSystemCalls: false)
        }
    }

    /// The rings of what tracepoints tell of system calls.
    ///
    /// - Throws: ``EventRefusal``.
    convenience init(of systemCalls: (enter: Tracepoint, leave: Tracepoint)) throws(EventRefusal) {
        let processors = Self.processors
        let sizes = [8192, 4096, 2048, 1024, 512, 256].map { $0 << 10 }
        let opened = try Self.open(
            sizes.filter { $0 == sizes.last || $0 * processors <= 64 << 20 }, processors,
            { fathom_open_system_calls($0, systemCalls.enter.id, $1) },
            { fathom_open_system_calls($0, systemCalls.leave.id, $1) })
        self.init(opened, wokenAt: 0, seesSystemCalls: true, room: 0)
    }

    private init(
        _ opened: (rings: [Ring], size: Int), wokenAt: UInt32, seesSystemCalls: Bool, room: Int = EventRings.room
    ) {
        (rings, size, self.wokenAt, self.seesSystemCalls) = (opened.rings, opened.size, wokenAt, seesSystemCalls)
        records = .allocate(capacity: room)
    }

    private static var processors: Int { Int(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF))) }

    /// Opens rings of the first of several sizes that there is memory for.
    private static func open(
        _ sizes: [Int], _ processors: Int, _ first: (Int32, UInt32) -> Int32,
        _ second: ((Int32, UInt32) -> Int32)? = nil
    ) throws(EventRefusal) -> (rings: [Ring], size: Int) {
        var problem: Int32 = 0
        for size in sizes {
            do throws(EventRefusal) { return (try open(size, processors, first, second), size) } catch {
                // Too little memory is a reason to ask for less.
                guard error.isOfMemory else { throw error }
                problem = error.reason
            }
        }
        throw EventRefusal(reason: problem, isOfMemory: true)
    }

    /// - Parameters:
    ///   - first: opens the event that has the ring of a CPU; it is told the CPU and the bytes after which it wakes who waits.
    ///   - second: opens another that writes into the same ring.
    private static func open(
        _ size: Int, _ processors: Int, _ first: (Int32, UInt32) -> Int32, _ second: ((Int32, UInt32) -> Int32)?
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
            let first = first(cpu, wakeup)
            if first < 0 {
                if errno == ENODEV { continue }  // the CPU is not there at the moment
                try give([], isOfMemory: false)
            }
            guard let memory = fathom_map_ring(first, size) else { try give([first], isOfMemory: true) }
            var ring = Ring(descriptors: [first], memory: memory)
            if let second {
                let other = second(cpu, wakeup)
                if other >= 0 { ring.descriptors.append(other) }
                guard other >= 0, fathom_share_ring(other, first) == 0 else {
                    let reason = errno
                    fathom_unmap_ring(memory, size)
                    errno = reason
                    try give(ring.descriptors, isOfMemory: false)
                }
                ring.otherID = fathom_event_id(other)
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
                // An event that writes into it has lost it if nobody had it mapped for a moment.
                for other in rings[index].descriptors.dropFirst() {
                    _ = fathom_share_ring(other, rings[index].descriptors[0])
                }
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
                    fathom_take_events(ring.memory, size, ring.otherID, wokenAt, records, UInt32(Self.room), &lost))
                if count > 0 || lost > 0 { pass(UnsafeBufferPointer(start: records, count: count), lost) }
                if count < Self.room { break }
            }
        }
    }

    /// Passes on all events of system calls that are there, and how many the kernel had no room for.
    func take(
        _ systemCalls: (enter: Tracepoint, leave: Tracepoint),
        _ pass: (UnsafeBufferPointer<fathom_system_call_event>, _ lost: UInt64) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: fathom_system_call_event.self, capacity: Self.room) { records in
            for ring in rings {
                while true {
                    var lost: UInt64 = 0
                    let count = Int(
                        fathom_take_system_calls(
                            ring.memory, size, systemCalls.enter.id, systemCalls.leave.id, records.baseAddress!,
                            UInt32(records.count), &lost))
                    if count > 0 || lost > 0 { pass(UnsafeBufferPointer(rebasing: records[..<count]), lost) }
                    // One place is kept free for what says that events were lost.
                    if count + 1 < records.count { break }
                }
            }
        }
    }

    func close() {
        for ring in rings { Self.close(ring, size) }
        rings = []
        records.deallocate()
    }
}
