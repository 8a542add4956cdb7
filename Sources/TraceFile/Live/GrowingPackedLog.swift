internal import CTraceFormat

/// A packed log that the recorder still writes, frame after frame.
final class GrowingPackedLog {
    /// Where the first section begins, in bytes.
    let start: Int
    private let file: PlainFile
    private let decoder = FrameDecoder()
    private let payloads = GrowingBytes()
    private var rows: [UnsafeMutableBufferPointer<fathom_packed_chunk>] = []

    /// A piece of the log: so many bytes of payloads, and not much more.
    private static let step = 4 << 20

    /// - Returns: nil when the log is plain, or cannot be read.
    init?(path: String) {
        var header = fathom_packed_header()
        guard let file = try? PlainFile(path: path), file.read(&header, at: 0), header.magic == FATHOM_PACKED_MAGIC,
            header.sum == header.rightSum, header.version == FATHOM_PACKED_VERSION
        else { return nil }
        self.file = file
        start = Int(header.header_size)
    }

    deinit { forget() }

    /// Reads the next frames, some megabytes of them. Their chunks are there until the next call.
    ///
    /// - Parameters:
    ///   - offset: where to go on; moved on.
    ///   - skipped: gets the bytes added that are not as they were written.
    func read(from offset: inout Int, skipped: inout Int) -> [Chunk] {
        forget()
        var frames: [(rows: UnsafeMutableBufferPointer<fathom_packed_chunk>, place: Int)] = []
        while payloads.count < Self.step {
            var entry = fathom_packed_entry()
            entry.place = UInt64(offset)
            guard file.read(&entry.section, at: offset), entry.section.magic == FATHOM_SECTION_MAGIC,
                entry.section.header_sum == entry.section.rightSum, entry.isPlausible(in: 1 << 40),
                case let stride = Int(entry.section.stride), file.reaches(offset + stride)
            else { break }
            offset += stride
            guard entry.section.kind == FATHOM_SECTION_FRAME else { continue }
            guard let heads = decoder.heads(of: entry, in: file), let place = read(entry, heads) else {
                skipped += stride
                continue
            }
            let memory = UnsafeMutableBufferPointer<fathom_packed_chunk>.allocate(capacity: heads.count)
            _ = memory.initialize(from: heads)
            rows.append(memory)
            frames.append((memory, place))
        }
        return chunks(frames)
    }

    /// Reads the payloads of a frame.
    ///
    /// - Returns: where they are; nil when they are damaged.
    private func read(_ entry: fathom_packed_entry, _ heads: [fathom_packed_chunk]) -> Int? {
        let size = heads.reduce(0) { $0 + $1.room }
        guard UInt64(size) == entry.section.raw_size else { return nil }
        let isRead = heads.withUnsafeBufferPointer { decoder.read(entry, of: file, $0, to: payloads.room(size)) }
        guard isRead else { return nil }
        payloads.take(size)
        return payloads.count - size
    }

    /// The chunks of frames, now that their payloads stay where they are.
    private func chunks(_ frames: [(rows: UnsafeMutableBufferPointer<fathom_packed_chunk>, place: Int)]) -> [Chunk] {
        frames.flatMap { rows, place in
            var place = place
            return rows.indices.compactMap { index in
                defer { place += rows[index].room }
                return Chunk(
                    rows[index], at: UnsafeRawPointer(rows.baseAddress! + index),
                    payload: payloads.bytes.baseAddress! + place, isReadable: true)
            }
        }
    }

    private func forget() {
        for memory in rows { memory.deallocate() }
        rows = []
        payloads.clear()
    }
}
