internal import Glibc

/// A directory of its own for one test, removed with everything in it when the last reference goes.
public final class TemporaryDirectory {
    /// Absolute, without a trailing slash and without symbolic links.
    public let path: String

    /// - Parameter name: becomes part of the directory's name; may hold spaces.
    /// - Throws: ``TestSupportError`` when the directory cannot be made.
    public init(_ name: String = "fathom-test") throws(TestSupportError) {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(root)/\(name).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, let resolved = realpath(template, nil) else {
            throw .failed("mkdtemp in \(root)", errno: errno)
        }
        defer { free(resolved) }
        path = String(cString: resolved)
    }

    deinit { removeTree(path) }

    /// The absolute path of `name` in this directory.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a directory, and those above it, below this one.
    ///
    /// - Returns: its absolute path.
    @discardableResult
    public func makeDirectory(_ name: String) throws(TestSupportError) -> String {
        var made = path
        for component in name.split(separator: "/") {
            made += "/\(component)"
            guard mkdir(made, 0o755) == 0 || errno == EEXIST else { throw .failed("mkdir \(made)", errno: errno) }
        }
        return made
    }

    /// Writes a file in this directory.
    ///
    /// - Returns: its absolute path.
    @discardableResult
    public func write(_ text: String, to name: String) throws(TestSupportError) -> String {
        try writeFile(Array(text.utf8), to: file(name))
        return file(name)
    }
}

/// Creates or replaces the file at `path`, mode 0644.
public func writeFile(_ bytes: [UInt8], to path: String) throws(TestSupportError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
    defer { close(descriptor) }
    try writeAll(bytes, to: descriptor, name: path)
}

/// All bytes of the file at `path`.
public func readFile(_ path: String) throws(TestSupportError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
    defer { close(descriptor) }
    return try readAll(descriptor, name: path)
}

private func removeTree(_ path: String) {
    if remove(path) == 0 || errno != ENOTEMPTY && errno != EEXIST { return }
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { removeTree("\(path)/\(name)") }
    }
    closedir(directory)
    remove(path)
}

func writeAll(_ bytes: [UInt8], to descriptor: Int32, name: String) throws(TestSupportError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw .failed("write \(name)", errno: errno) }
        rest = rest.dropFirst(count)
    }
}

func readAll(_ descriptor: Int32, name: String) throws(TestSupportError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &piece, piece.count)
        guard count >= 0 else { throw .failed("read \(name)", errno: errno) }
        if count == 0 { return bytes }
        bytes += piece[..<count]
    }
}

/// What went wrong while a test was being set up.
public enum TestSupportError: Error, CustomStringConvertible {
    case failed(String, errno: Int32)
    case compilerFailed(command: String, stderr: String)
    /// What a program printed has fewer parts than it should.
    case tooShort(String)

    public var description: String {
        switch self {
        case .failed(let what, let code): "\(what): \(String(cString: strerror(code)))"
        case .compilerFailed(let command, let stderr): "\(command)\n\(stderr)"
        case .tooShort(let what): what
        }
    }
}
