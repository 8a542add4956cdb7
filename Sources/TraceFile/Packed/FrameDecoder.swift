internal import CTraceFormat
internal import CTracePack
internal import CZstd
internal import Glibc

/// Reads what ``FrameEncoder`` writes. It is not for several threads at once.
///
/// Any bytes may be read: what is not as it was written is found.
final class FrameDecoder {
    private let context: OpaquePointer
    private let stored = GrowingBytes()
    private let raw = GrowingBytes()

    /// What rows take at most that are read at once, in bytes.
    private static let mostRows = 1 << 30

    init() {
        guard let context = ZSTD_createDCtx() else { preconditionFailure("out of memory") }
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Reads the chunks' payloads, each filled up to 8 bytes, to `target`.
    ///
    /// - Returns: Whether they are as they were written.
    /// - Complexity: O(bytes of the payloads): some 4 ns a call.
    func read(
        _ entry: fathom_packed_entry, of file: PlainFile, _ rows: UnsafeBufferPointer<fathom_packed_chunk>,
        to target: UnsafeMutableRawPointer
    ) -> Bool {
        guard let columns = columns(of: entry, in: file), let paths = paths(columns, rows) else { return false }
        // What ends in the middle of a record takes some bytes more than there are.
        let largest = Int(entry.section.raw_size) + 16 * rows.count
        let records = columns[Int(FATHOM_COLUMN_RECORDS)...].map { append($0, atMost: largest) }
        guard records.allSatisfy({ $0 != nil }) else { return false }
        // Memory that grows moves, so this is asked for when everything is there.
        let bytes = UnsafeMutableRawPointer(mutating: raw.bytes.baseAddress)
        var pieces: [fathom_pack_piece] = [], target = target, path = paths.lowerBound
        for row in rows {
            let size = row.sizeInPaths
            if size > 0 { target.copyMemory(from: bytes! + path, byteCount: size) }
            path += size
            pieces.append(
                fathom_pack_piece(
                    bytes: (target + size).assumingMemoryBound(to: UInt8.self), size: Int(row.held) - size))
            memset(target + Int(row.held), 0, row.room - Int(row.held))
            target += row.room
        }
        return pieces.withUnsafeBufferPointer { pieces in
            let middle = (pieces.count + 1) / 2
            func half(_ part: Slice<UnsafeBufferPointer<fathom_pack_piece>>, _ index: Int) -> fathom_pack_half {
                let pieces = UnsafeBufferPointer(rebasing: part)
                func column(_ number: Int) -> (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?) {
                    let range = records[3 * index + number]!
                    let start = bytes?.assumingMemoryBound(to: UInt8.self)
                    return (start.map { $0 + range.lowerBound }, start.map { $0 + range.upperBound })
                }
                let (happened, times, rest) = (column(0), column(1), column(2))
                return fathom_pack_half(
                    pieces: pieces.baseAddress, count: pieces.count, happened: happened.0, happened_end: happened.1,
                    times: times.0, times_end: times.1, rest: rest.0, rest_end: rest.1)
            }
            var first = half(pieces[..<middle], 0), second = half(pieces[middle...], 1)
            return fathom_unpack(&first, &second) != 0
        }
    }

    /// The second column of a frame; nil when it is damaged.
    func paths(
        of entry: fathom_packed_entry, in file: PlainFile, _ rows: UnsafeBufferPointer<fathom_packed_chunk>
    ) -> [UInt8]? {
        guard let columns = columns(of: entry, in: file), let range = paths(columns, rows) else { return nil }
        return Array(raw.bytes[range])
    }

    /// Unpacks the second of a frame's columns.
    ///
    /// - Returns: where in `raw` it is.
    private func paths(
        _ columns: [UnsafeRawBufferPointer], _ rows: UnsafeBufferPointer<fathom_packed_chunk>
    ) -> Range<Int>? {
        raw.clear()
        let size = rows.reduce(0) { $0 + $1.sizeInPaths }
        guard let range = append(columns[Int(FATHOM_COLUMN_PATHS)], atMost: size), range.count == size else {
            return nil
        }
        return range
    }

    /// A frame's columns as they are in the file; nil when they are damaged.
    private func columns(of entry: fathom_packed_entry, in file: PlainFile) -> [UnsafeRawBufferPointer]? {
        guard let body = body(of: entry, in: file) else { return nil }
        var place = 0
        var columns: [UnsafeRawBufferPointer] = []
        for index in 0..<Int(FATHOM_COLUMNS) {
            let size = entry.section.size(ofColumn: index)
            guard size <= body.count - place else { return nil }
            columns.append(UnsafeRawBufferPointer(rebasing: body[place..<place + size]))
            place += size
        }
        return columns
    }

    /// What a section holds, without compression; nil when it is damaged.
    func bytes(of entry: fathom_packed_entry, in file: PlainFile) -> UnsafeRawBufferPointer? {
        guard let body = body(of: entry, in: file) else { return nil }
        raw.clear()
        guard let range = append(body, atMost: Int(entry.section.raw_size)), range.count == entry.section.raw_size
        else {
            return nil
        }
        return raw.bytes
    }

    /// The rows of chunks in the first column of a frame; nil when it is damaged.
    func heads(of entry: fathom_packed_entry, in file: PlainFile) -> [fathom_packed_chunk]? {
        let size = entry.section.size(ofColumn: Int(FATHOM_COLUMN_HEADS))
        guard size <= entry.section.size, let column = read(size, at: Int(entry.place) + sectionSize, of: file),
            UInt32(truncatingIfNeeded: hashOf(column)) == entry.section.head_sum
        else { return nil }
        let rows: [fathom_packed_chunk]? = rows(column, count: Int(entry.section.count))
        return rows?.allSatisfy(\.isPlausible) == true ? rows : nil
    }

    /// What the index at `entry` tells of: the sections and the chunks of their frames. Nil when it is damaged.
    func index(_ entry: fathom_packed_entry, in file: PlainFile) -> ([fathom_packed_entry], [fathom_packed_chunk])? {
        guard var rest = body(of: entry, in: file) else { return nil }
        func block<Row: BitwiseCopyable>() -> [Row]? {
            guard rest.count >= MemoryLayout<fathom_packed_block>.size else { return nil }
            let block = rest.loadUnaligned(as: fathom_packed_block.self)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(MemoryLayout<fathom_packed_block>.size))
            guard Int(block.size) <= rest.count else { return nil }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(block.size))) }
            return rows(UnsafeRawBufferPointer(rebasing: rest.prefix(Int(block.size))), count: Int(block.rows))
        }
        guard let entries: [fathom_packed_entry] = block() else { return nil }
        var chunks: [fathom_packed_chunk] = []
        while !rest.isEmpty {
            guard let more: [fathom_packed_chunk] = block(), more.allSatisfy(\.isPlausible) else { return nil }
            chunks += more
        }
        return (entries, chunks)
    }

    private var sectionSize: Int { MemoryLayout<fathom_packed_section>.size }

    /// What follows the header of a section, as it is in the file; nil when it is damaged.
    private func body(of entry: fathom_packed_entry, in file: PlainFile) -> UnsafeRawBufferPointer? {
        guard let body = read(Int(clamping: entry.section.size), at: Int(entry.place) + sectionSize, of: file) else {
            return nil
        }
        return hashOf(body) == entry.section.sum ? body : nil
    }

    private func read(_ size: Int, at place: Int, of file: PlainFile) -> UnsafeRawBufferPointer? {
        guard place >= 0, size >= 0, place <= Int.max - size, file.reaches(place + size) else { return nil }
        stored.clear()
        let room = UnsafeMutableRawBufferPointer(start: stored.room(size), count: size)
        return file.read(room, at: place) ? UnsafeRawBufferPointer(room) : nil
    }

    private func rows<Row: BitwiseCopyable>(_ column: UnsafeRawBufferPointer, count: Int) -> [Row]? {
        let size = count * MemoryLayout<Row>.size
        guard size <= Self.mostRows else { return nil }
        raw.clear()
        guard let range = append(column, atMost: size), range.count == size else { return nil }
        return [Row](unsafeUninitializedCapacity: count) { rows, initialized in
            guard count > 0 else { return }
            UnsafeMutableRawPointer(rows.baseAddress!).withMemoryRebound(to: UInt64.self, capacity: size / 8) {
                fathom_unpack_rows(
                    raw.bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), count, MemoryLayout<Row>.size / 8, $0)
            }
            initialized = count
        }
    }

    /// Appends what a compressed column holds to `raw`.
    ///
    /// - Returns: Where it is; nil when it is damaged, or longer than `limit`.
    private func append(_ column: UnsafeRawBufferPointer, atMost limit: Int) -> Range<Int>? {
        let start = raw.count
        if column.isEmpty { return start..<start }
        guard let size = Int(exactly: ZSTD_getFrameContentSize(column.baseAddress, column.count)), size <= limit,
            ZSTD_decompressDCtx(context, raw.room(size), size, column.baseAddress, column.count) == size
        else { return nil }
        raw.take(size)
        return start..<start + size
    }
}
