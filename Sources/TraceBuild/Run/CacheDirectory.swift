internal import Glibc
internal import TraceText

/// Where stand-ins for compilers lie. A build executes what is there, so nobody else may be able to put anything there.
enum CacheDirectory {
    /// `$XDG_CACHE_HOME/fathom`, else the same below `~/.cache`, else below the `.cache` of the home that the system knows of this
    /// user: the first that is this user's alone. `sudo` and containers may leave another user's in the environment.
    ///
    /// - Returns: The path without symbolic links.
    /// - Throws: ``BuildError/notPrivate(_:)`` or ``BuildError/cannotWrite(_:errno:)``, of the first of them.
    static func find() throws(BuildError) -> String {
        var failure: BuildError?
        for place in places() {
            do throws(BuildError) {
                return try make(place + "/fathom")
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? .notPrivate("~")
    }

    /// Absolute paths. A home that is not there is none: it is not made.
    private static func places() -> [String] {
        let known = getpwuid(geteuid()).flatMap { $0.pointee.pw_dir }.map { String(rawCString: $0) }
        let homes = [environmentVariable("HOME"), known].compactMap { $0 }.filter { access($0, X_OK) == 0 }
        return ([environmentVariable("XDG_CACHE_HOME")].compactMap { $0 } + homes.map { $0 + "/.cache" })
            .filter { $0.hasPrefix("/") }
    }

    /// Makes a directory and those that it is in, as far as they are missing.
    ///
    /// - Parameter path: absolute.
    /// - Returns: The same without symbolic links.
    /// - Throws: ``BuildError/notPrivate(_:)`` where somebody else could put another one in its place;
    ///   ``BuildError/cannotWrite(_:errno:)``.
    static func make(_ path: String) throws(BuildError) -> String {
        var missing: [Substring] = []
        var parts = path.split(separator: "/")[...]
        var made: String?
        while true {
            made = resolvedPath("/" + parts.joined(separator: "/"))
            if made != nil { break }
            guard errno == ENOENT, let last = parts.popLast() else { throw .cannotWrite(path, errno: errno) }
            missing.append(last)
        }
        guard var made else { throw .cannotWrite(path, errno: ENOENT) }
        try check(made, isOwn: missing.isEmpty)
        for part in missing.reversed() {
            made = made == "/" ? "/\(part)" : "\(made)/\(part)"
            // Another compiler of this build may just have made it.
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else { throw .cannotWrite(made, errno: errno) }
        }
        try check(made, isOwn: true)
        return made
    }

    /// Checks a directory and those that it is in: each is this user's or root's, and only the owner can write there, or remove
    /// what is others'.
    ///
    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - isOwn: whether the directory itself has to be this user's.
    private static func check(_ path: String, isOwn: Bool) throws(BuildError) {
        var part = path.split(separator: "/")[...], isInnermost = true
        while true {
            let directory = "/" + part.joined(separator: "/")
            var status = stat()
            guard lstat(directory, &status) == 0 else { throw .cannotWrite(directory, errno: errno) }
            // Many users have a group of their own, in which nobody else is.
            let others = S_IWOTH | (status.st_gid == getegid() || status.st_gid == 0 ? 0 : S_IWGRP)
            let isOurs = status.st_uid == geteuid() || status.st_uid == 0 && !(isInnermost && isOwn)
            let isClosed = status.st_mode & others == 0 || status.st_mode & S_ISVTX != 0 && !(isInnermost && isOwn)
            guard status.st_mode & S_IFMT == S_IFDIR, isOurs, isClosed else { throw .notPrivate(directory) }
            isInnermost = false
            if part.popLast() == nil { return }
        }
    }
}
