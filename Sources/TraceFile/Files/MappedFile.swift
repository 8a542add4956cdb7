internal import Glibc

/// A file mapped read-only into memory.
///
/// The mapping is shared, so what other processes write within the mapped size shows through.
public final class MappedFile {
    /// First byte of the mapping; meaningless when ``size`` is 0.
    public let start: UnsafeRawPointer
    /// The number of bytes mapped, which is the file's size when it was opened.
    public let size: Int
    /// Bytes the file takes on disk or in memory; less than `size` when it has holes.
    public let allocatedSize: Int
    private let file: PlainFile
    private static let releaseSize = 4 << 20
    /// The size of what Linux maps around a fault: 64 KiB (fault_around_bytes).
    private static let neighbourhood = 64 << 10

    /// Maps all of the file at `path`.
    ///
    /// - Throws: ``TraceFileError/unreadable(path:errno:)``, ``TraceFileError/notAFile(path:)``.
    public convenience init(path: String) throws(TraceFileError) {
        try self.init(PlainFile(path: path), path: path)
    }

    /// Maps all of a file that is open.
    init(_ file: PlainFile, path: String) throws(TraceFileError) {
        self.file = file
        size = file.size
        allocatedSize = file.allocatedSize
        guard size > 0 else {
            start = UnsafeRawPointer(bitPattern: 1)!
            return
        }
        guard let address = mmap(nil, size, PROT_READ, MAP_SHARED, file.descriptor, 0), address != MAP_FAILED else {
            throw .unreadable(path: path, errno: errno)
        }
        start = UnsafeRawPointer(address)
    }

    deinit {
        if size > 0 { munmap(UnsafeMutableRawPointer(mutating: start), size) }
    }

    /// Reads a value that is nothing but bytes, without mapping its pages.
    ///
    /// - Returns: Whether the file holds that much at `offset`.
    func read<Value: BitwiseCopyable>(_ value: inout Value, at offset: Int) -> Bool { file.read(&value, at: offset) }

    /// What one reader has read and not given back yet: where it starts and how many bytes it has.
    struct ReadStretch {
        fileprivate var start = 0
        fileprivate var end = 0
        fileprivate var size = 0
    }

    /// Says that the reader of `stretch` has read `bytes` and does not need them for now. They may be read again.
    ///
    /// Pages are given back to the system a few megabytes at a time. A fault maps its neighbours too, so if each chunk
    /// were given back alone, the next one would map most of its pages again. Pages that other readers use in between
    /// may go as well, which costs those readers a fault.
    ///
    /// - Parameter isLast: whether the reader is through, so that all that is left is given back.
    func release(_ bytes: UnsafeRawBufferPointer, of stretch: inout ReadStretch, isLast: Bool) {
        guard let base = bytes.baseAddress, base >= start, base + bytes.count <= start + size else { return }
        let first = base - start
        // Chunks of a thread are nearly in order in the log. One that is far back begins another pass.
        if stretch.size == 0 || first < stretch.start - MappedFile.releaseSize {
            giveBack(stretch)
            stretch = ReadStretch(start: first, end: first)
        }
        stretch.start = min(stretch.start, first)
        stretch.end = max(stretch.end, first + bytes.count)
        stretch.size += bytes.count
        guard stretch.size >= MappedFile.releaseSize || isLast else { return }
        giveBack(stretch)
        stretch = ReadStretch()
    }

    private func giveBack(_ stretch: ReadStretch) {
        guard stretch.size > 0 else { return }
        let low = max(stretch.start - MappedFile.neighbourhood, 0) & ~4095
        let high = (stretch.end + 4095) & ~4095
        madvise(UnsafeMutableRawPointer(mutating: start + low), high - low, MADV_DONTNEED)
    }

    /// The whole file as bytes.
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: size) }
}
