internal import CTraceFormat
internal import Glibc

/// A packed file: its sections, and the headers of all its chunks (CTracePacked.h).
final class PackedFile {
    let file: PlainFile
    /// The header of the log as it is in a plain log; empty when the session has no log, or when it is damaged.
    private(set) var logHeader: [UInt8] = []
    private(set) var entries: [fathom_packed_entry] = []
    /// The chunks of all frames, in the order of the frames.
    private(set) var chunks = UnsafeBufferPointer<fathom_packed_chunk>(start: nil, count: 0)
    /// Stretches of the file in which there is no section.
    private(set) var lost: [Range<UInt64>] = []
    private let name: String
    private let damage: DamageLog

    /// A section holds no more than this. A chunk is at most 4 MB, and a frame is begun while there is less than 1 MB in it.
    static let largestSection = 1 << 26
    private static let sectionSize = UInt64(MemoryLayout<fathom_packed_section>.size)

    /// What became of the recorder that writes the file. Until it has ended, the buffers have what it was writing.
    enum Recorder { case isWriting, wasKilled, hasEnded }

    /// Whether a file begins as a packed one does.
    static func isOne(_ file: PlainFile) -> Bool {
        var magic: UInt64 = 0
        return file.read(&magic, at: 0) && magic == FATHOM_PACKED_MAGIC
    }

    /// - Parameters:
    ///   - name: what damage is told by.
    ///   - isSession: whether the file holds a whole session, which ends with an index.
    ///   - recorder: whether it may be in the middle of writing, or was when it was killed.
    /// - Throws: ``TraceFileError/unsupportedVersion(path:found:supported:)``.
    /// - Complexity: O(chunks), most of which is to take up their headers from the index. Without an index, O(sections) system calls
    ///   besides.
    init(
        _ file: PlainFile, path: String, name: String, isSession: Bool, recorder: Recorder, damage: DamageLog
    ) throws(TraceFileError) {
        self.file = file
        self.name = name
        self.damage = damage
        var header = fathom_packed_header()
        guard file.read(&header, at: 0), header.magic == FATHOM_PACKED_MAGIC, header.sum == header.rightSum,
            header.version != FATHOM_PACKED_VERSION || header.section_size == Self.sectionSize
        else {
            damage.report(
                Damage(
                    file: name, offset: 0, lostBytes: UInt64(MemoryLayout<fathom_packed_header>.size), kind: .fileHeader
                ))
            scan(from: 8, recorder)
            return
        }
        guard header.version == FATHOM_PACKED_VERSION else {
            throw .unsupportedVersion(path: path, found: header.version, supported: FATHOM_PACKED_VERSION)
        }
        let start = MemoryLayout<fathom_packed_header>.size, size = Int(header.log_header_size)
        if size > 0, start + size <= Int(header.header_size) {
            var bytes = [UInt8](repeating: 0, count: min(size, 4096))
            if bytes.withUnsafeMutableBytes({ file.read($0, at: start) }) { logHeader = bytes }
        }
        if !readIndex() {
            if isSession {
                damage.report(Damage(file: name, offset: UInt64(file.size), lostBytes: 0, kind: .noIndex))
            }
            scan(from: UInt64(header.header_size), recorder)
        }
        for entry in entries where entry.section.kind == FATHOM_SECTION_LOST {
            damage.report(
                Damage(
                    file: TraceLog.name, offset: entry.section.place, lostBytes: entry.section.whole, kind: .section))
        }
    }

    deinit { chunks.deallocate() }

    private func keep(_ chunks: [fathom_packed_chunk]) {
        let memory = UnsafeMutableBufferPointer<fathom_packed_chunk>.allocate(capacity: chunks.count)
        _ = memory.initialize(from: chunks)
        self.chunks = UnsafeBufferPointer(memory)
    }

    /// Takes up the index that the end of the file leads to.
    ///
    /// - Returns: Whether there is one.
    private func readIndex() -> Bool {
        guard let end = entry(at: UInt64(max(file.size - Int(Self.sectionSize), 0))),
            end.section.kind == FATHOM_SECTION_END, let index = entry(at: end.section.place),
            index.section.kind == FATHOM_SECTION_INDEX,
            let (entries, chunks) = FrameDecoder().index(index, in: file),
            chunks.count == entries.reduce(0, { $0 + $1.chunkCount }),
            entries.allSatisfy({ $0.isPlausible(in: file.size) })
        else { return false }
        self.entries = entries
        keep(chunks)
        return true
    }

    /// Goes from section to section. What is none is passed over at steps of 8 bytes.
    private func scan(from start: UInt64, _ recorder: Recorder) {
        let decoder = FrameDecoder(), end = UInt64(file.size)
        var chunks: [fathom_packed_chunk] = [], place = start, isUnfinished = false
        defer { keep(chunks) }
        while place < end {
            let entry = nextEntry(from: place), next = entry.map { $0.place + $0.section.stride } ?? end
            // What a write has left that did not come to its end is no damage: the buffers have all of it.
            if entry?.place != place, recorder != .hasEnded, beginsUnfinishedWrite(at: place) { isUnfinished = true }
            guard let entry, next <= end else {
                if !isUnfinished && recorder != .isWriting { reportLost(place, end) }
                return
            }
            if !isUnfinished { reportLost(place, entry.place) }
            place = next
            guard entry.section.kind != FATHOM_SECTION_INDEX, entry.section.kind != FATHOM_SECTION_END else { continue }
            if entry.section.kind == FATHOM_SECTION_FRAME {
                guard let rows = decoder.heads(of: entry, in: file) else {
                    reportLost(entry.place, next)
                    continue
                }
                chunks += rows
            }
            entries.append(entry)
        }
        reportLost(min(place, end), end)
    }

    /// Whether the file ends with what one write has left that did not come to its end. The header of its first section is written
    /// last (``PackedWriter``).
    private func beginsUnfinishedWrite(at place: UInt64) -> Bool {
        var section = fathom_packed_section()
        return file.size - Int(place) <= Self.largestSection && file.read(&section, at: Int(place))
            && section.header_sum == 0
    }

    private func reportLost(_ start: UInt64, _ end: UInt64) {
        guard start < end else { return }
        lost.append(start..<end)
        damage.report(Damage(file: name, offset: start, lostBytes: end - start, kind: .section))
    }

    /// The first section from `start` on; nil when there is none.
    private func nextEntry(from start: UInt64) -> fathom_packed_entry? {
        if let entry = entry(at: start) { return entry }
        var window = [UInt8](repeating: 0, count: 1 << 16), place = Int(start) & ~7
        while place < file.size {
            let size = min(window.count, file.size - place)
            guard
                window.withUnsafeMutableBytes({
                    file.read(UnsafeMutableRawBufferPointer(rebasing: $0[..<size]), at: place)
                })
            else { return nil }
            for step in stride(from: 0, to: size - 3, by: 8)
            where window.withUnsafeBytes({ $0.load(fromByteOffset: step, as: UInt32.self) }) == FATHOM_SECTION_MAGIC {
                if let entry = entry(at: UInt64(place + step)) { return entry }
            }
            place += size
        }
        return nil
    }

    /// The section whose header is at `place`; nil when there is none.
    private func entry(at place: UInt64) -> fathom_packed_entry? {
        var entry = fathom_packed_entry()
        guard place <= UInt64(file.size), file.read(&entry.section, at: Int(place)),
            entry.section.magic == FATHOM_SECTION_MAGIC, entry.section.header_sum == entry.section.rightSum
        else { return nil }
        entry.place = place
        return entry.isPlausible(in: file.size) ? entry : nil
    }

    /// Reports that what is at `entry` is not as it was written.
    func report(_ entry: fathom_packed_entry) {
        damage.report(Damage(file: name, offset: entry.place, lostBytes: entry.section.stride, kind: .section))
    }

    /// A file of the session, in memory; nil when there is none. Damage is reported.
    ///
    /// - Complexity: O(bytes of the file).
    func member(_ wanted: SessionFile) -> PlainFile? {
        let pieces = entries.filter { $0.section.kind == FATHOM_SECTION_FILE && $0.section.title == wanted.name }
        guard let first = pieces.first else { return nil }
        let memory = fathom_memory_file(wanted.name), decoder = FrameDecoder()
        guard memory >= 0 else {
            report(first)
            return nil
        }
        var isWhole = ftruncate(memory, off_t(clamping: first.section.whole)) == 0
        for piece in pieces {
            guard let bytes = decoder.bytes(of: piece, in: file), piece.section.whole == first.section.whole,
                piece.section.place <= piece.section.whole,
                UInt64(bytes.count) <= piece.section.whole - piece.section.place
            else {
                report(piece)
                continue
            }
            let place = off_t(piece.section.place)
            isWhole = isWhole && pwrite(memory, bytes.baseAddress, bytes.count, place) == bytes.count
        }
        if !isWhole { report(first) }
        return try? PlainFile(memory, path: wanted.name)
    }
}

extension fathom_packed_header {
    /// The right `sum`.
    var rightSum: UInt64 {
        withUnsafeBytes(of: self) { hashOf(UnsafeRawBufferPointer(rebasing: $0.dropLast(8))) }
    }
}

extension fathom_packed_section {
    /// The name of the file that a piece belongs to.
    var title: String { withUnsafeBytes(of: name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } }
}

extension fathom_packed_entry {
    /// How many rows of the index are about this section.
    var chunkCount: Int { section.kind == FATHOM_SECTION_FRAME ? Int(section.count) : 0 }

    /// Whether it can be what it says in a file of `size` bytes.
    func isPlausible(in size: Int) -> Bool {
        let isSmall = section.kind == FATHOM_SECTION_INDEX || section.raw_size <= PackedFile.largestSection
        return isSmall && section.size <= UInt64(size) && place <= UInt64(size) && section.size <= 1 << 40
            && section.place <= 1 << 60 && section.count <= section.raw_size + 1 << 20
    }
}

extension fathom_packed_chunk {
    /// Whether the numbers of the row agree with each other.
    var isPlausible: Bool {
        kept <= FATHOM_PACKED_DAMAGED && held <= header.used && sizeInPaths <= Int(held) && place <= 1 << 60
            && held <= PackedFile.largestSection
    }
}
