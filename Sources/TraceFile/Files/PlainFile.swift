internal import CTraceFormat
internal import Glibc

/// A file that is open for reading.
final class PlainFile {
    let descriptor: Int32
    /// In bytes, when it was opened.
    let size: Int
    /// Bytes the file takes on disk or in memory; less than `size` when it has holes.
    let allocatedSize: Int

    /// - Throws: ``TraceFileError/unreadable(path:errno:)``, ``TraceFileError/notAFile(path:)``.
    convenience init(path: String) throws(TraceFileError) {
        // Without O_NONBLOCK, opening a pipe that has no writer would wait for one.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        try self.init(descriptor, path: path)
    }

    /// - Parameter descriptor: becomes this object's.
    init(_ descriptor: Int32, path: String) throws(TraceFileError) {
        self.descriptor = descriptor
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        size = Int(status.st_size)
        allocatedSize = Int(status.st_blocks) * 512
        guard isKnown else { throw .unreadable(path: path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads `buffer` full from `offset`. Holes read as zeros, and stay holes. Where the file system is full, touching
    /// a mapped hole would raise SIGBUS.
    ///
    /// - Returns: Whether the file holds that much.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        buffer.isEmpty || pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) == buffer.count
    }

    /// Reads a value that is nothing but bytes.
    func read<Value: BitwiseCopyable>(_ value: inout Value, at offset: Int) -> Bool {
        withUnsafeMutableBytes(of: &value) { read($0, at: offset) }
    }

    /// Whether the file has `size` bytes by now.
    func reaches(_ size: Int) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && Int(status.st_size) >= size
    }

    /// The next stretch from `start` on that is no hole; nil when there is none.
    func nextData(from start: Int) -> Range<Int>? {
        guard start < size else { return nil }
        let data = lseek(descriptor, off_t(start), FATHOM_SEEK_DATA)
        // A file system that knows no holes has all of it.
        if data < 0 { return errno == ENXIO ? nil : start..<size }
        let hole = lseek(descriptor, data, FATHOM_SEEK_HOLE)
        return Int(data)..<max(hole < 0 ? size : min(Int(hole), size), Int(data))
    }
}
