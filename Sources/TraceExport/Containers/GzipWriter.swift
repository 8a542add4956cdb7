internal import CZlib
internal import TraceText

/// Compresses what is written to it into one gzip member (RFC 1952), and passes that on.
final class GzipWriter: Compressor {
    private var stream = z_stream()
    private let output: ByteWriter
    private var piece = [UInt8](repeating: 0, count: 1 << 16)

    private(set) lazy var writer = ByteWriter { [unowned self] bytes in
        compress(bytes, Z_NO_FLUSH)
        return !output.isClosed
    }

    /// - Parameter level: 1 is quick, 9 makes small files.
    init(_ output: ByteWriter, level: Int32 = Z_DEFAULT_COMPRESSION) {
        self.output = output
        // 15 stands for a window of 32 KiB, and adding 16 asks for a gzip header. Only want of memory makes this fail.
        let status = deflateInit2_(
            &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "out of memory")
    }

    /// `bytes` as a member by themselves, made quickly.
    static func member(of bytes: [UInt8]) -> [UInt8] {
        ByteWriter.bytes { output in
            let gzip = GzipWriter(output, level: 1)
            gzip.writer.write(bytes)
            gzip.finish()
        }
    }

    deinit { deflateEnd(&stream) }

    func finish() {
        writer.flush()
        compress(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH)
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ mode: Int32) {
        // zlib does not write to its input, although the type would allow it.
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
