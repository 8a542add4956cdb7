internal import CTraceFormat

/// What the header of `trace` or of `buffers` says about the session's clock.
struct FileHeader {
    var clock: UInt8
    var startTicks: UInt64
    var startNanoseconds: UInt64
    var ticksPerSecond: UInt64
    var startRealtimeNanoseconds: UInt64
    /// Nil while the recorder has not seen the end.
    var losses: Losses?
}

/// The log: a file header, then chunks one after the other.
struct TraceLog {
    static let name = "trace"

    let header: FileHeader?
    private(set) var chunks: [Chunk]

    /// Finds the chunks of a mapped log.
    ///
    /// A header that is damaged is skipped by looking for the next intact one at 8-byte steps; a chunk that the file's
    /// end cuts is kept with the payload that is there.
    ///
    /// - Throws: ``TraceFormatError/unsupportedVersion(path:found:supported:)``.
    /// - Complexity: O(chunks) when nothing is damaged: payloads are not touched.
    init(_ file: MappedFile, path: String, damage: DamageLog) throws(TraceFormatError) {
        header = try TraceLog.header(file, path: path, damage: damage)
        var chunks: [Chunk] = []
        // No doubling on the way: most chunks are as long as the first.
        if let first = TraceLog.chunk(file, at: min(MemoryLayout<fathom_trace_header>.size, file.size)) {
            chunks.reserveCapacity(file.size / max(first.stride, 1 << 14) + 64)
        }
        var read = MappedFile.ReadStretch()
        var offset = min(MemoryLayout<fathom_trace_header>.size, file.size)
        while offset < file.size {
            if let chunk = TraceLog.chunk(file, at: offset) {
                chunks.append(chunk)
                if chunk.isTruncated {
                    damage.report(
                        Damage(
                            file: TraceLog.name, offset: UInt64(offset),
                            lostBytes: UInt64(chunk.claimedSize - chunk.payload.count), kind: .truncated))
                }
                offset += chunk.stride
                // Reading a header maps much of a small chunk.
                file.release(chunk.payload, of: &read, isLast: offset >= file.size)
            } else {
                let next = TraceLog.resynchronize(file, from: offset + 8)
                let atEnd = next == file.size && file.size - offset < Chunk.headerSize
                damage.report(
                    Damage(
                        file: TraceLog.name, offset: UInt64(offset), lostBytes: UInt64(next - offset),
                        kind: atEnd ? .truncated : .chunkHeader))
                offset = next
            }
        }
        self.chunks = chunks
    }

    /// The chunks, left to the caller alone.
    mutating func takeChunks() -> [Chunk] {
        defer { chunks = [] }
        return chunks
    }

    private static func header(
        _ file: MappedFile, path: String, damage: DamageLog
    ) throws(TraceFormatError) -> FileHeader? {
        let size = MemoryLayout<fathom_trace_header>.size
        guard file.size >= size else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(file.size), kind: .fileHeader))
            return nil
        }
        let raw = file.start.loadUnaligned(as: fathom_trace_header.self)
        let plausible =
            Int(raw.header_size) == size && Int(raw.chunk_header_size) == Chunk.headerSize
            && UInt32(raw.clock) <= FATHOM_CLOCK_COUNTER
        if raw.magic == FATHOM_TRACE_MAGIC, raw.version != FATHOM_FORMAT_VERSION, raw.version < 1 << 16 {
            throw .unsupportedVersion(path: path, found: raw.version, supported: FATHOM_FORMAT_VERSION)
        }
        guard raw.magic == FATHOM_TRACE_MAGIC, raw.version == FATHOM_FORMAT_VERSION, plausible else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(size), kind: .fileHeader))
            return nil
        }
        return FileHeader(
            clock: raw.clock, startTicks: raw.start_ticks, startNanoseconds: raw.start_ns,
            ticksPerSecond: raw.ticks_per_second, startRealtimeNanoseconds: raw.start_realtime_ns,
            losses: raw.is_complete == 0
                ? nil
                : Losses(
                    unplacedCalls: raw.unplaced_calls, unwrittenCalls: raw.unwritten_calls,
                    writeError: Int32(truncatingIfNeeded: raw.write_errno), leftOutCalls: raw.left_out_calls))
    }

    /// The chunk at `offset`; the log holds sealed ones only.
    private static func chunk(_ file: MappedFile, at offset: Int) -> Chunk? {
        let chunk = Chunk(
            at: file.start + offset, available: file.size - offset, file: name, offset: UInt64(offset))
        return chunk?.isSealed == true ? chunk : nil
    }

    private static func resynchronize(_ file: MappedFile, from start: Int) -> Int {
        var offset = start
        while offset + Chunk.headerSize <= file.size {
            if (file.start + offset).loadUnaligned(as: UInt32.self) == FATHOM_CHUNK_MAGIC,
                chunk(file, at: offset) != nil
            {
                return offset
            }
            offset += 8
        }
        return file.size
    }
}
