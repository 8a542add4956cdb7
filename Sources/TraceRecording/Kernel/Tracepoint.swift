internal import CTraceFormat
internal import Glibc
internal import TraceFile

/// A point of the kernel that it can tell of when it comes by.
struct Tracepoint {
    /// What the kernel calls it.
    let id: UInt64
    /// Where its record has the woken thread's id, in bytes.
    let wokenAt: UInt32

    /// The inode of the machine's own namespace of process ids (PROC_PID_INIT_INO in the kernel's proc_ns.h).
    private static let machine: ino_t = 0xefff_fffc

    /// The point at which a thread is woken, `sched_waking`.
    ///
    /// - Throws: ``EventRefusal``. The record has ids of the whole machine, so it is of no use where this process knows
    ///   threads by others, as in a container.
    init(waking: Void) throws(EventRefusal) {
        var namespace = stat()
        guard stat("/proc/self/ns/pid", &namespace) == 0, namespace.st_ino == Self.machine else {
            throw EventRefusal(reason: EXDEV, isOfMemory: false)
        }
        let folder = "events/sched/sched_waking/"
        guard let id = UInt64(try Self.text(folder + "id").filter(\.isNumber)),
            let line = try Self.text(folder + "format").split(separator: "\n").first(where: {
                $0.contains("field:pid_t pid;")
            }),
            let offset = line.split(separator: ";").first(where: { $0.contains("offset:") }),
            let wokenAt = UInt32(offset.filter(\.isNumber)), wokenAt > 0
        else { throw EventRefusal(reason: ENOTSUP, isOfMemory: false) }
        self.id = id
        self.wokenAt = wokenAt
    }

    /// Opens a file of tracefs, wherever that is mounted.
    private static func open(_ name: String) -> Int32 {
        for place in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
            let descriptor = Glibc.open("\(place)/\(name)", O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 || errno == EACCES { return descriptor }
        }
        let directory = fathom_open_tracefs()
        guard directory >= 0 else { return -1 }
        defer { close(directory) }
        return openat(directory, name, O_RDONLY | O_CLOEXEC)
    }

    private static func text(_ name: String) throws(EventRefusal) -> String {
        let descriptor = open(name)
        guard descriptor >= 0 else { throw EventRefusal(reason: errno, isOfMemory: false) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8192), size = 0
        while size < bytes.count {
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + size, $0.count - size) }
            if count <= 0 { break }
            size += count
        }
        return String(decoding: bytes[..<size], as: UTF8.self)
    }
}
