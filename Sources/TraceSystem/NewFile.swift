internal import Glibc

/// A file that takes the place of the one at its path when it is whole, and not before: whatever ends the program, that path
/// holds the old file or the new one.
///
/// Until then the file has no name (`O_TMPFILE`), so nothing stays behind of it even after SIGKILL, unless that comes in the
/// moment before the file takes its place: it needs a name for that. Where the file system knows no such files, it has a
/// name beside its place from the start, which signals that end the program remove. A pipe or a device is written to as it
/// is. The new file has the old one's permissions; other hard links keep the old file.
public final class NewFile {
    /// What is written to; it stays this object's.
    public let descriptor: Int32
    /// As it was asked for, in messages.
    private let path: String
    /// The path that it is to have; nil for what is no file.
    private let destination: String?
    /// The name that it has for now.
    private var temporary: String?
    /// Why the last write failed; 0 when none did.
    public private(set) var failure: Int32 = 0
    private var isOpen = true

    /// Begins the file that is to be at `path`.
    ///
    /// - Throws: an error whose subject is `path`; nothing has changed then.
    public init(replacing path: String) throws(SystemError) {
        self.path = path
        // Beyond the limit on the size of files, write fails then and does not end the program.
        signal(SIGXFSZ, SIG_IGN)
        var old = stat()
        let exists = stat(path, &old) == 0
        if exists, old.st_mode & S_IFMT == S_IFDIR { throw SystemError(path, EISDIR) }
        if exists, old.st_mode & S_IFMT != S_IFREG {
            destination = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            if descriptor < 0 { throw SystemError(path, errno) }
            return
        }
        // What is not to be written to is not to be replaced.
        if exists, access(path, W_OK) != 0 { throw SystemError(path, errno) }
        // A symbolic link stays, and what it leads to is replaced.
        let resolved = realpath(path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let place = resolved ?? path
        (descriptor, temporary) = try NewFile.create(in: NewFile.directory(of: place), for: path)
        destination = place
        if exists {
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            fchmod(descriptor, old.st_mode & 0o7777)
        }
    }

    deinit {
        if isOpen { close(descriptor) }
        forget()
    }

    /// An open file in `directory`, and its name if it has one.
    private static func create(in directory: String, for path: String) throws(SystemError) -> (Int32, String?) {
        // Without /proc, a file without a name could not be given one.
        let unnamed = access("/proc/self/fd", X_OK) == 0 ? open(directory, NamelessFile.temporary | flags, 0o666) : -1
        if unnamed >= 0 { return (unnamed, nil) }
        let (name, descriptor) = try withoutSignals { () throws(SystemError) in
            let made = try freeName(in: directory, for: path) { open($0, O_CREAT | O_EXCL | flags, 0o666) }
            Leftover.watch(made.name)
            return made
        }
        return (descriptor, name)
    }

    /// Makes a file in `directory` under a name that none has yet.
    ///
    /// - Parameter make: returns -1, and says by errno why, when it fails.
    /// - Returns: the name, and what `make` returned.
    private static func freeName(
        in directory: String, for path: String, _ make: (String) -> Int32
    ) throws(SystemError) -> (name: String, made: Int32) {
        for number in 0..<100 {
            let name = "\(directory).fathom-\(getpid())-\(number)"
            let made = make(name)
            if made >= 0 { return (name, made) }
            if errno != EEXIST { break }
        }
        throw SystemError(path, errno)
    }

    /// Does `body` while no signal can end the program: one in between would leave a name behind.
    private static func withoutSignals<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }

    private static let flags = O_WRONLY | O_CLOEXEC

    /// Writes `bytes`; returns false when that fails, which ``failure`` tells.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let error = writeAll(bytes, to: descriptor)
        if error != 0 { failure = error }
        return error == 0
    }

    /// Says that somebody who wrote to the descriptor failed with this errno.
    public func fail(_ code: Int32) { if failure == 0 { failure = code } }

    /// Puts the file in its place. Without this, all is as it was before.
    ///
    /// - Parameter isDurable: what was written, though not yet the name, is to outlast a power failure.
    /// - Throws: an error whose subject is the path, also when a write has failed before.
    public func commit(isDurable: Bool = false) throws(SystemError) {
        guard failure == 0 else { throw SystemError(path, failure) }
        if isDurable, fsync(descriptor) != 0 { throw SystemError(path, errno) }
        try NewFile.withoutSignals { () throws(SystemError) in try takePlace() }
    }

    private func takePlace() throws(SystemError) {
        if let destination, temporary == nil { temporary = try link(beside: destination) }
        isOpen = false
        // Some file systems tell only now that there is no room.
        guard close(descriptor) == 0 else { throw SystemError(path, errno) }
        guard let destination, let name = temporary else { return }
        guard rename(name, destination) == 0 else { throw SystemError(path, errno) }
        temporary = nil
        Leftover.forget()
    }

    /// Gives the file a name in the directory of `destination`, and returns that.
    private func link(beside destination: String) throws(SystemError) -> String {
        try NewFile.freeName(in: NewFile.directory(of: destination), for: path) {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
        }.name
    }

    /// The directory part of `path`, with a slash behind it.
    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    private func forget() {
        guard let temporary else { return }
        unlink(temporary)
        Leftover.forget()
    }
}

/// The name of a file that is to go when a signal ends the program.
private enum Leftover {
    nonisolated(unsafe) private static var path: UnsafeMutablePointer<CChar>?

    static func watch(_ name: String) {
        path = strdup(name)
        for number in [SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE] {
            let before = signal(number) { number in
                if let path = Leftover.path { unlink(path) }
                signal(number, SIG_DFL)
                raise(number)
            }
            // A signal that was ignored is still to be.
            if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
        }
    }

    static func forget() {
        // The memory stays, because a handler may be reading it.
        path = nil
    }
}
