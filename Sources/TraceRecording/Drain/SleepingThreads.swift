internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Looks from outside at threads that have made no call for long: when their process is killed, nobody else can tell for how long
/// they had no CPU.
struct SleepingThreads {
    /// The time between two looks, and the part of the time that looking may take. ns.
    private static let interval: UInt64 = 100_000_000, patience: UInt64 = 500
    /// A thread that has looked at its own processor time since is not looked at. ns.
    private static let recent: UInt64 = 50_000_000, slack: UInt64 = 10_000_000

    private var next: UInt64 = 0
    /// When threads of a process were looked at last, in ticks, and the process's processor time right before, in ns.
    private var looks: [UInt32: (ticks: UInt64, processor: UInt64)] = [:]

    /// Notes, in the chunks of threads that sleep, for how long they have done so, unless it was done a moment ago.
    mutating func look(at buffers: SharedBuffers, _ clock: SessionClock) {
        let begin = SystemClock.monotonic
        guard begin >= next, UInt32(buffers.header.pointee.tells) & FATHOM_TELLS_AWAY != 0 else { return }
        looks = [:]
        for slot in buffers.slots(in: FATHOM_SLOT_OWNED) where UInt32(slot.header.kind) == FATHOM_CHUNK_RECORDS {
            let pid = slot.header.pid
            let processor = looks[pid]?.processor ?? Self.processorTime(of: pid)
            guard let time = Self.away(slot.header, at: SystemClock.monotonic, clock) else { continue }
            buffers.note(away: time, in: slot)
            if let processor { looks[pid] = (clock.now, processor) }
        }
        let end = SystemClock.monotonic
        next = end + max(Self.interval, (end - begin) * Self.patience)
    }

    /// Takes it that threads which slept when they were looked at did so to their process's end, but for what the process ran since.
    ///
    /// - Parameters:
    ///   - ticks: when the process ended.
    ///   - processor: the processor time that it took in all, or more, in ns.
    func end(of pid: Int32, at ticks: UInt64, processor: UInt64, in buffers: SharedBuffers, _ clock: SessionClock) {
        // What the kernel says of a process that has ended is cut off to two whole microseconds.
        guard let look = looks[UInt32(pid)], ticks > look.ticks, processor + 2000 >= look.processor else { return }
        let (passed, ran) = (clock.nanoseconds(ticks: ticks - look.ticks), processor + 2000 - look.processor)
        guard passed > ran else { return }
        for slot in buffers.slots(in: FATHOM_SLOT_OWNED) where slot.header.pid == UInt32(pid) {
            guard UInt32(slot.header.kind) == FATHOM_CHUNK_RECORDS, slot.header.end_ticks == 0, slot.header.end_ns > 0
            else { continue }
            buffers.note(away: slot.header.end_ns + passed - ran, in: slot)
        }
    }

    private static func processorTime(of pid: UInt32) -> UInt64? {
        var (number, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(pid_t(bitPattern: pid), &number) == 0, clock_gettime(number, &time) == 0 else {
            return nil
        }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
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
