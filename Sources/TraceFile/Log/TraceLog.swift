internal import CTraceFormat

/// The log: a file header, then chunks one after the other.
struct TraceLog {
    static let name = SessionFile.trace.name

    let header: FileHeader?
    /// In the order of the log.
    private(set) var chunks: [Chunk]
    /// Where the first of them is to be, in bytes.
    let start: Int
    /// The size of the log, where it is not packed.
    let size: Int
    /// Where what it holds ends; behind that there may be the beginning of what the buffers hold.
    private let end: Int

    /// Finds the chunks of a mapped log.
    ///
    /// A header that is damaged is skipped by looking for the next intact one at 8-byte steps; a chunk that the file's
    /// end cuts is kept with the payload that is there.
    ///
    /// - Parameter isGrowing: whether the recorder may be in the middle of writing the last chunk, or was when it was killed:
    ///   the buffers still hold it.
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    /// - Complexity: O(chunks) when nothing is damaged, because payloads are not touched. Where there is an index, the log
    ///   itself is read only behind the chunks that the index knows.
    init(_ file: MappedFile, path: String, isGrowing: Bool, damage: DamageLog) throws(TraceFileError) {
        let (header, headerSize) = try TraceLog.header(
            fathom_trace_header(file.bytes), size: file.size, path: path, damage: damage)
        self.header = header
        start = headerSize
        self.size = file.size
        // After the log's end there are chunks that were not written whole.
        let size = min(file.size, header?.logSize.map { Int(clamping: $0) } ?? file.size)
        var chunks: [Chunk] = []
        // Reserves room at once, so that the list need not double on the way: most chunks are as long as the first.
        if let first = TraceLog.chunk(file, at: min(headerSize, size), end: size) {
            chunks.reserveCapacity(size / max(first.stride, 1 << 14) + 64)
        }
        var offset = min(headerSize, size)
        if let sum = header?.sum, let index = LogIndex(in: path, logSum: sum) {
            (chunks, offset) = TraceLog.indexed(file, by: index, from: offset, end: size) ?? (chunks, offset)
        }
        while offset < size {
            if let chunk = TraceLog.chunk(file, at: offset, end: size) {
                if chunk.isTruncated && isGrowing { break }
                chunks.append(chunk)
                TraceLog.report(ifTruncated: chunk, damage)
                offset += chunk.stride
            } else {
                let next = TraceLog.resynchronize(file, from: offset + 8, end: size)
                let atEnd = next == size && size - offset < Chunk.headerSize
                if atEnd && isGrowing { break }
                damage.report(
                    Damage(
                        file: TraceLog.name, offset: UInt64(offset), lostBytes: UInt64(next - offset),
                        kind: atEnd ? .truncated : .chunkHeader))
                offset = next
            }
        }
        TraceLog.reportCut(header, at: UInt64(file.size), damage)
        self.chunks = chunks
        end = min(offset, size)
    }

    /// Finds the chunks of a packed log, and reports what was no chunk when it was packed.
    ///
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    /// - Complexity: O(chunks).
    init(_ packed: PackedFile, _ log: PackedLog, path: String, damage: DamageLog) throws(TraceFileError) {
        chunks = log.chunks()
        // A long gap is several sections.
        var gaps: [(start: UInt64, end: UInt64)] = []
        for entry in packed.entries where entry.section.kind == FATHOM_SECTION_GAP {
            let (start, size) = (entry.section.place, entry.section.raw_size)
            if size > 0, let last = gaps.last, last.end == start, last.start < last.end {
                gaps[gaps.count - 1].end += size
            } else {
                gaps.append((start, start + size))
            }
        }
        let ends =
            gaps.map(\.end) + [UInt64(packed.logHeader.count), chunks.last.map { $0.offset + UInt64($0.stride) } ?? 0]
        // Where the log ends before its last chunk is filled up to 8 bytes, a gap without bytes says so.
        size = Int(clamping: gaps.first { $0.start == $0.end }?.end ?? ends.max()!)
        end = size
        header =
            packed.logHeader.isEmpty
            ? nil
            : try TraceLog.header(
                packed.logHeader.withUnsafeBytes(fathom_trace_header.init), size: size, path: path, damage: damage
            ).0
        start = packed.logHeader.count
        var rest = gaps.filter { $0.start < $0.end }.sorted { $0.start < $1.start }[...]
        for chunk in chunks {
            while let gap = rest.first, gap.start < chunk.offset {
                reportGap(gap.start, gap.end, damage)
                rest = rest.dropFirst()
            }
            TraceLog.report(ifTruncated: chunk, damage)
        }
        for gap in rest { reportGap(gap.start, gap.end, damage) }
        TraceLog.reportCut(header, at: UInt64(size), damage)
    }

    /// Reports bytes that are no chunk.
    private func reportGap(_ start: UInt64, _ end: UInt64, _ damage: DamageLog) {
        let isEnd = end == size && end - start < Chunk.headerSize
        damage.report(
            Damage(
                file: TraceLog.name, offset: start, lostBytes: end - start, kind: isEnd ? .truncated : .chunkHeader))
    }

    private static func report(ifTruncated chunk: Chunk, _ damage: DamageLog) {
        guard chunk.isTruncated else { return }
        damage.report(
            Damage(
                file: name, offset: chunk.offset, lostBytes: UInt64(chunk.claimedSize - chunk.payload.count),
                kind: .truncated))
    }

    /// Reports that the log was longer when it was complete.
    private static func reportCut(_ header: FileHeader?, at size: UInt64, _ damage: DamageLog) {
        guard let whole = header?.logSize, whole > size else { return }
        damage.report(Damage(file: name, offset: size, lostBytes: whole - size, kind: .cutShort))
    }

    /// The chunks that an index tells of, and where the first one lies that it does not know. Nil when the log holds
    /// something else.
    private static func indexed(
        _ file: MappedFile, by index: LogIndex, from start: Int, end: Int
    ) -> (chunks: [Chunk], offset: Int)? {
        var chunks: [Chunk] = [], offset = start
        chunks.reserveCapacity(index.count + 64)
        index.forEach { header in
            let chunk = Chunk(
                header, at: file.start + offset, available: end - offset, file: name, offset: UInt64(offset))
            guard let chunk, chunk.isSealed, !chunk.isTruncated else { return false }
            chunks.append(chunk)
            offset += chunk.stride
            return true
        }
        // Each place follows from the chunks before, so the last one tells whether the log is the one of the index.
        guard let last = chunks.last, let found = chunk(file, at: Int(last.offset), end: end),
            found.headerSum == last.headerSum
        else { return nil }
        return (chunks, offset)
    }

    /// The stretches of the log that are no chunks. An empty one at the end says that the last chunk is not filled up to 8 bytes.
    ///
    /// - Complexity: O(chunks).
    func gaps() -> [Range<Int>] {
        var gaps: [Range<Int>] = [], place = min(start, end)
        for chunk in chunks {
            if place < chunk.offset { gaps.append(place..<Int(chunk.offset)) }
            place = Int(chunk.offset) + chunk.stride
        }
        if place != end { gaps.append(min(place, end)..<end) }
        return gaps
    }

    /// Hands the chunks to the caller, and keeps none.
    mutating func takeChunks() -> [Chunk] {
        defer { chunks = [] }
        return chunks
    }

    /// Reads the file header, nil when it is damaged, and finds out where the chunks begin.
    ///
    /// - Parameters:
    ///   - raw: with what the log begins.
    ///   - whole: the size of the log.
    private static func header(
        _ raw: fathom_trace_header, size whole: Int, path: String, damage: DamageLog
    ) throws(TraceFileError) -> (FileHeader?, Int) {
        let size = MemoryLayout<fathom_trace_header>.size
        // The header of version 1 ends before `log_size`.
        let oldSize = MemoryLayout<fathom_trace_header>.offset(of: \.log_size)!
        if raw.magic == FATHOM_TRACE_MAGIC, !(1...FATHOM_FORMAT_VERSION).contains(raw.version), raw.version < 1 << 16,
            Int(raw.header_size) != size || raw.start_sum == fathom_start_sum(raw)
        {
            throw .unsupportedVersion(path: path, found: raw.version, supported: FATHOM_FORMAT_VERSION)
        }
        let isOld = raw.version == 1 && Int(raw.header_size) == oldSize
        let isSound =
            raw.magic == FATHOM_TRACE_MAGIC && whole >= (isOld ? oldSize : size)
            && Int(raw.chunk_header_size) == Chunk.headerSize && UInt32(raw.clock) <= FATHOM_CLOCK_COUNTER
            && (isOld
                || (2...FATHOM_FORMAT_VERSION).contains(raw.version) && Int(raw.header_size) == size
                    && raw.start_sum == fathom_start_sum(raw))
        guard isSound else {
            damage.report(Damage(file: name, offset: 0, lostBytes: UInt64(min(size, whole)), kind: .fileHeader))
            // Bytes that cannot be a chunk are passed over.
            return (nil, min(oldSize, whole))
        }
        var header = FileHeader(
            clock: raw.clock, startTicks: raw.start_ticks, startNanoseconds: raw.start_ns,
            ticksPerSecond: raw.ticks_per_second, startRealtimeNanoseconds: raw.start_realtime_ns,
            sum: isOld ? nil : raw.start_sum)
        if !isOld, raw.end_sum != fathom_end_sum(raw) {
            damage.report(
                Damage(
                    file: name, offset: UInt64(MemoryLayout<fathom_trace_header>.offset(of: \.unplaced_calls)!),
                    lostBytes: 0, kind: .lossCounts))
        } else if raw.is_complete != 0 {
            header.losses = MissingCalls(
                unplacedCalls: raw.unplaced_calls,
                hasNoPlaces: !isOld && raw.is_spoiled & UInt64(FATHOM_SPOILED_PLACES) != 0,
                unwrittenCalls: raw.unwritten_calls,
                writeError: Int32(truncatingIfNeeded: raw.write_errno), leftOutCalls: raw.left_out_calls,
                lacksSystemCalls: !isOld && raw.is_spoiled & UInt64(FATHOM_SPOILED_SYSTEM_CALLS) != 0)
            if !isOld {
                header.logSize = raw.log_size
                var spoiled: [Damage.Kind] = raw.is_spoiled & UInt64(FATHOM_SPOILED_HEAD) == 0 ? [] : [.spoiledHead]
                if raw.spoiled_chunks > 0 { spoiled.append(.spoiledChunks(raw.spoiled_chunks)) }
                for kind in spoiled { damage.report(Damage(file: name, offset: 0, lostBytes: 0, kind: kind)) }
            }
        }
        return (header, isOld ? oldSize : size)
    }

    /// Reads the chunk at `offset`. The log holds only sealed chunks.
    ///
    /// The header is read, not looked at in the mapping, where a fault would map much of the chunk and take four times
    /// as long.
    private static func chunk(_ file: MappedFile, at offset: Int, end: Int) -> Chunk? {
        var header = fathom_chunk()
        guard offset + Chunk.headerSize <= end, file.read(&header, at: offset) else { return nil }
        let chunk = Chunk(
            header, at: file.start + offset, available: end - offset, file: name, offset: UInt64(offset))
        return chunk?.isSealed == true ? chunk : nil
    }

    private static func resynchronize(_ file: MappedFile, from start: Int, end: Int) -> Int {
        var offset = start
        while offset + Chunk.headerSize <= end {
            if (file.start + offset).loadUnaligned(as: UInt32.self) == FATHOM_CHUNK_MAGIC,
                chunk(file, at: offset, end: end) != nil
            {
                return offset
            }
            offset += 8
        }
        return end
    }
}

extension fathom_trace_header {
    /// What `bytes` begin with, and zeros behind their end.
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes.prefix(MemoryLayout<Self>.size)) }
    }
}
