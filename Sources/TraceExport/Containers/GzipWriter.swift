internal import CZlib
internal import TraceText

/// Compresses what is written to it and passes it on, as one gzip member (RFC 1952).
final class GzipWriter {
    private var stream = z_stream()
    private let output: ByteWriter
    private var piece = [UInt8](repeating: 0, count: 1 << 16)

    /// What takes the bytes to compress. It has to be flushed before ``finish()``.
    private(set) lazy var writer = ByteWriter { [unowned self] bytes in
        compress(bytes, Z_NO_FLUSH)
        return !output.isClosed
    }

    init(_ output: ByteWriter) {
        self.output = output
        // 15 bits of window, and 16 for a gzip header. That fails for want of memory alone.
        let status = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "out of memory")
    }

    deinit { deflateEnd(&stream) }

    /// Ends the member.
    func finish() {
        writer.flush()
        compress(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH)
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ mode: Int32) {
        // zlib does not write to its input, though its type lets it.
        stream.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(bytes.count)
        repeat {
            piece.withUnsafeMutableBytes { piece in
                stream.next_out = piece.bindMemory(to: UInt8.self).baseAddress
                stream.avail_out = UInt32(piece.count)
                deflate(&stream, mode)
                output.write(UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - Int(stream.avail_out))]))
            }
        } while stream.avail_out == 0
    }
}
