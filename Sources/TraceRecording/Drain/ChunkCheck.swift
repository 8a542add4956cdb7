internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Finds out whether the program has left chunks as the runtime wrote them, as far as that can be seen. Any program may write
/// over the buffers.
struct ChunkCheck {
    private let slotSize: UInt32
    private let clock: SessionClock
    /// Whether a process's counter differs from ours, by the process's index, as its first chunk showed.
    private var countsOtherwise: [UInt32: Bool] = [:]

    init(slotSize: UInt32, clock: SessionClock) {
        self.slotSize = slotSize
        self.clock = clock
    }

    /// - Parameter pid: the id that the chunk's process has, if that is known.
    mutating func isSound(_ slot: SharedBuffers.Slot, pid: UInt32?) -> Bool {
        var header = slot.header
        guard slot.owner == header.process & UInt32.max >> 2, pid == nil || pid == header.pid else { return false }
        // Then it says how long the thread slept.
        if header.end_ticks == 0, header.end_ns > SystemClock.monotonic { return false }
        // Processors' counters may differ a little. Random bytes differ by more.
        let (slack, now) = (3600 * clock.ticksPerSecond, clock.now)
        let first = clock.start.ticks > slack ? clock.start.ticks - slack : 0
        // An emulated processor counts differently, in all chunks of its process.
        if isSound(&header, from: first, to: now + slack) {
            countsOtherwise[header.process] = countsOtherwise[header.process] ?? false
            return true
        }
        let hour: UInt64 = 3600 * 1_000_000_000
        let elapsed = SystemClock.monotonic &- header.begin_ns &+ hour
        guard elapsed < SystemClock.monotonic &- clock.start.nanoseconds &+ 2 * hour,
            countsOtherwise[header.process] != false, isSound(&header, from: 0, to: .max)
        else { return false }
        countsOtherwise[header.process] = true
        return true
    }

    private func isSound(_ header: inout fathom_chunk, from first: UInt64, to last: UInt64) -> Bool {
        fathom_chunk_is_sound(&header, header.used, slotSize, first, last) != 0
    }
}
