internal import CTraceFormat
internal import Glibc

/// The `trace` file: chunks, appended as they are drained.
final class TraceLog {
    private(set) var bytes: UInt64
    /// The first write that failed; later ones are tried all the same.
    private(set) var error: Int32?
    private let descriptor: Int32

    init(in directory: SessionDirectory, clock: SessionClock, startRealtime: UInt64) throws(RecordingError) {
        descriptor = try directory.create("trace", O_WRONLY)
        var header = fathom_trace_header()
        header.magic = FATHOM_TRACE_MAGIC
        header.version = FATHOM_FORMAT_VERSION
        header.header_size = UInt32(MemoryLayout<fathom_trace_header>.size)
        header.chunk_header_size = UInt32(MemoryLayout<fathom_chunk>.size)
        header.clock = clock.kind
        header.start_ticks = clock.start.ticks
        header.start_ns = clock.start.nanoseconds
        header.ticks_per_second = clock.ticksPerSecond
        header.start_realtime_ns = startRealtime
        bytes = UInt64(MemoryLayout<fathom_trace_header>.size)
        let error = writeAll(withUnsafeBytes(of: header) { Array($0) }, to: descriptor)
        guard error == 0 else { throw .cannotCreate(path: directory.file("trace"), errno: error) }
    }

    deinit { close(descriptor) }

    /// Bytes that a chunk takes in the log.
    static func size(of header: fathom_chunk) -> UInt64 {
        UInt64(MemoryLayout<fathom_chunk>.size) + UInt64(header.used + 7) & ~7
    }

    /// Fills in the end of the file header, in place: a full disk does not matter.
    func complete(_ losses: (unplacedCalls: UInt64, unwrittenCalls: UInt64, leftOutCalls: UInt64)) {
        var tail = (
            losses.unplacedCalls, losses.unwrittenCalls, losses.leftOutCalls, UInt32(bitPattern: error ?? 0), UInt32(1)
        )
        let offset = MemoryLayout<fathom_trace_header>.offset(of: \.unplaced_calls)!
        _ = withUnsafeBytes(of: &tail) { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
    }

    /// Appends a chunk: its header sealed, its payload, padding to 8 bytes.
    ///
    /// A chunk that does not fit is taken back whole, so that the file stays readable.
    ///
    /// - Returns: Whether it was written.
    func append(_ header: fathom_chunk, payload: UnsafeRawPointer) -> Bool {
        var header = header
        let used = Int(header.used)
        header.flags |= UInt8(FATHOM_FLAG_SEALED)
        header.payload_sum = fathom_sum(payload, used)
        let sumOffset = MemoryLayout<fathom_chunk>.offset(of: \.header_sum)!
        header.header_sum = withUnsafeBytes(of: &header) { fathom_sum($0.baseAddress, sumOffset) }
        var padding: UInt64 = 0
        let size = Int(Self.size(of: header))
        let written = withUnsafeMutableBytes(of: &header) { head in
            withUnsafeMutableBytes(of: &padding) { tail in
                let parts = [
                    iovec(iov_base: head.baseAddress, iov_len: head.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: payload), iov_len: used),
                    iovec(iov_base: tail.baseAddress, iov_len: (used + 7) & ~7 - used),
                ]
                return writev(descriptor, parts, 3)
            }
        }
        guard written == size else {
            error = error ?? (written < 0 ? errno : ENOSPC)
            if written > 0 {
                ftruncate(descriptor, Int(bytes))
                lseek(descriptor, Int(bytes), SEEK_SET)
            }
            return false
        }
        bytes += UInt64(size)
        return true
    }
}
