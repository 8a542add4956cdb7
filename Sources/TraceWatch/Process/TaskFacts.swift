internal import Glibc
internal import TraceFile
internal import TraceSystem

/// What the kernel tells of a process or of one of its threads.
package struct TaskFacts: Sendable {
    /// As in ps(1): R runs, S sleeps, D waits for a device, T is stopped, t is stopped by a debugger, Z has ended.
    package var state: Character
    package var name: String
    /// Processor time in ns, in steps of a clock tick.
    package var processorTime: UInt64
    package var threadCount: Int
    /// Whether it is about to end: it has let go of its memory, or will soon.
    package var isEnding: Bool

    /// A process, or a thread of it; nil when it is not there, or not to be seen.
    package init?(_ pid: Int32, thread: Int32? = nil) {
        let path = thread.map { "/proc/\(pid)/task/\($0)/stat" } ?? "/proc/\(pid)/stat"
        // The line is: pid (name) state ... The name can hold anything, so the last parenthesis counts.
        let line = SystemFile.firstLine(of: path)
        guard let open = line.firstIndex(of: "("), let close = line.lastIndex(of: ")"), open < close else { return nil }
        let fields = line[line.index(after: close)...].split(separator: " ")
        guard fields.count > 17, let state = fields[0].first else { return nil }
        self.state = state
        name = String(line[line.index(after: open)..<close])
        let ticks = (UInt64(fields[11]) ?? 0) + (UInt64(fields[12]) ?? 0)
        processorTime = ticks * (1_000_000_000 / UInt64(max(sysconf(Int32(_SC_CLK_TCK)), 1)))
        threadCount = Int(fields[17]) ?? 0
        isEnding = (UInt64(fields[6]) ?? 0) & TaskFacts.exiting != 0
    }

    /// The processor time that a thread has used, in ns: up to the last tick of the kernel's scheduler where the kernel tells
    /// it (`schedstat`), and in steps of a clock tick elsewhere. Nil when it is not there.
    static func processorTime(_ pid: Int32, thread: Int32) -> UInt64? {
        let first = SystemFile.firstLine(of: "/proc/\(pid)/task/\(thread)/schedstat").prefix { $0 != " " }
        return UInt64(first) ?? TaskFacts(pid, thread: thread)?.processorTime
    }

    /// PF_EXITING of the kernel's include/linux/sched.h, among the flags that proc(5) shows.
    private static let exiting: UInt64 = 4

    package var isStopped: Bool { state == "T" || state == "t" }
    package var hasEnded: Bool { state == "Z" || state == "X" }

    /// The ids of a process's threads.
    package static func threads(of pid: Int32) -> [Int32] {
        (Directory.names(in: "/proc/\(pid)/task") ?? []).compactMap { Int32($0) }.sorted()
    }

    /// Resident memory in bytes.
    static func memory(of pid: Int32) -> UInt64 {
        let fields = SystemFile.firstLine(of: "/proc/\(pid)/statm").split(separator: " ")
        return (fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 1))
    }
}
