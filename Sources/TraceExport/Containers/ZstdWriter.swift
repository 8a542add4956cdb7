internal import Glibc
internal import TraceText

/// Compresses what is written to it into one frame of Zstandard (RFC 8878), and passes that on.
///
/// The library is loaded when it is needed, and Fathom runs without it. Systems have it, since their package managers need it,
/// while its headers would be one more thing to build with. Its names and types here are its stable interface
/// (https://facebook.github.io/zstd/zstd_manual.html).
final class ZstdWriter: Compressor {
    /// `ZSTD_inBuffer` and `ZSTD_outBuffer`, which are alike.
    private struct Buffer {
        var bytes: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    private typealias Create = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer?) -> Int
    private typealias Compress =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int32) -> Int
    private typealias IsError = @convention(c) (Int) -> UInt32

    /// `ZSTD_EndDirective`.
    private enum Directive { static let (goOn, end) = (Int32(0), Int32(2)) }

    private let context: OpaquePointer
    private let compressStream: Compress
    private let isError: IsError
    private let release: Free
    private let output: ByteWriter
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)

    private(set) lazy var writer = ByteWriter { [unowned self] bytes in
        compress(bytes, Directive.goOn)
        return !output.isClosed
    }

    init(_ output: ByteWriter) throws(CompressionError) {
        self.output = output
        guard let library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL),
            let create = dlsym(library, "ZSTD_createCCtx"), let release = dlsym(library, "ZSTD_freeCCtx"),
            let compress = dlsym(library, "ZSTD_compressStream2"), let isError = dlsym(library, "ZSTD_isError"),
            let context = unsafeBitCast(create, to: Create.self)()
        else { throw .noZstd }
        self.context = context
        self.release = unsafeBitCast(release, to: Free.self)
        compressStream = unsafeBitCast(compress, to: Compress.self)
        self.isError = unsafeBitCast(isError, to: IsError.self)
    }

    deinit {
        _ = release(context)
        piece.deallocate()
    }

    func finish() {
        writer.flush()
        compress(UnsafeRawBufferPointer(start: nil, count: 0), Directive.end)
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ directive: Int32) {
        // The library does not write to its input, although the type here would allow it.
        var input = Buffer(bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress), size: bytes.count)
        var isDone = false
        while !isDone {
            var result = Buffer(bytes: piece.baseAddress, size: piece.count)
            let left = compressStream(context, &result, &input, directive)
            precondition(isError(left) == 0, "out of memory")
            output.write(UnsafeRawBufferPointer(rebasing: piece[..<result.position]))
            // What is left is a hint as long as there is more to come.
            isDone = directive == Directive.end ? left == 0 : input.position == input.size
        }
    }
}
