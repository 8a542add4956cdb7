internal import Glibc
internal import TraceText

/// Directories. Paths and names may hold bytes that are no text (see ``TraceText``, RawText.swift).
public enum Directory {
    /// The name of an entry and its kind, DT_* of readdir(3); DT_UNKNOWN where the file system does not tell.
    public typealias Entry = (name: String, kind: Int)

    /// What is in a directory, except `.` and `..`, in no order; nil when the system refuses, and errno says why. O(entries).
    public static func entries(of path: String) -> [Entry]? { entries(path.withRawCString { opendir($0) }) }

    /// Their names.
    public static func names(in path: String) -> [String]? { entries(of: path)?.map(\.name) }

    /// The same of an open directory, which stays open and keeps its position.
    public static func names(in descriptor: Int32) -> [String]? {
        // fdopendir takes over its descriptor, so it gets another one, with a position of its own.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return own < 0 ? nil : entries(fdopendir(own))?.map(\.name)
    }

    private static func entries(_ stream: OpaquePointer?) -> [Entry]? {
        guard let stream else { return nil }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name.0) { String(rawCString: $0) }
            if name != ".", name != ".." { entries.append((name, Int(entry.pointee.d_type))) }
        }
        return entries
    }

    /// Makes a directory that nobody else has or may read, and whose name begins with `name`.
    ///
    /// - Parameter parent: where; nil stands for what TMPDIR says, or else /tmp.
    /// - Throws: an error whose subject is the parent.
    public static func makeTemporary(_ name: String, in parent: String? = nil) throws(SystemError) -> String {
        let parent = parent ?? getenv("TMPDIR").map { String(rawCString: $0) } ?? "/tmp"
        var template = "\(parent)/\(name)-XXXXXX".rawCString
        guard mkdtemp(&template) != nil else { throw SystemError(parent, errno) }
        return template.withUnsafeBufferPointer { String(rawCString: $0.baseAddress!) }
    }

    /// Removes a directory and what is in it, as far as that is there and may be removed. Links are not followed.
    public static func remove(_ path: String) {
        for name in names(in: path) ?? [] {
            let entry = "\(path)/\(name)"
            if entry.withRawCString({ unlink($0) }) != 0, errno == EISDIR { remove(entry) }
        }
        _ = path.withRawCString { rmdir($0) }
    }
}

/// Files that nobody finds: they have no name, and are gone when their descriptors are closed, which are the caller's.
public enum NamelessFile {
    /// Opens a new file where temporary files are (what TMPDIR says, or else /tmp), to be read and written.
    ///
    /// - Returns: nil where that cannot be.
    public static func open() -> Int32? {
        let parent = getenv("TMPDIR").map { String(rawCString: $0) } ?? "/tmp"
        var template = "\(parent)/fathom-XXXXXX".rawCString
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }

    /// Opens a new file in `directory`, to be read and written by its owner alone, which may get a name there.
    ///
    /// - Returns: nil where that cannot be, or the file system knows no such files (`O_TMPFILE`).
    public static func open(in directory: String) -> Int32? {
        let descriptor = Glibc.open(directory, temporary | O_RDWR | O_CLOEXEC, 0o600)
        return descriptor >= 0 ? descriptor : nil
    }

    /// Gives a file that was opened in a directory the name `path` there; returns whether it has it.
    public static func link(_ descriptor: Int32, as path: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    /// `O_TMPFILE`, which Swift does not import.
    static let temporary: Int32 = 0o20_000_000 | O_DIRECTORY
}
