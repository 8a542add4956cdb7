internal import Glibc
internal import TraceFile

/// Why the kernel tells nothing of what happens to threads.
struct EventRefusal: Error {
    let reason: Int32
    /// Whether the events could be had, but no memory for what they tell.
    let isOfMemory: Bool

    /// One clause for people.
    ///
    /// - Parameter kind: what was asked for, where the words depend on that.
    func text(_ kind: KernelEvents? = nil) -> String {
        let error = String(cString: strerror(reason))
        if isOfMemory { return "\(error) for the rings of perf_event_open (kernel.perf_event_mlock_kb, ulimit -l)" }
        if reason == EXDEV { return "this is a container, which knows threads by other numbers than the kernel" }
        if kind == .wakings, reason == EPERM || reason == EACCES {
            return "that takes CAP_PERFMON, and the right to read /sys/kernel/tracing, as root has them"
        }
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
