internal import Glibc
internal import TraceSymbols

/// The files that a build leaves behind.
enum BuildTree {
    /// How many files and directories are looked at: a build may be started far above what it builds.
    static let limit = 200_000

    /// Objects below a directory that compilers made at `start` or later, but not with hooks in mind: by a compiler that was
    /// called by its full path. Links and other file systems are not followed, and packages of Swift look after themselves.
    ///
    /// - Returns: paths relative to the directory, ascending.
    /// - Complexity: O(files and directories), a system call each; objects that are new are read.
    ///
    /// Only where the build was at work as far as that is known: another one may run elsewhere below the directory.
    static func objectsWithoutHooks(
        of built: Set<BuildLog.Entry>, in directory: String, since start: timespec
    ) -> [String] {
        var status = stat()
        let place = region(of: built, in: directory)
        guard lstat("\(directory)/\(place)", &status) == 0 else { return [] }
        let device = status.st_dev
        var found: [String] = []
        var seen = 0
        var pending = [place]
        while let folder = pending.popLast() {
            let files = entries(of: directory + "/" + folder)
            if files.contains(where: { $0.name == "workspace-state.json" }) { continue }
            for (name, type) in files {
                seen += 1
                guard seen <= limit else { return found.sorted() }
                let path = folder.isEmpty ? name : folder + "/" + name
                let isFile = type == DT_REG && name.hasSuffix(".o")
                guard isFile || type == DT_DIR || type == DT_UNKNOWN, lstat("\(directory)/\(path)", &status) == 0 else {
                    continue
                }
                if status.st_mode & S_IFMT == S_IFDIR {
                    if status.st_dev == device { pending.append(path) }
                } else if status.st_mode & S_IFMT == S_IFREG, name.hasSuffix(".o"), isAt(status.st_mtim, orAfter: start)
                {
                    if !ObjectInspection("\(directory)/\(path)").withoutHookOptions.isEmpty { found.append(path) }
                }
            }
        }
        return found.sorted()
    }

    /// The innermost directory below `directory` with all that was compiled, where that was done, and where it was put;
    /// relative to it.
    static func region(of built: Set<BuildLog.Entry>, in directory: String) -> String {
        var common: [Substring]?
        for entry in built {
            let path =
                switch entry {
                case .file(let path, _), .swift(let path): String(path.dropLast(lastComponent(path).utf8.count))
                case .package(let path), .directory(let path): path + "/"
                }
            guard path.hasPrefix(directory + "/") else { continue }
            let parts = path.dropFirst(directory.utf8.count).split(separator: "/")
            common = common.map { known in zip(known, parts).prefix { $0 == $1 }.map(\.0) } ?? parts
        }
        return common?.joined(separator: "/") ?? ""
    }

    private static func isAt(_ time: timespec, orAfter start: timespec) -> Bool {
        (time.tv_sec, time.tv_nsec) >= (start.tv_sec, start.tv_nsec)
    }

    static func entries(of directory: String) -> [(name: String, type: Int)] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var entries: [(name: String, type: Int)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name.0) { String(cString: $0) }
            if name != ".", name != ".." { entries.append((name, Int(entry.pointee.d_type))) }
        }
        return entries
    }
}
