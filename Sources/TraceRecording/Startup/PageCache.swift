internal import CTraceFormat
internal import Glibc

/// What the kernel keeps of files in memory.
public struct PageCache {
    /// Pages of the files that are in memory after all, and all pages of the files.
    public private(set) var kept = 0
    public private(set) var pages = 0
    /// The files of which most is kept, the most first.
    public private(set) var keptFiles: [String] = []
    /// Files whose file system is in memory: they are nowhere else, and never cold.
    public private(set) var inMemory: [String] = []
    /// Files that could not be asked for, each with the reason.
    public private(set) var problems: [String] = []

    /// Lets the kernel forget the files' pages, and asks what is left. Pages that processes have mapped stay, and so does what
    /// a file system keeps nowhere else.
    ///
    /// - Complexity: O(pages of the files).
    public init(emptying paths: [String]) {
        var left: [(path: String, pages: Int)] = []
        for path in paths {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                problems.append("\(path): \(String(cString: strerror(errno)))")
                continue
            }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
                continue
            }
            if fathom_is_in_memory(descriptor) != 0 { inMemory.append(path) }
            // What is not yet written is not forgotten.
            fdatasync(descriptor)
            let error = posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
            if error != 0 { problems.append("\(path): \(String(cString: strerror(error)))") }
            let (resident, all) = PageCache.resident(descriptor, Int(status.st_size))
            pages += all
            kept += resident
            if resident > 0 { left.append((path, resident)) }
        }
        keptFiles = left.sorted { $0.pages > $1.pages }.map(\.path)
    }

    private static func resident(_ descriptor: Int32, _ size: Int) -> (resident: Int, all: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE))), count = (size + page - 1) / page
        guard let memory = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
            return (0, count)
        }
        defer { munmap(memory, size) }
        var states = [UInt8](repeating: 0, count: count)
        guard mincore(memory, size, &states) == 0 else { return (0, count) }
        return (states.count { $0 & 1 != 0 }, count)
    }
}
