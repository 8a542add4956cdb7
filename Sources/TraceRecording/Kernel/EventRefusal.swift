internal import Glibc
internal import TraceFile

/// Why the kernel tells nothing of what happens to threads.
struct EventRefusal: Error {
    let reason: Int32
    /// Whether the events could be had, but no memory for what they tell.
    let isOfMemory: Bool

    /// One clause for people.
    var text: String {
        let error = String(cString: strerror(reason))
        if isOfMemory { return "\(error) for the rings of perf_event_open (kernel.perf_event_mlock_kb, ulimit -l)" }
        if reason == EPERM || reason == EACCES || reason == ENOSYS {
            let level = Int(SystemFile.firstLine(of: "/proc/sys/kernel/perf_event_paranoid"))
            if let level, level > 2 {
                return "\(error): perf_event_open is not for this user (kernel.perf_event_paranoid is \(level))"
            }
            if SystemFile.filtersCalls { return "\(error): a filter of system calls (seccomp) forbids perf_event_open" }
        }
        return "perf_event_open: \(error)"
    }
}
