internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// The `index` file: the headers of the log's chunks, in their order, in one piece. Whoever opens a long log reads it
/// instead of going from chunk to chunk through the log, most of which may be on a slow disk.
///
/// It may tell of fewer chunks than the log has, and short logs have none.
struct LogIndex {
    private let file: PlainFile
    /// The number of headers.
    let count: Int

    /// - Parameter logSum: the log's `start_sum`. The index of another log is none.
    init?(in directory: String, logSum: UInt64) {
        guard let file = try? PlainFile(path: "\(directory)/\(SessionFile.index.name)") else { return nil }
        var header = fathom_index_header()
        guard file.read(&header, at: 0), header.magic == FATHOM_INDEX_MAGIC, header.log_sum == logSum,
            Int(header.chunk_header_size) == Chunk.headerSize
        else { return nil }
        self.file = file
        count = (file.size - MemoryLayout<fathom_index_header>.size) / Chunk.headerSize
    }

    /// Hands over the headers in order, until `body` returns false.
    func forEach(_ body: (fathom_chunk) -> Bool) {
        var headers = [fathom_chunk](repeating: fathom_chunk(), count: min(count, 1024))
        for first in stride(from: 0, to: count, by: 1024) {
            let size = min(count - first, 1024),
                offset = MemoryLayout<fathom_index_header>.size + first * Chunk.headerSize
            let isRead = headers.withUnsafeMutableBytes {
                file.read(UnsafeMutableRawBufferPointer(rebasing: $0[..<(size * Chunk.headerSize)]), at: offset)
            }
            guard isRead else { return }
            for header in headers[..<size] where !body(header) { return }
        }
    }
}

/// Writes the `index` of a log that has grown long. What it cannot write, it leaves: a reader finds the rest in the log.
final class LogIndexWriter {
    private let directory: SessionDirectory
    private let logSum: UInt64
    private var descriptor: Int32 = -1
    /// What is not written yet.
    private var headers: [fathom_chunk] = []
    private var hasFailed = false

    /// The size in bytes from which on a log has an index.
    static let leastLog: UInt64 = 16 << 20

    init(in directory: SessionDirectory, logSum: UInt64) {
        self.directory = directory
        self.logSum = logSum
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds the headers of chunks that were appended to the log, which is `logSize` bytes long now.
    func add(_ new: ArraySlice<fathom_chunk>, logSize: UInt64) {
        if hasFailed { return }
        headers += new
        guard logSize >= Self.leastLog else { return }
        hasFailed = (descriptor < 0 && !begin()) || headers.withUnsafeBytes { writeAll($0, to: descriptor) } != 0
        headers.removeAll(keepingCapacity: !hasFailed)
    }

    private func begin() -> Bool {
        descriptor = (try? directory.create(SessionFile.index.name, O_WRONLY)) ?? -1
        guard descriptor >= 0 else { return false }
        let header = fathom_index_header(
            magic: FATHOM_INDEX_MAGIC, log_sum: logSum, chunk_header_size: UInt32(Chunk.headerSize), reserved: 0)
        return withUnsafeBytes(of: header) { writeAll($0, to: descriptor) } == 0
    }
}
