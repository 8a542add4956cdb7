internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// A point of the kernel that it can tell of when it comes by.
struct Tracepoint {
    /// What the kernel calls it.
    let id: UInt64
    /// Where its record has the id of the thread that it is about, in bytes; 0 where that is the one that runs.
    var threadAt: UInt32 = 0

    /// The inode of the machine's own namespace of process ids (PROC_PID_INIT_INO in the kernel's proc_ns.h).
    private static let machine: ino_t = 0xefff_fffc

    /// The point at which a thread is woken, `sched_waking`.
    ///
    /// - Throws: ``EventRefusal``. The record has ids of the whole machine, so it is of no use where this process knows
    ///   threads by others, as in a container.
    static func waking() throws(EventRefusal) -> Tracepoint {
        try point("sched/sched_waking", about: "pid_t pid")
    }

    /// The point at which a thread begins, `sched_process_fork`.
    ///
    /// - Throws: ``EventRefusal``, as of ``waking()``.
    static func fork() throws(EventRefusal) -> Tracepoint {
        try point("sched/sched_process_fork", about: "pid_t child_pid")
    }

    private static func point(_ name: String, about field: String) throws(EventRefusal) -> Tracepoint {
        var namespace = stat()
        guard stat("/proc/self/ns/pid", &namespace) == 0, namespace.st_ino == machine else {
            throw EventRefusal(reason: EXDEV, isOfMemory: false)
        }
        let file = try file("events/\(name)")
        guard let id = UInt64(file.id.filter(\.isNumber)),
            let line = file.format.split(separator: "\n").first(where: { $0.contains("field:\(field);") }),
            let offset = line.split(separator: ";").first(where: { $0.contains("offset:") }),
            let threadAt = UInt32(offset.filter(\.isNumber)), threadAt > 0
        else { throw EventRefusal(reason: ENOTSUP, isOfMemory: false) }
        return Tracepoint(id: id, threadAt: threadAt)
    }

    /// The points at which a thread enters the kernel by a system call, and at which it leaves it.
    ///
    /// - Throws: ``EventRefusal``.
    static func systemCalls() throws(EventRefusal) -> (enter: Tracepoint, leave: Tracepoint) {
        func point(_ name: String, _ field: String, at offset: Int) throws(EventRefusal) -> Tracepoint {
            let file = try file("events/raw_syscalls/\(name)")
            guard let id = UInt64(file.id.filter(\.isNumber)),
                file.format.contains("field:\(field);\toffset:\(offset);")
            else {
                throw EventRefusal(reason: ENOTSUP, isOfMemory: false)
            }
            return Tracepoint(id: id)
        }
        return (
            try point("sys_enter", "unsigned long args[6]", at: 16), try point("sys_exit", "long ret", at: 16)
        )
    }

    /// What tracefs says of a point, wherever tracefs is mounted.
    private static func file(_ folder: String) throws(EventRefusal) -> (id: String, format: String) {
        func read(_ place: String) -> (id: String, format: String)? {
            guard let id = SystemFile.contents(of: "\(place)/\(folder)/id"),
                let format = SystemFile.contents(of: "\(place)/\(folder)/format")
            else { return nil }
            return (id, format)
        }
        for place in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
            if let file = read(place) { return file }
            if errno == EACCES { throw EventRefusal(reason: errno, isOfMemory: false) }
        }
        let mount = fathom_open_tracefs()
        guard mount >= 0 else { throw EventRefusal(reason: errno, isOfMemory: false) }
        defer { close(mount) }
        guard let file = read("/proc/self/fd/\(mount)") else { throw EventRefusal(reason: errno, isOfMemory: false) }
        return file
    }
}
