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
        var found: [BareObject] = []
        walk(region(of: built, in: directory), in: directory, where: { $0.hasSuffix(".o") }) { path, status in
            guard isAt(status.st_mtim, orAfter: start) else { return true }
            let object = ObjectInspection("\(directory)/\(path)")
            if !object.withoutHookOptions.isEmpty {
                found.append(BareObject(path: path, language: object.otherLanguages.first))
            }
            return true
        }
        return found.sorted { $0.path < $1.path }
    }

    /// What lies in a tree.
    enum Content: Equatable {
        /// Something with hooks.
        case hooks
        /// Only what has none, such as that file.
        case bare(String)
        /// Neither objects nor new programs.
        case nothing
    }

    /// Finds out whether something in a tree has hooks: objects, whenever they were made, and programs that were made at `start`
    /// or later, by whichever compiler.
    ///
    /// - Parameter place: relative to `directory` unless absolute; so is the path in the answer.
    /// - Complexity: as ``objectsWithoutHooks(of:in:since:)``, up to the first file with hooks.
    static func content(of place: String, in directory: String, since start: timespec) -> Content {
        let place = PathText.relative(absolutePath(place, in: directory), to: directory)
        var content = Content.nothing
        walk(place == directory ? "" : place, in: directory) { path, status in
            let file = path.hasPrefix("/") ? path : "\(directory)/\(path)"
            if path.hasSuffix(".o") {
                let object = ObjectInspection(file)
                if object.mayCallHooks || object.holdsHookedSwift { content = .hooks }
                if content == .nothing, !object.withoutHookOptions.isEmpty { content = .bare(path) }
            } else if status.st_mode & 0o111 != 0, isAt(status.st_mtim, orAfter: start),
                let program = try? ExecutableInspection.inspect(path: file),
                [.elfStatic, .elfDynamic].contains(program.kind)
            {
                if program.isInstrumented { content = .hooks }
                if content == .nothing { content = .bare(path) }
            }
            return content != .hooks
        }
        return content
    }

    /// The directory that a command builds in, as it names it: by `-C`, `-B` or `--build`. Nil where it names none.
    static func place(of command: [String]) -> String? {
        zip(command, command.dropFirst()).first { ["-C", "-B", "--build"].contains($0.0) }?.1
    }

    /// Goes through the regular files below a directory; links and other file systems are not followed.
    ///
    /// - Parameters:
    ///   - place: relative to `directory` unless absolute.
    ///   - isWanted: tells of a file's name whether to visit it.
    ///   - visit: gets a file's path, as relative as `place`, and returns whether to go on.
    private static func walk(
        _ place: String, in directory: String, where isWanted: (String) -> Bool = { _ in true },
        visit: (String, stat) -> Bool
    ) {
        let absolute = { (path: String) in path.hasPrefix("/") ? path : "\(directory)/\(path)" }
        var status = stat()
        guard lstat(absolute(place), &status) == 0 else { return }
        let device = status.st_dev
        var seen = 0
        var pending = [place]
        while let folder = pending.popLast() {
            let files = Directory.entries(of: absolute(folder)) ?? []
            if files.contains(where: { $0.name == "workspace-state.json" }) { continue }
            for (name, type) in files {
                seen += 1
                guard seen <= limit else { return }
                let path = folder.isEmpty ? name : folder + "/" + name
                let isFile = type == DT_REG && isWanted(name)
                guard isFile || type == DT_DIR || type == DT_UNKNOWN, lstat(absolute(path), &status) == 0 else {
                    continue
                }
                if status.st_mode & S_IFMT == S_IFDIR {
                    if status.st_dev == device { pending.append(path) }
                } else if status.st_mode & S_IFMT == S_IFREG, isWanted(name), !visit(path, status) {
                    return
                }
            }
        }
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
                case .package(let path), .products(let path), .directory(let path): path + "/"
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
