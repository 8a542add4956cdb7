internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// Writes a packed file, section after section.
///
/// What it writes at once is there as a whole or not at all, so that a log can be written so while it is recorded.
final class PackedWriter {
    /// The size of the file so far, in bytes.
    private(set) var bytes: UInt64 = 0
    private let descriptor: Int32
    private let encoder = FrameEncoder()
    private var entries: [fathom_packed_entry] = []
    /// Chunks that are not in a block of the index yet.
    private var rows: [fathom_packed_chunk] = []
    private var blocks = GrowingBytes()

    /// So many chunks are one block of the index.
    private static let blockSize = 4096
    /// A piece of a file that a section holds, in bytes.
    private static let pieceSize = 4 << 20

    /// - Parameter descriptor: of an empty file, which stays the caller's.
    /// - Returns: nil when the file cannot be written; errno says why.
    init?(_ descriptor: Int32, logHeader: UnsafeRawBufferPointer) {
        self.descriptor = descriptor
        var header = fathom_packed_header()
        header.magic = FATHOM_PACKED_MAGIC
        header.version = FATHOM_PACKED_VERSION
        header.header_size = UInt32((Self.logHeaderPlace + logHeader.count + 7) & ~7)
        header.section_size = UInt32(MemoryLayout<fathom_packed_section>.size)
        header.log_header_size = UInt32(logHeader.count)
        header.sum = header.rightSum
        let start = GrowingBytes()
        start.append(of: header)
        start.append(logHeader)
        start.append(zeros: -start.count & 7)
        let error = writeAll(start.bytes, to: descriptor)
        if error != 0 {
            errno = error
            return nil
        }
        bytes = UInt64(start.count)
    }

    /// Where the header of the log is, in bytes.
    static var logHeaderPlace: Int { MemoryLayout<fathom_packed_header>.size }

    /// Writes chunks: those of each thread, and those that are not about single threads, in frames of their own.
    ///
    /// - Returns: 0, or the errno that says why nothing of them is written.
    /// - Complexity: O(bytes of the payloads).
    func append(_ chunks: [FrameEncoder.Part]) -> Int32 {
        encoder.clear()
        var frames: [fathom_packed_entry] = [], written: [fathom_packed_chunk] = []
        var groups: [UInt64: [FrameEncoder.Part]] = [:], order: [UInt64] = []
        for chunk in chunks {
            let header = chunk.row.header, key = UInt64(header.process) << 32 | UInt64(header.thread)
            // Metadata has no thread, and all of it is one group.
            let group = header.thread == 0 ? UInt64.max : key
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(chunk)
        }
        for group in order {
            for frame in FrameEncoder.frames(groups[group]!, size: { $0.row.room }) {
                let place = bytes + UInt64(encoder.bytes.count)
                frames.append(fathom_packed_entry(section: encoder.addFrame(frame), place: place))
                written += frame.lazy.map(\.row)
            }
        }
        let error = write()
        guard error == 0 else { return error }
        entries += frames
        rows += written
        while rows.count >= Self.blockSize { addBlock() }
        return 0
    }

    /// Writes a section that holds bytes.
    ///
    /// - Returns: As ``append(_:)``.
    func append(
        _ kind: UInt32, _ content: UnsafeRawBufferPointer, _ describe: (inout fathom_packed_section) -> Void
    ) -> Int32 {
        encoder.clear()
        let entry = fathom_packed_entry(section: encoder.add(kind, content, describe), place: bytes)
        let error = write()
        if error == 0 { entries.append(entry) }
        return error
    }

    /// Writes a section as another packed file has it.
    ///
    /// - Parameters:
    ///   - bytes: its header and all that follows.
    ///   - chunks: of a frame, its chunks.
    /// - Returns: As ``append(_:)``.
    func copy(
        _ section: fathom_packed_section, _ bytes: UnsafeRawBufferPointer, _ chunks: some Sequence<fathom_packed_chunk>
    ) -> Int32 {
        let entry = fathom_packed_entry(section: section, place: self.bytes)
        let error = write(bytes)
        guard error == 0 else { return error }
        entries.append(entry)
        rows += chunks
        while rows.count >= Self.blockSize { addBlock() }
        return 0
    }

    /// Writes a file of the session.
    ///
    /// - Returns: As ``append(_:)``.
    func append(_ content: UnsafeRawBufferPointer, as file: SessionFile) -> Int32 {
        var place = 0
        repeat {
            let end = min(place + Self.pieceSize, content.count)
            let piece = UnsafeRawBufferPointer(rebasing: content[place..<end])
            let error = append(piece, at: place, of: content.count, file)
            if error != 0 { return error }
            place = end
        } while place < content.count
        return 0
    }

    private func append(_ piece: UnsafeRawBufferPointer, at place: Int, of whole: Int, _ file: SessionFile) -> Int32 {
        append(FATHOM_SECTION_FILE, piece) { section in
            section.place = UInt64(place)
            section.whole = UInt64(whole)
            withUnsafeMutableBytes(of: &section.name) { $0.copyBytes(from: file.name.utf8.prefix($0.count - 1)) }
        }
    }

    /// Writes a file of the session, except its holes.
    ///
    /// - Returns: As ``append(_:)``.
    func append(_ content: PlainFile, as file: SessionFile) -> Int32 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 8)
        defer { buffer.deallocate() }
        // Where there is nothing but a hole, this is what tells of the file.
        var place = content.nextData(from: 0)
        if place == nil { return append(UnsafeRawBufferPointer(start: nil, count: 0), at: 0, of: content.size, file) }
        while let data = place {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(data.count, buffer.count)])
            guard content.read(piece, at: data.lowerBound) else { return EIO }
            let error = append(UnsafeRawBufferPointer(piece), at: data.lowerBound, of: content.size, file)
            if error != 0 { return error }
            place = content.nextData(from: data.lowerBound + piece.count)
        }
        return 0
    }

    /// Writes the index, with which the file ends.
    ///
    /// - Returns: As ``append(_:)``.
    func finish() -> Int32 {
        while !rows.isEmpty { addBlock() }
        encoder.clear()
        encoder.addIndex(entries, blocks.bytes, at: bytes)
        return write()
    }

    private func addBlock() {
        let block = rows.prefix(Self.blockSize)
        encoder.clear()
        encoder.addBlock(block)
        blocks.append(encoder.bytes)
        rows.removeFirst(block.count)
    }

    /// Writes `content`, or what the encoder has put together. What is written of something that does not fit is no part of the file: the next
    /// section is written over it.
    private func write(_ content: UnsafeRawBufferPointer? = nil) -> Int32 {
        let content = content ?? encoder.bytes
        let first = min(MemoryLayout<fathom_packed_section>.size, content.count), place = Int(bytes)
        // Nobody finds what follows before the first header is there.
        var error = writeAll(UnsafeRawBufferPointer(rebasing: content[first...]), to: descriptor, at: place + first)
        if error == 0 {
            error = writeAll(UnsafeRawBufferPointer(rebasing: content[..<first]), to: descriptor, at: place)
        }
        if error == 0 { bytes += UInt64(content.count) }
        return error
    }
}

extension FrameEncoder {
    /// Divides chunks of one thread into frames.
    static func frames<Chunk>(_ chunks: [Chunk], size: (Chunk) -> Int) -> [ArraySlice<Chunk>] {
        var frames: [ArraySlice<Chunk>] = [], start = 0, total = 0
        for index in chunks.indices {
            total += size(chunks[index])
            if total >= frameSize || index == chunks.count - 1 {
                frames.append(chunks[start...index])
                (start, total) = (index + 1, 0)
            }
        }
        return frames
    }
}

extension fathom_packed_chunk {
    /// - Parameters:
    ///   - place: in the plain log, in bytes.
    ///   - isIntact: whether the payload is as its sum says.
    init(_ header: fathom_chunk, held: Int, at place: UInt64, isIntact: Bool) {
        let isRecords = UInt32(header.kind) == FATHOM_CHUNK_RECORDS
        self.init(
            header: header, place: place, held: UInt32(held),
            kept: !isIntact ? FATHOM_PACKED_DAMAGED : isRecords ? FATHOM_PACKED_RECORDS : FATHOM_PACKED_PLAIN)
    }
}
