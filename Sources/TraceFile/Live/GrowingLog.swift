internal import CTraceFormat
internal import Glibc

/// A log that the recorder still writes, read once from its beginning to where it ends now, and so on.
///
/// It is read into memory and not mapped, so that what was read takes no memory any more.
final class GrowingLog {
    private let descriptor: Int32
    /// Where the first chunk begins that was not read yet.
    private var offset = MemoryLayout<fathom_trace_header>.size
    private var buffer: UnsafeMutableRawBufferPointer
    /// Reads a packed log; nil for a plain one.
    private let packed: GrowingPackedLog?
    /// Bytes that were no chunks.
    private(set) var skipped = 0

    /// Chunks fit into a slot, and a slot is at most 4 MB.
    private static let bufferSize = 8 << 20

    /// - Throws: ``TraceFileError/unreadable(path:errno:)``.
    init(path: String) throws(TraceFileError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        buffer = .allocate(byteCount: GrowingLog.bufferSize, alignment: 8)
        packed = GrowingPackedLog(path: path)
        if let packed { offset = packed.start }
    }

    deinit {
        buffer.deallocate()
        close(descriptor)
    }

    /// The bytes that are there now and were not read.
    var rest: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? max(Int(status.st_size) - offset, 0) : 0
    }

    /// The part of the log that was read, 0...1.
    var part: Double { offset == 0 ? 1 : Double(offset) / Double(offset + rest) }

    /// Reads the next chunks, some megabytes of them. They are there until the next call.
    ///
    /// - Parameter isThrough: whether no recorder writes any more, so that a chunk that is not whole will stay so.
    func read(isThrough: Bool) -> [Chunk] {
        if let packed { return packed.read(from: &offset, skipped: &skipped) }
        let size = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        guard size > 0 else { return [] }
        let start = UnsafeRawPointer(buffer.baseAddress!)
        var chunks: [Chunk] = [], place = 0
        while size - place >= Chunk.headerSize {
            let found = Chunk(
                at: start + place, available: size - place, file: TraceLog.name, offset: UInt64(offset + place))
            guard let chunk = found else {
                let header = (start + place).loadUnaligned(as: fathom_chunk.self)
                let end = place + Chunk.headerSize + Int(header.used)
                // Not even its path is there yet.
                if header.magic == FATHOM_CHUNK_MAGIC, end > size, end - place <= buffer.count, place > 0 || !isThrough
                {
                    break
                }
                // No chunk is begun there. All begin at multiples of 8.
                place += 8
                skipped += 8
                continue
            }
            if chunk.isTruncated {
                // It is read again, from its beginning, when more of it is there, or in the next piece.
                if place > 0 || !isThrough { break }
                skipped += chunk.size
                place = size
                break
            }
            chunks.append(chunk)
            place += chunk.stride
        }
        offset += min(place, size)
        return chunks
    }
}
