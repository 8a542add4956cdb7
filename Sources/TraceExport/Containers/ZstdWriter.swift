internal import CZstd
internal import TraceText

/// Compresses what is written to it into one frame of Zstandard (RFC 8878), and passes that on.
final class ZstdWriter: Compressor {
    private let context: OpaquePointer
    private let output: ByteWriter
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)

    private(set) lazy var writer = ByteWriter { [unowned self] bytes in
        compress(bytes, ZSTD_e_continue)
        return !output.isClosed
    }

    init(_ output: ByteWriter) {
        self.output = output
        guard let context = ZSTD_createCCtx() else { preconditionFailure("out of memory") }
        self.context = context
    }

    deinit {
        ZSTD_freeCCtx(context)
        piece.deallocate()
    }

    func finish() {
        writer.flush()
        compress(UnsafeRawBufferPointer(start: nil, count: 0), ZSTD_e_end)
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ directive: ZSTD_EndDirective) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isDone = false
        while !isDone {
            var result = ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
            let left = ZSTD_compressStream2(context, &result, &input, directive)
            precondition(ZSTD_isError(left) == 0, "out of memory")
            output.write(UnsafeRawBufferPointer(rebasing: piece[..<result.pos]))
            // What is left is a hint as long as there is more to come.
            isDone = directive == ZSTD_e_end ? left == 0 : input.pos == input.size
        }
    }
}
