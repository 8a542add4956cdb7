internal import Glibc
internal import TraceSystem

/// The directory that one recording fills. It and its files are readable by their owner alone, because they hold what a
/// program did.
///
/// An existing session of the same name moves to NAME.old, and replaces only a session there. Files of a session are
/// known by what they begin with, never by their names alone. Whatever else is there is left alone.
package final class SessionDirectory {
    /// The absolute path.
    package let path: String
    /// The same path, byte for byte, because the names of directories need not be UTF-8.
    package let rawPath: [CChar]
    /// A descriptor of the directory, locked and never closed until the recorder ends, so that nobody sets this session
    /// aside meanwhile. Files are made and removed through it, so that they are in this directory whatever becomes of
    /// its path.
    private let descriptor: Int32
    private let isNew: Bool
    /// Where the session is now that had the name before; nil where there was none.
    package let setAside: String?
    /// The inodes of the files that were made here.
    private var made: [String: ino_t] = [:]

    /// - Throws: ``SessionFileError`` when something else has the place, or it cannot be written to.
    package init(creating name: String) throws(SessionFileError) {
        var name = name
        while name.hasSuffix("/") && name.count > 1 { name.removeLast() }
        if mkdir(name, 0o700) == 0 {
            isNew = true
            setAside = nil
        } else {
            guard errno == EEXIST else { throw .cannotCreate(path: name, errno: errno) }
            isNew = try Self.makeRoom(at: name)
            setAside = isNew ? Self.old(name) : nil
        }
        descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .isBeingRecorded(path: name) }
        try Self.claim(descriptor, at: name)
        guard let resolved = realpath(name, nil) else { throw .cannotCreate(path: name, errno: errno) }
        path = String(cString: resolved)
        rawPath = Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved) + 1))
        free(resolved)
    }

    /// A directory that somebody else has made and holds. Nothing is made in it.
    package init(opening path: String) throws(SessionFileError) {
        isNew = false
        setAside = nil
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let resolved = realpath(path, nil) else {
            throw .cannotCreate(path: path, errno: errno)
        }
        self.path = String(cString: resolved)
        rawPath = Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved) + 1))
        free(resolved)
        var status = stat()
        let name = SessionFile.buffers.name
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { made[name] = status.st_ino }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a file of the session.
    ///
    /// - Returns: A descriptor, which is the caller's.
    package func create(_ name: String, _ access: Int32) throws(SessionFileError) -> Int32 {
        let file = openat(descriptor, name, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotCreate(path: self.file(name), errno: errno) }
        var status = stat()
        if fstat(file, &status) == 0 { made[name] = status.st_ino }
        return file
    }

    /// Opens a file that was made here, if the name still leads to that file.
    ///
    /// - Returns: A descriptor, which is the caller's, or -1.
    package func reopen(_ name: String, _ access: Int32) -> Int32 {
        let file = openat(descriptor, name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        var status = stat()
        if file >= 0, fstat(file, &status) == 0, status.st_ino == made[name] { return file }
        if file >= 0 { Glibc.close(file) }
        return -1
    }

    /// Makes a file that holds `text`.
    package func create(_ name: String, holding text: String) throws(SessionFileError) {
        let file = try create(name, O_WRONLY)
        defer { Glibc.close(file) }
        let error = Array(text.utf8).withUnsafeBytes { writeAll($0, to: file) }
        guard error == 0 else {
            remove(name)
            throw .cannotCreate(path: self.file(name), errno: error)
        }
    }

    /// Gives the directory its final name, which nothing else has. `path` and `rawPath` are those it had before.
    package func move(from name: String, to final: String) throws(SessionFileError) {
        // An empty directory would be replaced.
        var status = stat()
        guard lstat(final, &status) != 0 else { throw .cannotCreate(path: final, errno: EEXIST) }
        guard rename(name, final) == 0 else { throw .cannotCreate(path: final, errno: errno) }
    }

    /// What sessions beside this one are numbered after: `prog`, of `prog.fathom`.
    package static func stem(of name: String) -> String {
        var name = name
        while name.hasSuffix("/") && name.count > 1 { name.removeLast() }
        return name.hasSuffix(".fathom") ? String(name.dropLast(".fathom".count)) : name
    }

    /// The name of one more session beside this one, as `prog-2.fathom`: the first has no number.
    package static func next(after name: String) -> String {
        let stem = stem(of: name)
        return "\(stem)-\(max(highestNumber(of: stem), 1) + 1).fathom"
    }

    /// The highest number of a session `NAME-1.fathom`, `NAME-2.fathom`, …, or of one that was set aside or not yet whole; 0:
    /// there is none.
    ///
    /// - Complexity: O(files in the directory).
    package static func highestNumber(of name: String) -> Int {
        let slash = name.lastIndex(of: "/")
        let parent = slash.map { String(name[...$0]) } ?? "."
        let prefix = (slash.map { String(name[name.index(after: $0)...]) } ?? name) + "-"
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return 0 }
        defer { Glibc.close(directory) }
        return (Directory.names(in: directory) ?? []).reduce(0) { highest, file in
            guard file.hasPrefix(prefix) else { return highest }
            let rest = file.dropFirst(prefix.count), digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard rest.dropFirst(digits.count).hasPrefix(".fathom"), let number = Int(digits) else { return highest }
            return max(highest, number)
        }
    }

    /// Puts `text` in the place of a file at once: a program that reads the file meanwhile reads the old or the new
    /// text.
    package func replace(_ name: String, by text: String) throws(SessionFileError) {
        let temporary = name + ".new"
        try create(temporary, holding: text)
        if renameat(descriptor, temporary, descriptor, name) != 0 {
            let reason = errno
            remove(temporary)
            throw .cannotCreate(path: file(name), errno: reason)
        }
        made[name] = made.removeValue(forKey: temporary)
    }

    /// Removes a file that was made here, if the name still leads to that file.
    package func remove(_ name: String) {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_ino == made[name] else { return }
        unlinkat(descriptor, name, 0)
        made[name] = nil
    }

    /// Removes what others have made here by `fathom ctl`.
    package func removeNamedFunctions() {
        for name in Directory.names(in: descriptor) ?? []
        where name.hasPrefix(SessionFile.functions.name + ".") && SessionFiles.isOne(name, in: descriptor) {
            unlinkat(descriptor, name, 0)
        }
    }

    /// Gives up the lock and the descriptor. Nothing else may be asked of this afterwards.
    package func close() { _ = Glibc.close(descriptor) }

    /// Gives everything to the owner of a process that is to write here, if that is somebody else and we may.
    package func share(withOwnerOf pid: Int32) {
        var status = stat()
        guard geteuid() == 0, stat("/proc/\(pid)", &status) == 0, status.st_uid != 0 else { return }
        for name in made.keys { fchownat(descriptor, name, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW) }
        fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// Removes everything, because there is nothing to record, and gives the session that was there its name again.
    package func discard() {
        for name in made.keys { remove(name) }
        if isNew, rmdir(rawPath) == 0, let setAside { rename(setAside, rawPath) }
    }

    /// Refuses a directory of somebody else, who could put other files in the place of ours; what recorded programs find there is
    /// mapped into them. Nobody else may write to our own, either.
    private static func claim(_ directory: Int32, at name: String) throws(SessionFileError) {
        var status = stat()
        guard fstat(directory, &status) == 0, status.st_uid == geteuid() else { throw .belongsToOthers(path: name) }
        let shared = S_IWGRP | S_IWOTH
        // Some file systems have one mode for all files, and refuse this.
        if status.st_mode & shared != 0 { fchmod(directory, status.st_mode & 0o7777 & ~shared) }
    }

    /// Sets aside the session that has the name, so that the name leads to an empty directory.
    ///
    /// - Returns: Whether that directory is new.
    private static func makeRoom(at name: String) throws(SessionFileError) -> Bool {
        let existing = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard existing >= 0 else { throw Self.unopened(name, for: name) }
        defer { Glibc.close(existing) }
        let files = try names(in: existing, for: name)
        if files.isEmpty { return false }
        // If a link were renamed, the link would be set aside, and not the session it leads to.
        guard !isLink(name), SessionFiles.areASession(files, in: existing) else {
            let isOurs = isLink(name) || SessionFiles.otherOwner(of: name) == nil
            throw isOurs ? .notOurs(path: name) : .belongsToOthers(path: name)
        }
        guard !isBeingRecorded(existing) else { throw .isBeingRecorded(path: name) }
        try setAside(name, files)
        guard mkdir(name, 0o700) == 0 else { throw .cannotCreate(path: name, errno: errno) }
        return true
    }

    private static func old(_ name: String) -> String { name + ".old" }

    private static func setAside(_ name: String, _ files: [String]) throws(SessionFileError) {
        let old = old(name)
        if access(old, F_OK) == 0 || isLink(old) { try remove(old: old, for: name) }
        if rename(name, old) == 0 { return }
        guard errno == EXDEV else { throw .cannotCreate(path: name, errno: errno) }
        // Not to `old` itself: what a killed recorder, or another one, has moved there by halves would be removed.
        let part = name + ".part"
        try moveFiles(files, of: name, to: part)
        guard rename(part, old) == 0 else { throw .cannotCreate(path: old, errno: errno) }
    }

    /// Moves a session file by file: directories in a lower layer of an overlay, as of a container's image, cannot be renamed.
    /// Either all files are moved, or none.
    static func moveFiles(_ files: [String], of name: String, to new: String) throws(SessionFileError) {
        guard mkdir(new, 0o700) == 0 else { throw .cannotCreate(path: new, errno: errno) }
        var moved: [String] = [], reason: Int32 = 0
        for file in files where reason == 0 {
            if rename("\(name)/\(file)", "\(new)/\(file)") == 0 { moved.append(file) } else { reason = errno }
        }
        if reason == 0, rmdir(name) != 0 { reason = errno }
        guard reason != 0 else { return }
        for file in moved { rename("\(new)/\(file)", "\(name)/\(file)") }
        rmdir(new)
        throw .cannotCreate(path: name, errno: reason)
    }

    /// Removes an older session, if it holds nothing but its own files, to make room for the session `name`.
    private static func remove(old: String, for name: String) throws(SessionFileError) {
        let directory = open(old, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else { throw Self.unopened(old, for: name) }
        defer { Glibc.close(directory) }
        let files = try names(in: directory, for: name)
        if let foreign = files.first(where: { !SessionFiles.isOne($0, in: directory) }) {
            throw .holdsOthers(path: old, file: foreign)
        }
        guard !isBeingRecorded(directory) else { throw .isBeingRecorded(path: old) }
        for file in files { unlinkat(directory, file, 0) }
        guard rmdir(old) == 0 else { throw .notOurs(path: old) }
    }

    /// Why `path` could not be opened as a directory: it is none, or the system refused, which says nothing about `path`.
    private static func unopened(_ path: String, for name: String) -> SessionFileError {
        switch errno {
        case EACCES where SessionFiles.otherOwner(of: path) != nil: .belongsToOthers(path: path)
        case ENOTDIR, ELOOP, EACCES: .notOurs(path: path)
        case let reason: .cannotCreate(path: name, errno: reason)
        }
    }

    private static func names(in directory: Int32, for name: String) throws(SessionFileError) -> [String] {
        guard let names = Directory.names(in: directory) else { throw .cannotCreate(path: name, errno: errno) }
        return names
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether a recorder holds the lock on the directory.
    private static func isBeingRecorded(_ directory: Int32) -> Bool {
        if flock(directory, LOCK_SH | LOCK_NB) != 0 { return errno == EWOULDBLOCK }
        flock(directory, LOCK_UN)
        return false
    }
}
