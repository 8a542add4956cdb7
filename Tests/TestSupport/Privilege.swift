internal import CTraceFormat
internal import Glibc

/// What only some users may do, so that a test of it can say that it is skipped.
public enum Privilege {
    public static let isRoot = getuid() == 0

    /// Whether the kernel tells this process of the page faults of what it starts.
    public static let seesFaults: Bool = {
        let descriptor = fathom_open_faults(0, 0, 0, 4096)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// Whether the kernel tells this process of the context switches of what it starts.
    public static let seesSwitches: Bool = {
        let descriptor = fathom_open_switches(0, 4096)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// Whether the kernel tells this process of the wakings of all threads, and of their ids as this process knows them.
    public static let seesWakings: Bool = {
        let tracefs = fathom_open_tracefs()
        guard tracefs >= 0, case let file = openat(tracefs, "events/sched/sched_waking/id", O_RDONLY | O_CLOEXEC) else {
            return false
        }
        defer { for descriptor in [file, tracefs] { close(descriptor) } }
        var text = [UInt8](repeating: 0, count: 32), namespace = stat()
        let size = max(read(file, &text, text.count), 0)
        let id = UInt64(String(decoding: text[..<size].prefix { $0 != 10 }, as: UTF8.self)) ?? 0
        let descriptor = fathom_open_wakings(0, id, 4096)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0 && stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino == 0xefff_fffc
    }()

    /// Whether the kernel can keep a process from ever having memory that can be written to and run: Linux 6.3 and later.
    public static let forbidsNewCode: Bool = {
        // PR_GET_MDWE, which older kernels do not know. Only they make it fail, so tests fail where there is no Python.
        let script = "import ctypes, sys; sys.exit(1 if ctypes.CDLL(None).prctl(66, 0, 0, 0, 0) < 0 else 0)"
        return (try? run("python3", ["-c", script]))?.status != 1
    }()

    /// Whether this process may mount a file system; even root may not everywhere.
    public static let mounts: Bool = {
        guard isRoot, let directory = try? TemporaryDirectory("mounts"),
            mount("tmpfs", directory.path, "tmpfs", 0, "size=64k") == 0
        else { return false }
        umount2(directory.path, Int32(MNT_DETACH))
        return true
    }()

    /// Whether this process may go before others who want the processors.
    private static let hurries = (try? run("nice", ["-n", "-20", "nice"]))?.stdout == "-20\n"

    /// A command that goes before others who want the processors, where this process may do so: what it measures then does
    /// not depend on who else is running.
    public static func urgent(_ command: [String]) -> [String] {
        hurries ? ["nice", "-n", "-20"] + command : command
    }
}

/// A file system in memory of a few bytes, at a directory of its own, gone when the last reference goes.
public final class SmallFileSystem {
    public let directory: TemporaryDirectory

    /// - Parameter options: as mount(8) takes them for a tmpfs, such as `size=400k`.
    /// - Throws: ``TestSupportError`` when it cannot be mounted; see ``Privilege/mounts``.
    public init(_ options: String, isReadOnly: Bool = false) throws(TestSupportError) {
        directory = try TemporaryDirectory("file-system")
        guard mount("tmpfs", directory.path, "tmpfs", isReadOnly ? UInt(MS_RDONLY) : 0, options) == 0 else {
            throw .failed("mount a tmpfs", errno: errno)
        }
    }

    deinit { umount2(directory.path, Int32(MNT_DETACH)) }
}
