internal import Glibc
internal import TraceSystem
internal import TraceText

/// A file in which compilers tell `fathom build` what they built: each appends lines to it.
struct BuildLog {
    /// One of the things that were built, and whether it has hooks.
    enum Entry: Hashable {
        /// A source of C or C++.
        case file(String, isHooked: Bool)
        /// A source of Swift.
        case swift(String)
        /// A source that was compiled only to find out what the compiler can do.
        case probe(String)
        /// A directory with a Swift package.
        case package(String)
        /// The directory that a package's programs are in.
        case products(String)
        /// A directory that something was compiled in, or into.
        case directory(String)
    }

    private let path: String

    init(path: String) { self.path = path }

    /// A new file, in a directory of its own.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func make() throws(BuildError) -> BuildLog {
        let directory: String
        do throws(SystemError) { directory = try Directory.makeTemporary("fathom-build") } catch {
            throw .cannotWrite("\(error.subject)/fathom-build-XXXXXX", errno: error.errno)
        }
        try TextFile.write("", to: directory + "/log")
        return BuildLog(path: directory + "/log")
    }

    /// Where it lies, for ``BuildOptions/log``.
    var location: String { path }

    /// When it was last written to, by the file system's clock.
    var time: timespec {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mtim : timespec()
    }

    /// The path of a file in which compilers of this build keep the answer to a question, so that the others need not
    /// ask again; nil when the build is over.
    ///
    /// - Parameter question: what the answer depends on.
    func note(on question: [String]) -> String? {
        access(path, F_OK) == 0 ? "\(directory)/\(StandIns.key(question))" : nil
    }

    private var directory: String { String(directoryPart(path).dropLast()) }

    func remove() {
        for name in (Directory.names(in: directory) ?? []) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    /// Adds a line for each entry. A line is one write, so compilers that run at the same time do not mix their lines.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    func append(_ entries: [Entry]) throws(BuildError) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }  // the build is over, and this compiler was left behind
        defer { close(descriptor) }
        // By then the name may be another user's, who makes it another name of what only we may write to.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else { return }
        for entry in entries {
            let line = (Self.line(entry) + "\n").rawBytes
            guard write(descriptor, line, line.count) == line.count else {
                throw .cannotWrite(path, errno: errno)
            }
        }
    }

    /// All that was built, each thing once however often it was built.
    ///
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    func entries() throws(BuildError) -> Set<Entry> {
        Set(try TextFile.read(path).split(separator: "\n").compactMap(Self.entry))
    }

    private static func line(_ entry: Entry) -> String {
        switch entry {
        case .file(let path, let isHooked): (isHooked ? "+ " : "- ") + path
        case .swift(let path): "s " + path
        case .probe(let path): "? " + path
        case .package(let path): "p " + path
        case .products(let path): "o " + path
        case .directory(let path): "d " + path
        }
    }

    private static func entry(_ line: Substring) -> Entry? {
        let path = String(line.dropFirst(2))
        switch line.first {
        case "+": return .file(path, isHooked: true)
        case "-": return .file(path, isHooked: false)
        case "s": return .swift(path)
        case "?": return .probe(path)
        case "p": return .package(path)
        case "o": return .products(path)
        case "d": return .directory(path)
        default: return nil
        }
    }
}
