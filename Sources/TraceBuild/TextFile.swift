internal import Glibc
internal import TraceText

/// Whole files, read and written at once.
enum TextFile {
    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    static func bytes(_ path: String) throws(BuildError) -> [UInt8] {
        guard let file = fopen(path, "rbe") else { throw .cannotRead(path, errno: errno) }
        defer { fclose(file) }
        var status = stat()
        guard fstat(fileno(file), &status) == 0 else { throw .cannotRead(path, errno: errno) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        // Reads to the end, and not as much as the size says, because a pipe has no size.
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        guard ferror(file) == 0 else { throw .cannotRead(path, errno: errno) }
        return bytes
    }

    /// - Throws: ``BuildError/cannotRead(_:errno:)``.
    static func read(_ path: String) throws(BuildError) -> String { String(raw: try bytes(path)) }

    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func write(_ bytes: [UInt8], to path: String) throws(BuildError) {
        guard let file = fopen(path, "wbe") else { throw .cannotWrite(path, errno: errno) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw .cannotWrite(path, errno: errno) }
    }

    /// Writes a file that others may be reading: they find the old one or the new one, whole.
    ///
    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func replace(_ path: String, with text: String) throws(BuildError) {
        let temporary = "\(path).\(getpid())"
        try write(text, to: temporary)
        guard rename(temporary, path) == 0 else {
            let error = errno
            unlink(temporary)
            throw .cannotWrite(path, errno: error)
        }
    }

    /// - Throws: ``BuildError/cannotWrite(_:errno:)``.
    static func write(_ text: String, to path: String) throws(BuildError) { try write(text.rawBytes, to: path) }
}
