internal import Glibc

/// The pages of a file that the system keeps in memory.
public enum FilePages {
    /// Makes the system forget them, so that the next reader reads from the disk.
    ///
    /// - Returns: why that is impossible, or nil.
    public static func forget(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return String(cString: strerror(errno)) }
        defer { close(file) }
        // Pages that are still to be written stay.
        fdatasync(file)
        let error = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        if error != 0 { return String(cString: strerror(error)) }
        guard let part = residentPart(of: file) else { return nil }
        return part > 0.1 ? "it stays in memory: another process runs it, or its file system is in memory" : nil
    }

    /// The part of an open file's pages that is in memory.
    private static func residentPart(of file: Int32) -> Double? {
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > 0, let memory = mmap(nil, size, PROT_READ, MAP_SHARED, file, 0), memory != MAP_FAILED else {
            return nil
        }
        defer { munmap(memory, size) }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        var pages = [UInt8](repeating: 0, count: (size + page - 1) / page)
        guard mincore(memory, size, &pages) == 0 else { return nil }
        return Double(pages.count { $0 & 1 != 0 }) / Double(pages.count)
    }
}
