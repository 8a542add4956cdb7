internal import Glibc

/// Tells which files in a directory are a session's.
public enum SessionFiles {
    /// Whether a file of the session at `path` may replace `file`: there is no such file yet, or it is one of a
    /// session.
    public static func canReplace(_ file: SessionFile, at path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        var status = stat()
        if fstatat(directory, file.name, &status, AT_SYMLINK_NOFOLLOW) != 0 { return errno == ENOENT }
        return isOne(file.name, in: directory)
    }

    /// Whether files make a session: they include its log or its buffers, or are nothing but its description.
    static func areASession(_ names: [String], in directory: Int32) -> Bool {
        [SessionFile.trace, .buffers].contains { isOne($0.name, in: directory) }
            || names.allSatisfy { isOne($0, in: directory) }
    }

    /// Whether a file is one of a session: it has such a name, is a plain file, and begins as that file does.
    static func isOne(_ name: String, in directory: Int32) -> Bool {
        guard let kind = SessionFile(named: name) else { return false }
        // Without O_NONBLOCK, opening a pipe that has no writer would wait for one.
        let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            let size = max(read(file, bytes.baseAddress, bytes.count), 0)
            return kind.isBegun(by: bytes[..<size])
        }
    }

    /// The names of all files in a directory, except `.` and `..`; nil when the system refuses, and errno says why.
    static func names(in directory: Int32) -> [String]? {
        // fdopendir takes over its descriptor, so it gets another one, with a position of its own.
        let descriptor = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
