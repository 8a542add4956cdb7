internal import CTraceFormat
internal import TraceFile
internal import TraceSystem

/// Looks from outside at threads that have made no call for long: when their process is killed, nobody else can tell for how long
/// they had no CPU.
struct SleepingThreads {
    /// The time between two looks, and the part of the time that looking may take. ns.
    private static let interval: UInt64 = 1_000_000_000, patience: UInt64 = 500
    /// A thread that has looked at its own processor time since is not looked at. ns.
    private static let recent: UInt64 = 200_000_000, slack: UInt64 = 10_000_000

    private var next: UInt64 = 0

    /// Notes, in the chunks of threads that sleep, for how long they have done so, unless it was done a moment ago.
    mutating func look(at buffers: SharedBuffers, _ clock: SessionClock) {
        let begin = SystemClock.monotonic
        guard begin >= next, UInt32(buffers.header.pointee.tells) & FATHOM_TELLS_AWAY != 0 else { return }
        for slot in buffers.slots(in: FATHOM_SLOT_OWNED) where UInt32(slot.header.kind) == FATHOM_CHUNK_RECORDS {
            if let time = Self.away(slot.header, at: SystemClock.monotonic, clock) {
                buffers.note(away: time, in: slot)
            }
        }
        let end = SystemClock.monotonic
        next = end + max(Self.interval, (end - begin) * Self.patience)
    }

    private static func away(_ chunk: fathom_chunk, at moment: UInt64, _ clock: SessionClock) -> UInt64? {
        var (chunk, before) = (chunk, UInt64(0))
        let ticks = fathom_chunk_last_look(&chunk, &before), now = clock.now
        guard chunk.magic == FATHOM_CHUNK_MAGIC, chunk.end_ticks == 0, ticks > 0, now > ticks else { return nil }
        let passed = clock.nanoseconds(ticks: now - ticks)
        // The thread may have looked right before its chunk began. An emulated processor counts differently.
        guard passed > recent, moment &+ slack > chunk.begin_ns, passed <= moment + slack - chunk.begin_ns else {
            return nil
        }
        let directory = "/proc/\(chunk.pid)/task/\(chunk.tid)/"
        // In another namespace of processes, its number is another thread's.
        let name = withUnsafeBytes(of: chunk.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let status = SystemFile.firstLine(of: directory + "stat")
        guard let close = status.lastIndex(of: ")"), status[..<close].hasSuffix("(" + name),
            ["S", "D"].contains(status[close...].dropFirst(2).first),
            let total = UInt64(SystemFile.firstLine(of: directory + "schedstat").prefix { $0 != " " }),
            total >= before, passed > total - before
        else { return nil }
        return passed - (total - before)
    }
}
