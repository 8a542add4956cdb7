internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// The kernel's rings of what programs do that this thread starts from now on: their images, what they map, and their page
/// faults. There is one a CPU.
final class StartRings {
    private struct Ring {
        /// That of the maps, which has the memory, and the others.
        var descriptors: [Int32]
        var memory: UnsafeMutableRawPointer
        var majorID: UInt64
        var mainID: UInt64 = 0
    }

    private let rings: [Ring]
    private let size: Int
    private let bytes: UnsafeMutableRawBufferPointer

    /// Sizes of a ring, in bytes: 128 KiB hold 2000 page faults, and a quarter of them wakes the recorder. What a user may have of
    /// such memory is shared with the rings of switches.
    private static let sizes = [128, 64, 32].map { $0 << 10 }
    private static let room = 256 << 10

    /// - Parameter main: the address of main in a program whose addresses are fixed.
    /// - Throws: ``EventRefusal``.
    init(main: UInt64?) throws(EventRefusal) {
        var problem: Int32 = 0
        for size in Self.sizes {
            do throws(EventRefusal) {
                rings = try Self.open(size, main)
                self.size = size
                bytes = .allocate(byteCount: Self.room, alignment: 8)
                return
            } catch {
                problem = error.reason
                guard error.isOfMemory else { throw error }
            }
        }
        throw EventRefusal(reason: problem, isOfMemory: true)
    }

    private static func open(_ size: Int, _ main: UInt64?) throws(EventRefusal) -> [Ring] {
        var rings: [Ring] = []
        for cpu in 0..<Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF))) {
            var ring = Ring(descriptors: [], memory: UnsafeMutableRawPointer(bitPattern: 1)!, majorID: 0)
            func give(isOfMemory: Bool) throws(EventRefusal) -> Never {
                let refusal = EventRefusal(reason: errno, isOfMemory: isOfMemory)
                ring.descriptors.forEach { Glibc.close($0) }
                rings.forEach { close($0, size) }
                throw refusal
            }
            let kinds = [FATHOM_START_MAPS, FATHOM_START_MINOR, FATHOM_START_MAJOR]
            for kind in kinds + (main == nil ? [] : [FATHOM_START_MAIN]) {
                let descriptor = fathom_open_start(cpu, kind, main ?? 0, UInt32(size / 4))
                // The machine may have no room for a breakpoint.
                if descriptor < 0, kind == FATHOM_START_MAIN { break }
                if descriptor < 0, errno == ENODEV { break }  // the CPU is not there at the moment
                if descriptor < 0 { try give(isOfMemory: false) }
                ring.descriptors.append(descriptor)
                if kind == FATHOM_START_MAPS {
                    guard let memory = fathom_map_ring(descriptor, size) else { try give(isOfMemory: true) }
                    ring.memory = memory
                } else if fathom_share_ring(descriptor, ring.descriptors[0]) != 0 {
                    fathom_unmap_ring(ring.memory, size)
                    try give(isOfMemory: false)
                }
                if kind == FATHOM_START_MAIN { ring.mainID = fathom_event_id(descriptor) }
                if kind == FATHOM_START_MAJOR { ring.majorID = fathom_event_id(descriptor) }
            }
            if !ring.descriptors.isEmpty { rings.append(ring) }
        }
        return rings
    }

    private static func close(_ ring: Ring, _ size: Int) {
        fathom_unmap_ring(ring.memory, size)
        ring.descriptors.forEach { Glibc.close($0) }
    }

    /// Waits until a ring is a quarter full, or something else was told by `wake`.
    func wait(milliseconds: Int32, wake: Int32) {
        var descriptors = rings.map { pollfd(fd: $0.descriptors[0], events: Int16(POLLIN), revents: 0) }
        descriptors = descriptors.filter { !hungUp.contains($0.fd) }
        descriptors.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return }
        for descriptor in descriptors where descriptor.revents & Int16(POLLHUP) != 0 { hungUp.insert(descriptor.fd) }
    }

    private var hungUp: Set<Int32> = []

    /// Passes on all events of `pid` that are there, and how many the kernel had no room for.
    func take(of pid: UInt32, _ pass: (UnsafeRawBufferPointer, _ lost: UInt64) -> Void) {
        for ring in rings {
            while true {
                var lost: UInt64 = 0
                let used = fathom_take_start(
                    ring.memory, size, pid, ring.majorID, ring.mainID, bytes.baseAddress, bytes.count, &lost)
                if used > 0 || lost > 0 { pass(UnsafeRawBufferPointer(rebasing: bytes[..<used]), lost) }
                if used < bytes.count / 2 { break }
            }
        }
    }

    func close() {
        for ring in rings { Self.close(ring, size) }
        bytes.deallocate()
    }
}
