package import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Writes the `trace` file, to which chunks are appended as they are drained, as they are or packed.
package final class TraceLogWriter {
    /// The size that the plain log has so far.
    private var plainBytes: UInt64
    /// The error of the first write that failed. Later writes are tried all the same.
    package private(set) var error: Int32?
    private let descriptor: Int32
    private var header = fathom_trace_header()
    /// Nil where the file system does not allow it, or where it has failed.
    var pages: PageWriter?
    private var wantsPages = false
    private let index: LogIndexWriter
    /// Nil for a plain log.
    private let packed: PackedWriter?
    private let copies = GrowingBytes()

    /// - Parameter version: of the format: the lowest that has all that will be in the log, so that older readers take it.
    package init(
        in directory: SessionDirectory, clock: SessionClock, startRealtime: UInt64,
        version: UInt32 = FATHOM_PLAIN_VERSION, packs: Bool = false
    ) throws(SessionFileError) {
        let descriptor = try directory.create(SessionFile.trace.name, O_WRONLY)
        self.descriptor = descriptor
        header.magic = FATHOM_TRACE_MAGIC
        header.version = version
        header.header_size = UInt32(MemoryLayout<fathom_trace_header>.size)
        header.chunk_header_size = UInt32(MemoryLayout<fathom_chunk>.size)
        header.clock = clock.kind
        header.start_ticks = clock.start.ticks
        header.start_ns = clock.start.nanoseconds
        header.ticks_per_second = clock.ticksPerSecond
        header.start_realtime_ns = startRealtime
        header.start_sum = fathom_start_sum(header)
        header.end_sum = fathom_end_sum(header)
        plainBytes = UInt64(MemoryLayout<fathom_trace_header>.size)
        index = LogIndexWriter(in: directory, logSum: header.start_sum)
        let error: Int32
        if packs {
            packed = withUnsafeBytes(of: header) { PackedWriter(descriptor, logHeader: $0) }
            error = packed == nil ? errno : 0
        } else {
            packed = nil
            error = withUnsafeBytes(of: header) { writeAll($0, to: descriptor) }
        }
        guard error == 0 else { throw .cannotCreate(path: directory.file(SessionFile.trace.name), errno: error) }
        if packs { return }
        pages = PageWriter(directory.reopen(SessionFile.trace.name, O_WRONLY | FATHOM_DIRECT))
    }

    deinit { close(descriptor) }

    /// The size of the log on the disk so far.
    package var bytes: UInt64 { packed?.bytes ?? plainBytes }

    /// The bytes of chunks that are written best at once, where the log is packed.
    package var frameSize: UInt64? { packed == nil ? nil : UInt64(FrameEncoder.frameSize) }

    /// The number of bytes that a chunk takes in the log.
    package static func size(of header: fathom_chunk) -> UInt64 {
        UInt64(MemoryLayout<fathom_chunk>.size) + (UInt64(header.used) + 7) & ~7
    }

    /// The most chunks that one write takes. The kernel takes 1024 pieces at once (UIO_MAXIOV), and a chunk is three.
    private static let mostChunks = 1024 / 3

    /// Fills in the end of the file header. This overwrites bytes in place, so a full disk does not matter.
    package func complete(_ losses: RecordingLosses) {
        header.unplaced_calls = losses.unplacedCalls
        header.unwritten_calls = losses.unwrittenCalls
        header.left_out_calls = losses.leftOutCalls
        header.spoiled_chunks = losses.spoiledChunks
        let arePlaces = losses.unreturnedCalls > losses.unplacedCalls / 2
        header.is_spoiled =
            UInt64(losses.isSpoiled ? FATHOM_SPOILED_HEAD : 0) | UInt64(arePlaces ? FATHOM_SPOILED_PLACES : 0)
            | UInt64(losses.lacksSystemCalls ? FATHOM_SPOILED_SYSTEM_CALLS : 0)
        header.write_errno = UInt32(bitPattern: error ?? 0)
        header.log_size = plainBytes
        header.is_complete = 1
        header.end_sum = fathom_end_sum(header)
        let start = MemoryLayout<fathom_trace_header>.offset(of: \.unplaced_calls)!
        let place = off_t(start + (packed == nil ? 0 : PackedWriter.logHeaderPlace))
        _ = withUnsafeBytes(of: &header) { pwrite(descriptor, $0.baseAddress! + start, $0.count - start, place) }
        guard let packed else { return }
        // Without an index, a short log is as quickly opened. What did not fit is no part of the file.
        if plainBytes >= LogIndexWriter.leastLog { _ = packed.finish() }
        ftruncate(descriptor, off_t(packed.bytes))
    }

    /// A chunk's header and where its payload lies.
    package typealias Part = (header: fathom_chunk, payload: UnsafeRawPointer)

    /// Appends a chunk.
    ///
    /// - Returns: Whether it was written.
    package func append(_ header: fathom_chunk, payload: UnsafeRawPointer) -> Bool { append([(header, payload)]) == 1 }

    /// Appends chunks: of each its header, which gets its checksums, its payload, and padding to 8 bytes. Where there are
    /// many that nearly fill their pages, and ``passesCache`` is set, those fill them and go to the disk without a copy.
    ///
    /// - Returns: How many of them were written, from the first one on.
    package func append(_ chunks: [Part]) -> Int {
        if packed != nil { return appendPacked(chunks) }
        var rest = chunks[...]
        while !rest.isEmpty {
            var others = rest
            if passesCache {
                let run = PageWriter.run(in: rest)
                if run.startIndex == rest.startIndex, !run.isEmpty {
                    let part = run.prefix(Self.mostChunks), count = appendPages(part)
                    rest = rest.dropFirst(count)
                    // What is wrong shows when the next chunk is written in the other way.
                    if count < part.count { pages = nil }
                    continue
                }
                others = rest[..<run.startIndex]
            }
            others = others.prefix(Self.mostChunks)
            let count = appendCopies(others)
            rest = rest.dropFirst(count)
            if count < others.count { break }
        }
        return chunks.count - rest.count
    }

    /// Appends chunks as frames, some megabytes at a time.
    ///
    /// - Returns: How many of them were written, from the first one on.
    private func appendPacked(_ chunks: [Part]) -> Int {
        var rest = chunks[...]
        while !rest.isEmpty {
            var size = 0
            let part = rest.prefix {
                size += Int($0.header.used)
                return size <= 4 * FrameEncoder.frameSize
            }
            let batch = part.isEmpty ? rest.prefix(1) : part
            // A program that writes over its buffers may do so now, and what is packed must not change meanwhile.
            copies.clear()
            for (header, payload) in batch {
                copies.append(UnsafeRawBufferPointer(start: payload, count: Int(header.used)))
            }
            var place = plainBytes
            var copy = UnsafeRawPointer(copies.room(0)) - copies.count
            let frames: [FrameEncoder.Part] = batch.map { header, _ in
                var header = header
                header.seal(payloadSum: fathom_hash(copy, Int(header.used)))
                defer {
                    place += Self.size(of: header)
                    copy += Int(header.used)
                }
                return (fathom_packed_chunk(header, held: Int(header.used), at: place, isIntact: true), copy)
            }
            let failure = packed!.append(frames)
            guard failure == 0 else {
                error = error ?? failure
                break
            }
            plainBytes = place
            rest = rest.dropFirst(batch.count)
        }
        return chunks.count - rest.count
    }

    /// Whether chunks that fill their pages go to the disk at once, where the file system allows it.
    package var passesCache: Bool {
        get { pages != nil && wantsPages }
        set { wantsPages = newValue }
    }

    /// Whether ``passesCache`` can be set.
    package var canPassCache: Bool { pages != nil }

    /// - Returns: How many of the chunks were written.
    private func appendPages(_ chunks: ArraySlice<Part>) -> Int {
        guard let pages, fillPage() else { return 0 }
        let headers = pages.write(chunks, at: plainBytes)
        noteAppended(headers)
        return headers.count
    }

    private func noteAppended(_ headers: ArraySlice<fathom_chunk>) {
        for header in headers { plainBytes += Self.size(of: header) }
        index.add(headers, logSize: plainBytes)
    }

    /// The first chunks of those with these headers, as many as lie in `size` bytes.
    static func whole(_ headers: [fathom_chunk], in size: UInt64) -> ArraySlice<fathom_chunk> {
        var end: UInt64 = 0
        return headers.prefix { header in
            end += Self.size(of: header)
            return end <= size
        }
    }

    /// Appends a chunk that says nothing, if the log's end is not that of a page.
    ///
    /// - Returns: Whether it is now.
    private func fillPage() -> Bool {
        let (page, least) = (UInt64(PageWriter.page), MemoryLayout<fathom_chunk>.size + MemoryLayout<fathom_item>.size)
        var gap = (page - plainBytes % page) % page
        if gap == 0 { return true }
        if gap < least { gap += page }
        let chunk = fathom_chunk(
            ofItem: UInt32(Int(gap) - MemoryLayout<fathom_chunk>.size), process: FATHOM_NO_PROCESS)
        var payload = [UInt8](repeating: 0, count: Int(chunk.used))
        return payload.withUnsafeMutableBytes {
            $0.storeBytes(
                of: fathom_item(kind: UInt16(FATHOM_ITEM_FILLER), reserved: 0, size: chunk.used), as: fathom_item.self)
            return appendCopies([(chunk, UnsafeRawPointer($0.baseAddress!))]) == 1
        }
    }

    /// Appends chunks by way of the page cache, in one write.
    ///
    /// What is written of a chunk that does not fit is no part of the log: the next chunk is written over it. It is not
    /// cut off, because a command may be reading the file.
    ///
    /// - Returns: How many of them were written, from the first one on.
    private func appendCopies(_ chunks: ArraySlice<Part>) -> Int {
        var headers = chunks.map { chunk in
            var header = chunk.header
            header.seal(payloadSum: fathom_hash(chunk.payload, Int(header.used)))
            return header
        }
        var padding: UInt64 = 0
        let (written, failure) = headers.withUnsafeMutableBytes { heads in
            withUnsafeMutableBytes(of: &padding) { padding in
                var parts: [iovec] = []
                parts.reserveCapacity(3 * chunks.count)
                for (index, chunk) in chunks.enumerated() {
                    let head = heads.baseAddress! + index * MemoryLayout<fathom_chunk>.stride,
                        used = Int(chunk.header.used)
                    parts.append(iovec(iov_base: head, iov_len: MemoryLayout<fathom_chunk>.size))
                    parts.append(iovec(iov_base: UnsafeMutableRawPointer(mutating: chunk.payload), iov_len: used))
                    if used % 8 != 0 { parts.append(iovec(iov_base: padding.baseAddress, iov_len: 8 - used % 8)) }
                }
                let written = pwritev(descriptor, parts, Int32(parts.count), off_t(plainBytes))
                return (UInt64(max(written, 0)), written < 0 ? errno : 0)
            }
        }
        let whole = Self.whole(headers, in: written)
        if whole.count < chunks.count, error == nil {
            error = failure != 0 ? failure : reason(at: plainBytes + written)
        }
        noteAppended(whole)
        return whole.count
    }

    /// Why a write ended at `offset` before it was complete. The next write there is told the reason.
    private func reason(at offset: UInt64) -> Int32 {
        var byte: UInt8 = 0
        return pwrite(descriptor, &byte, 1, off_t(offset)) < 0 ? errno : ENOSPC
    }
}

extension fathom_chunk {
    /// Sets the checksums: that of the payload, and that of all else.
    mutating func seal(payloadSum: UInt64) {
        flags |= UInt8(FATHOM_FLAG_SEALED | FATHOM_FLAG_HASHED)
        payload_sum = payloadSum
        header_sum = fathom_header_sum(self)
    }
}
