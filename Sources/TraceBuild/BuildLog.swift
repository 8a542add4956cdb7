internal import Glibc

/// What compilers tell `fathom build` of, in a file that each appends lines to.
struct BuildLog {
    /// One of the things that were built, and whether it has hooks.
    enum Entry: Hashable {
        /// A source of C or C++.
        case file(String, isHooked: Bool)
        /// A source of Swift.
        case swift(String)
        /// A directory with a Swift package.
        case package(String)
    }

    private let path: String

    init(path: String) { self.path = path }

    /// A new file.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func make() throws(BuildError) -> BuildLog {
        var template = Array("\(environmentVariable("TMPDIR") ?? "/tmp")/fathom-build-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0 else { throw .cannotWrite(path, errno: errno) }
        close(descriptor)
        return BuildLog(path: path)
    }

    /// Where it lies, for ``BuildOptions/log``.
    var location: String { path }

    /// When it was last written to, by the file system's clock.
    var time: timespec {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mtim : timespec()
    }

    func remove() { unlink(path) }

    /// Adds a line for each; a line is one write, so compilers that run at once do not mix theirs.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    func append(_ entries: [Entry]) throws(BuildError) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }  // the build is over, and this compiler was left behind
        defer { close(descriptor) }
        for entry in entries {
            let line = Self.line(entry) + "\n"
            guard write(descriptor, line, line.utf8.count) == line.utf8.count else {
                throw .cannotWrite(path, errno: errno)
            }
        }
    }

    /// What was built, each once however often it was.
    ///
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    func entries() throws(BuildError) -> Set<Entry> {
        Set(try TextFile.read(path).split(separator: "\n").compactMap(Self.entry))
    }

    private static func line(_ entry: Entry) -> String {
        switch entry {
        case .file(let path, let isHooked): (isHooked ? "+ " : "- ") + path
        case .swift(let path): "s " + path
        case .package(let path): "p " + path
        }
    }

    private static func entry(_ line: Substring) -> Entry? {
        let path = String(line.dropFirst(2))
        switch line.first {
        case "+": return .file(path, isHooked: true)
        case "-": return .file(path, isHooked: false)
        case "s": return .swift(path)
        case "p": return .package(path)
        default: return nil
        }
    }
}
