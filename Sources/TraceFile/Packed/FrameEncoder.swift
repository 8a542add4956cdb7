internal import CTraceFormat
internal import CTracePack
internal import CZstd
internal import Glibc

/// Writes chunks, and other bytes, as sections of a packed file (CTracePacked.h).
///
/// It is not for several threads at once. Sections are put together in its memory, one after the other, until ``clear()``.
final class FrameEncoder {
    /// A chunk as a frame tells of it, and where its payload lies.
    typealias Part = (row: fathom_packed_chunk, payload: UnsafeRawPointer)

    private let context: OpaquePointer
    private let output = GrowingBytes()
    private let raw = GrowingBytes()

    /// The bytes of payloads that make a frame. Of larger frames a call takes hardly less, and of smaller ones it takes more.
    static let frameSize = 1 << 20
    /// Times are most of what is kept, and higher levels of Zstandard make nothing of them, but take four times as long.
    private static let level: Int32 = 3
    /// What the columns of a piece may be longer than the piece.
    private static let margin = 8

    init() {
        guard let context = ZSTD_createCCtx() else { preconditionFailure("out of memory") }
        self.context = context
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// What was put together.
    var bytes: UnsafeRawBufferPointer { output.bytes }

    func clear() { output.clear() }

    /// Adds a frame of chunks.
    ///
    /// - Complexity: O(bytes of the payloads): some 8 ns a call.
    func addFrame(_ chunks: ArraySlice<Part>) -> fathom_packed_section {
        let start = output.count
        var section = begin(FATHOM_SECTION_FRAME)
        section.count = UInt32(chunks.count)
        section.raw_size = UInt64(chunks.reduce(0) { $0 + $1.row.room })
        var sizes = [Int](repeating: 0, count: Int(FATHOM_COLUMNS))
        raw.clear()
        for chunk in chunks { raw.append(of: chunk.row) }
        sizes[Int(FATHOM_COLUMN_HEADS)] = addRows(words: MemoryLayout<fathom_packed_chunk>.size / 8)
        let heads = output.bytes[(start + MemoryLayout<fathom_packed_section>.size)...]
        section.head_sum = UInt32(truncatingIfNeeded: hashOf(UnsafeRawBufferPointer(rebasing: heads)))

        raw.clear()
        for (row, payload) in chunks {
            raw.append(UnsafeRawBufferPointer(start: payload, count: row.sizeInPaths))
        }
        sizes[Int(FATHOM_COLUMN_PATHS)] = add(raw.bytes)
        let records = addRecords(chunks)
        sizes.replaceSubrange(Int(FATHOM_COLUMN_RECORDS)..., with: records)
        withUnsafeMutableBytes(of: &section.columns) { columns in
            for (index, size) in sizes.enumerated() {
                columns.storeBytes(of: UInt32(size), toByteOffset: 4 * index, as: UInt32.self)
            }
        }
        return end(section, from: start)
    }

    /// Adds the columns of records.
    ///
    /// - Returns: Their sizes.
    private func addRecords(_ chunks: ArraySlice<Part>) -> [Int] {
        let pieces = chunks.map { row, payload in
            fathom_pack_piece(
                bytes: UnsafeMutableRawPointer(mutating: payload + row.sizeInPaths)
                    .assumingMemoryBound(to: UInt8.self),
                size: Int(row.held) - row.sizeInPaths)
        }
        let middle = (pieces.count + 1) / 2
        return pieces.withUnsafeBufferPointer { pieces in
            let parts = [pieces[..<middle], pieces[middle...]]
            let sizes = parts.map { $0.reduce(0) { $0 + $1.size + Self.margin } }
            raw.clear()
            let room = raw.room(sizes.reduce(0) { $0 + 3 * $1 })
            var place = room.assumingMemoryBound(to: UInt8.self)
            func half(_ index: Int) -> fathom_pack_half {
                let size = sizes[index]
                defer { place += 3 * size }
                let pieces = UnsafeBufferPointer(rebasing: parts[index])
                return fathom_pack_half(
                    pieces: pieces.baseAddress, count: pieces.count, happened: place, happened_end: place,
                    times: place + size, times_end: place + size, rest: place + 2 * size, rest_end: place + 2 * size)
            }
            var first = half(0), second = half(1)
            fathom_pack(&first, &second)
            return [first, second].flatMap { half in
                let columns = [
                    (half.happened!, half.happened_end!), (half.times, half.times_end), (half.rest, half.rest_end),
                ]
                return columns.map { add(UnsafeRawBufferPointer(start: $0, count: $1 - $0)) }
            }
        }
    }

    /// Adds a section that holds `bytes`.
    ///
    /// - Complexity: O(bytes): some 3 ns each.
    func add(
        _ kind: UInt32, _ bytes: UnsafeRawBufferPointer, _ describe: (inout fathom_packed_section) -> Void = { _ in }
    )
        -> fathom_packed_section
    {
        let start = output.count
        var section = begin(kind)
        section.raw_size = UInt64(bytes.count)
        describe(&section)
        _ = add(bytes)
        return end(section, from: start)
    }

    /// Adds an index of `entries`, and the end of the file.
    ///
    /// - Parameters:
    ///   - blocks: by ``block(_:)``, of all chunks.
    ///   - place: where in the file it comes to be.
    func addIndex(_ entries: [fathom_packed_entry], _ blocks: UnsafeRawBufferPointer, at place: UInt64) {
        let start = output.count
        var section = begin(FATHOM_SECTION_INDEX)
        entries.withUnsafeBytes { raw.copy($0) }
        addBlock(rowSize: MemoryLayout<fathom_packed_entry>.size)
        output.append(blocks)
        section.raw_size = UInt64(entries.count)
        _ = end(section, from: start)
        var last = begin(FATHOM_SECTION_END)
        last.place = place
        _ = end(last, from: output.count - MemoryLayout<fathom_packed_section>.size)
    }

    /// Adds a block of the index that has these chunks.
    func addBlock(_ rows: ArraySlice<fathom_packed_chunk>) {
        rows.withUnsafeBytes { raw.copy($0) }
        addBlock(rowSize: MemoryLayout<fathom_packed_chunk>.size)
    }

    private func addBlock(rowSize: Int) {
        let start = output.count
        var block = fathom_packed_block(size: 0, rows: UInt32(raw.count / rowSize))
        output.append(of: block)
        block.size = UInt32(addRows(words: rowSize / 8))
        output.store(block, at: start)
    }

    private func begin(_ kind: UInt32) -> fathom_packed_section {
        var section = fathom_packed_section()
        section.magic = FATHOM_SECTION_MAGIC
        section.kind = kind
        output.append(of: section)
        return section
    }

    /// Fills in the section's size and its sums.
    private func end(_ section: fathom_packed_section, from start: Int) -> fathom_packed_section {
        let body = start + MemoryLayout<fathom_packed_section>.size
        var section = section
        section.size = UInt64(output.count - body)
        section.sum = hashOf(UnsafeRawBufferPointer(rebasing: output.bytes[body...]))
        section.header_sum = section.rightSum
        output.store(section, at: start)
        output.append(zeros: -output.count & 7)
        return section
    }

    /// Compresses the rows in `raw`.
    private func addRows(words: Int) -> Int {
        let count = raw.count / (8 * words)
        let columns = UnsafeMutableRawPointer.allocate(byteCount: max(raw.count, 1), alignment: 8)
        defer { columns.deallocate() }
        fathom_pack_rows(
            raw.bytes.baseAddress?.assumingMemoryBound(to: UInt64.self), count, words,
            columns.assumingMemoryBound(to: UInt8.self))
        return add(UnsafeRawBufferPointer(start: columns, count: raw.count))
    }

    /// Compresses `bytes`.
    ///
    /// - Returns: How many bytes they take.
    private func add(_ bytes: UnsafeRawBufferPointer) -> Int {
        if bytes.isEmpty { return 0 }
        let room = ZSTD_compressBound(bytes.count)
        let size = ZSTD_compress2(context, output.room(room), room, bytes.baseAddress, bytes.count)
        precondition(ZSTD_isError(size) == 0, "out of memory")
        output.take(size)
        return size
    }
}

extension fathom_packed_section {
    /// The right `header_sum`.
    var rightSum: UInt64 {
        withUnsafeBytes(of: self) { hashOf(UnsafeRawBufferPointer(rebasing: $0.dropLast(8))) }
    }

    /// The size of a column, in bytes.
    func size(ofColumn index: Int) -> Int {
        withUnsafeBytes(of: columns) { Int($0.load(fromByteOffset: 4 * index, as: UInt32.self)) }
    }

    /// Bytes from this section's header to the next one.
    var stride: UInt64 { UInt64(MemoryLayout<Self>.size) &+ (size &+ 7) & ~7 }
}

extension fathom_packed_chunk {
    /// The bytes of the payload that are in the second column.
    var sizeInPaths: Int {
        kept == FATHOM_PACKED_RECORDS ? Int(header.path_count) * PathEntry.size : Int(held)
    }

    /// The bytes from the beginning of the payload to that of the next one.
    var room: Int { (Int(held) + 7) & ~7 }
}

/// XXH64 of `bytes`.
func hashOf(_ bytes: UnsafeRawBufferPointer) -> UInt64 { fathom_hash(bytes.baseAddress, bytes.count) }
