internal import Glibc
internal import TraceSymbols
internal import TraceSystem
internal import TraceText

/// The files that a build leaves behind.
enum BuildTree {
    /// At most this many files and directories are looked at, because a build may be started far above what it builds.
    static let limit = 200_000

    /// An object without hooks.
    struct BareObject {
        let path: String
        /// Of the source, where that language gets no hooks.
        let language: String?
    }

    /// Finds objects below a directory that were made at `start` or later by a compiler that went past Fathom, because
    /// it was called by its full path. Links and other file systems are not followed. Packages of Swift are passed
    /// over: they look after themselves.
    ///
    /// - Returns: objects by paths relative to the directory, ascending.
    /// - Complexity: O(files and directories), a system call each; objects that are new are read.
    ///
    /// Only directories in which this build is known to have worked are searched, because another build may run
    /// elsewhere below the directory.
    static func objectsWithoutHooks(
        of built: Set<BuildLog.Entry>, in directory: String, since start: timespec
    ) -> [BareObject] {
        var status = stat()
        let place = region(of: built, in: directory)
        guard lstat("\(directory)/\(place)", &status) == 0 else { return [] }
        let device = status.st_dev
        var found: [BareObject] = []
        var seen = 0
        var pending = [place]
        while let folder = pending.popLast() {
            let files = Directory.entries(of: directory + "/" + folder) ?? []
            if files.contains(where: { $0.name == "workspace-state.json" }) { continue }
            for (name, type) in files {
                seen += 1
                guard seen <= limit else { return found.sorted { $0.path < $1.path } }
                let path = folder.isEmpty ? name : folder + "/" + name
                let isFile = type == DT_REG && name.hasSuffix(".o")
                guard isFile || type == DT_DIR || type == DT_UNKNOWN, lstat("\(directory)/\(path)", &status) == 0 else {
                    continue
                }
                if status.st_mode & S_IFMT == S_IFDIR {
                    if status.st_dev == device { pending.append(path) }
                } else if status.st_mode & S_IFMT == S_IFREG, name.hasSuffix(".o"), isAt(status.st_mtim, orAfter: start)
                {
                    let object = ObjectInspection("\(directory)/\(path)")
                    if !object.withoutHookOptions.isEmpty {
                        found.append(BareObject(path: path, language: object.otherLanguages.first))
                    }
                }
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// The innermost directory that holds the compiled sources, the directories they were compiled in, and those that
    /// the results were put into. The path is relative to `directory`.
    static func region(of built: Set<BuildLog.Entry>, in directory: String) -> String {
        var common: [Substring]?
        for entry in built {
            let path =
                switch entry {
                case .file(let path, _), .swift(let path), .probe(let path):
                    directoryPart(path)
                case .package(let path), .directory(let path): path + "/"
                }
            guard path.hasPrefix(directory + "/") else { continue }
            let parts = path.dropFirst(directory.count).split(separator: "/")
            common = common.map { known in zip(known, parts).prefix { $0 == $1 }.map(\.0) } ?? parts
        }
        return common?.joined(separator: "/") ?? ""
    }

    private static func isAt(_ time: timespec, orAfter start: timespec) -> Bool {
        (time.tv_sec, time.tv_nsec) >= (start.tv_sec, start.tv_nsec)
    }
}
