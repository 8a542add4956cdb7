internal import Glibc

/// The directory that one recording fills.
///
/// An existing session of the same name moves to NAME.old, replacing only a session there; anything that is not a
/// session is never touched.
struct SessionDirectory {
    /// Absolute.
    let path: String

    /// - Throws: ``RecordingError/notOurs(path:)``, ``RecordingError/cannotCreate(path:errno:)``.
    init(creating name: String) throws(RecordingError) {
        let name = name.hasSuffix("/") && name.count > 1 ? String(name.dropLast()) : name
        if mkdir(name, 0o755) != 0 {
            guard errno == EEXIST else { throw .cannotCreate(path: name, errno: errno) }
            try Self.setAside(name)
            guard mkdir(name, 0o755) == 0 else { throw .cannotCreate(path: name, errno: errno) }
        }
        // Held, by a descriptor that is never closed, until the recorder ends: nobody sets this session aside meanwhile.
        let lock = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw .isBeingRecorded(path: name) }
        guard let resolved = realpath(name, nil) else { throw .cannotCreate(path: name, errno: errno) }
        path = String(cString: resolved)
        free(resolved)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    private static let fileNames = ["session.json", "trace", "buffers", "aggregate"]

    private static func setAside(_ name: String) throws(RecordingError) {
        guard isSession(name) else { throw .notOurs(path: name) }
        guard !isBeingRecorded(name) else { throw .isBeingRecorded(path: name) }
        let old = name + ".old"
        if access(old, F_OK) == 0 {
            guard isSession(old) else { throw .notOurs(path: old) }
            for file in fileNames { unlink("\(old)/\(file)") }
            // Files that somebody else put there keep the directory alive.
            guard rmdir(old) == 0 else { throw .notOurs(path: old) }
        }
        guard rename(name, old) == 0 else { throw .cannotCreate(path: name, errno: errno) }
    }

    /// Whether a recorder holds the lock on the directory.
    private static func isBeingRecorded(_ name: String) -> Bool {
        let descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Whether a directory is a session, or empty.
    private static func isSession(_ name: String) -> Bool {
        guard let directory = opendir(name) else { return false }
        defer { closedir(directory) }
        var isEmpty = true
        while let entry = readdir(directory) {
            let file = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if fileNames.contains(file) { return true }
            if file != "." && file != ".." { isEmpty = false }
        }
        return isEmpty
    }
}
