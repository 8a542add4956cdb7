internal import CTraceFormat  // its headers include those of libc: Swift may take theirs for the place of timespec
internal import Glibc
internal import TraceSystem

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

    /// Puts a file into the session at `path`, all of it at once, for the owner of the session; where that cannot be, there is
    /// none.
    public static func put(_ bytes: UnsafeRawBufferPointer, as file: SessionFile, in path: String) {
        put(file, in: path) { writeAll(bytes, to: $0) == 0 }
    }

    /// Does so with a file that somebody else writes.
    ///
    /// - Parameter write: writes it, and returns whether all is written.
    public static func put(_ file: SessionFile, in path: String, write: (Int32) -> Bool) {
        guard canReplace(file, at: path) else { return }
        let final = "\(path)/\(file.name)", temporary = "\(final).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        give(descriptor, toOwnerOf: path)
        let isWritten = write(descriptor)
        if close(descriptor) != 0 || !isWritten || rename(temporary, final) != 0 { unlink(temporary) }
    }

    /// Does so with a file of ``TraceSystem/NamelessFile/open(in:)``, which is written and stays open.
    public static func put(nameless descriptor: Int32, as file: SessionFile, in path: String) {
        guard canReplace(file, at: path) else { return }
        give(descriptor, toOwnerOf: path)
        let final = "\(path)/\(file.name)", temporary = "\(final).\(getpid())"
        if NamelessFile.link(descriptor, as: temporary), rename(temporary, final) != 0 { unlink(temporary) }
    }

    private static func give(_ descriptor: Int32, toOwnerOf path: String) {
        var owner = stat()
        if geteuid() == 0, stat(path, &owner) == 0, owner.st_uid != 0 {
            _ = fchown(descriptor, owner.st_uid, owner.st_gid)
        }
    }

    /// Whether the file at `path` is there, and nobody has changed or moved it since `moment`, in ns of CLOCK_REALTIME.
    public static func isUnchanged(_ path: String, since moment: UInt64) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.wasChanged(before: moment)
    }

    /// The path of the session in `directory` that was begun last, of those whose names end in `.fathom`; where there is none, of the
    /// packed one, in `.fathomz`, that was written last. Nil when there is no session.
    ///
    /// - Complexity: O(files in the directory), and a few system calls for each session.
    public static func newest(in directory: String) -> String? {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let names = (Directory.names(in: descriptor) ?? []).sorted()
        func newest(_ ending: String, _ time: (String) -> (Int, Int)?) -> (time: (Int, Int), name: String)? {
            var newest: (time: (Int, Int), name: String)?
            for name in names where name.hasSuffix(ending) {
                guard let time = time(name), newest.map({ $0.time < time }) ?? true else { continue }
                newest = (time, name)
            }
            return newest
        }
        let found =
            newest(".fathom") { begin(of: $0, in: descriptor) }
            ?? newest(".fathomz") { name in
                var status = stat()
                let path = "\(directory)/\(name)"
                return Session.isPacked(path) && stat(path, &status) == 0
                    ? (status.st_mtim.tv_sec, status.st_mtim.tv_nsec) : nil
            }
        return found.map { directory == "." ? $0.name : "\(directory)/\($0.name)" }
    }

    /// The paths of directories in `directory` that are called as sessions are, but which this user may not look into.
    public static func forbidden(in directory: String) -> [String] {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let paths = (Directory.names(in: descriptor) ?? []).sorted().filter { $0.hasSuffix(".fathom") }.map {
            "\(directory)/\($0)"
        }
        return paths.filter { owner(ofForbidden: $0) != nil }
    }

    /// The user, by name or number, to whom a directory belongs that this user may not look into; nil of any other.
    static func owner(ofForbidden path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, access(path, X_OK) != 0, errno == EACCES
        else {
            return nil
        }
        return name(of: status.st_uid)
    }

    /// The user, by name or number, to whom a file or directory belongs; nil where that is this user, or not to be seen.
    static func otherOwner(of path: String) -> String? {
        var status = stat()
        return stat(path, &status) == 0 && status.st_uid != geteuid() ? name(of: status.st_uid) : nil
    }

    private static func name(of user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }

    /// When a session was begun, by the file that is written then and not again.
    private static func begin(of name: String, in parent: Int32) -> (Int, Int)? {
        let directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        defer { close(directory) }
        guard let log = [SessionFile.trace, .buffers].first(where: { isOne($0.name, in: directory) }) else {
            return nil
        }
        var status = stat()
        for file in [SessionFile.description, log] where fstatat(directory, file.name, &status, 0) == 0 {
            return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
        return nil
    }

    /// The names of a session's files in the directory at `path`.
    public static func all(in path: String) -> [String] {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else { return [] }
        defer { close(directory) }
        return (Directory.names(in: directory) ?? []).filter { isOne($0, in: directory) }
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
            // Whoever was to put it into the place of another one may have been killed before writing to it.
            if size == 0, let end = name.split(separator: ".").last, name != kind.name {
                return end == "new" || UInt32(end) != nil
            }
            return kind.isBegun(by: bytes[..<size])
        }
    }
}
