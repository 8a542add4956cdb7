internal import Glibc

/// A file that is open for reading.
final class PlainFile {
    let descriptor: Int32
    /// In bytes, when it was opened.
    let size: Int
    /// Bytes the file takes on disk or in memory; less than `size` when it has holes.
    let allocatedSize: Int

    /// - Throws: ``TraceFileError/unreadable(path:errno:)``, ``TraceFileError/notAFile(path:)``.
    init(path: String) throws(TraceFileError) {
        // Without O_NONBLOCK, opening a pipe that has no writer would wait for one.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
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
}
