package import CTraceFormat
internal import Glibc

/// Writes the `trace` file, to which chunks are appended as they are drained.
package final class TraceLogWriter {
    package private(set) var bytes: UInt64
    /// The error of the first write that failed. Later writes are tried all the same.
    package private(set) var error: Int32?
    private let descriptor: Int32
    private var header = fathom_trace_header()

    package init(in directory: SessionDirectory, clock: SessionClock, startRealtime: UInt64) throws(SessionFileError) {
        descriptor = try directory.create(SessionFile.trace.name, O_WRONLY)
        header.magic = FATHOM_TRACE_MAGIC
        header.version = FATHOM_FORMAT_VERSION
        header.header_size = UInt32(MemoryLayout<fathom_trace_header>.size)
        header.chunk_header_size = UInt32(MemoryLayout<fathom_chunk>.size)
        header.clock = clock.kind
        header.start_ticks = clock.start.ticks
        header.start_ns = clock.start.nanoseconds
        header.ticks_per_second = clock.ticksPerSecond
        header.start_realtime_ns = startRealtime
        header.start_sum = fathom_start_sum(header)
        header.end_sum = fathom_end_sum(header)
        bytes = UInt64(MemoryLayout<fathom_trace_header>.size)
        let error = writeAll(withUnsafeBytes(of: header) { Array($0) }, to: descriptor)
        guard error == 0 else { throw .cannotCreate(path: directory.file(SessionFile.trace.name), errno: error) }
    }

    deinit { close(descriptor) }

    /// The number of bytes that a chunk takes in the log.
    package static func size(of header: fathom_chunk) -> UInt64 {
        UInt64(MemoryLayout<fathom_chunk>.size) + UInt64(header.used + 7) & ~7
    }

    /// Fills in the end of the file header. This overwrites bytes in place, so a full disk does not matter.
    package func complete(_ losses: RecordingLosses) {
        header.unplaced_calls = losses.unplacedCalls
        header.unwritten_calls = losses.unwrittenCalls
        header.left_out_calls = losses.leftOutCalls
        header.spoiled_chunks = losses.spoiledChunks
        header.is_spoiled = losses.isSpoiled ? 1 : 0
        header.write_errno = UInt32(bitPattern: error ?? 0)
        header.log_size = bytes
        header.is_complete = 1
        header.end_sum = fathom_end_sum(header)
        let start = MemoryLayout<fathom_trace_header>.offset(of: \.unplaced_calls)!
        _ = withUnsafeBytes(of: &header) { pwrite(descriptor, $0.baseAddress! + start, $0.count - start, off_t(start)) }
    }

    /// Appends a chunk: its header, which gets its checksums, its payload, and padding to 8 bytes.
    ///
    /// What is written of a chunk that does not fit is no part of the log: the next chunk is written over it. It is not
    /// cut off, because somebody may be reading the file.
    ///
    /// - Returns: Whether it was written.
    package func append(_ header: fathom_chunk, payload: UnsafeRawPointer) -> Bool {
        var header = header
        let used = Int(header.used)
        header.flags |= UInt8(FATHOM_FLAG_SEALED | FATHOM_FLAG_HASHED)
        header.payload_sum = fathom_payload_sum(header.flags, payload, used)
        header.header_sum = fathom_header_sum(header)
        var padding: UInt64 = 0
        let size = Int(Self.size(of: header))
        let written = withUnsafeMutableBytes(of: &header) { head in
            withUnsafeMutableBytes(of: &padding) { tail in
                let parts = [
                    iovec(iov_base: head.baseAddress, iov_len: head.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: payload), iov_len: used),
                    iovec(iov_base: tail.baseAddress, iov_len: (used + 7) & ~7 - used),
                ]
                return pwritev(descriptor, parts, 3, off_t(bytes))
            }
        }
        guard written == size else {
            if error == nil { error = written < 0 ? errno : reason(at: bytes + UInt64(written)) }
            return false
        }
        bytes += UInt64(size)
        return true
    }

    /// Why a write ended at `offset` before it was complete. The next write there is told the reason.
    private func reason(at offset: UInt64) -> Int32 {
        var byte: UInt8 = 0
        return pwrite(descriptor, &byte, 1, off_t(offset)) < 0 ? errno : ENOSPC
    }
}
