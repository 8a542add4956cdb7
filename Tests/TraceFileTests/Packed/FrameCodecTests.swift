import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What a frame gives back is what was put into it, whatever that was; what it is damaged to is found.
@Suite struct FrameCodecTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("frames") }

    /// Chunks of random records, of which some are none, with random open calls.
    private func chunks(_ random: inout SeededGenerator) -> [(header: fathom_chunk, payload: [UInt8])] {
        (0..<Int.random(in: 1...9, using: &random)).map { index in
            let paths = Int.random(in: 0...3, using: &random)
            var payload = (0..<paths * PathEntry.size).map { UInt8(truncatingIfNeeded: $0) }
            let kinds = Int.random(in: 0...2, using: &random)
            for _ in 0..<Int.random(in: 0...400, using: &random) {
                switch Int.random(in: 0...(kinds == 0 ? 7 : 9), using: &random) {
                case 0...3:
                    // Functions of a small program, or of one whose edges do not fit into the cache.
                    let edge = UInt64.random(in: 0..<(kinds == 2 ? 1 << 40 : 200), using: &random)
                    let time = UInt64.random(in: 0..<(index == 0 ? 0x7fff : 300), using: &random)
                    withUnsafeBytes(of: edge << 16 | time << 1 | 1) { payload += $0 }
                case 4...7:
                    let unit = UInt16.random(in: 0..<0x7fc0, using: &random) << 1
                    payload += [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
                default:
                    // A record of any kind, or bytes that are no record.
                    payload += (0..<Int.random(in: 1...20, using: &random)).map { _ in
                        .random(in: 0...255, using: &random)
                    }
                }
            }
            var header = fathom_chunk()
            header.magic = FATHOM_CHUNK_MAGIC
            header.kind = UInt8(FATHOM_CHUNK_RECORDS)
            (header.thread, header.sequence, header.path_count, header.depth) = (1, UInt64(index), UInt32(paths), 5)
            header.used = UInt32(payload.count)
            header.seal(payloadSum: payload.withUnsafeBytes(hashOf))
            return (header, payload)
        }
    }

    /// Writes a frame of `chunks` to a file.
    private func write(_ chunks: [(header: fathom_chunk, payload: [UInt8])]) throws -> (fathom_packed_entry, PlainFile)
    {
        let encoder = FrameEncoder()
        let memory = chunks.map { chunk in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(chunk.payload.count, 1), alignment: 1)
            copy.copyBytes(from: chunk.payload)
            return copy
        }
        defer { memory.forEach { $0.deallocate() } }
        let parts: [FrameEncoder.Part] = zip(chunks, memory).map { chunk, copy in
            let row = fathom_packed_chunk(chunk.header, held: chunk.payload.count, at: 0, isIntact: true)
            return (row, UnsafeRawPointer(copy.baseAddress!))
        }
        let section = encoder.addFrame(parts[...])
        let path = directory.file("frame")
        try writeFile(Array(encoder.bytes), to: path)
        return (fathom_packed_entry(section: section, place: 0), try PlainFile(path: path))
    }

    private func read(_ entry: fathom_packed_entry, _ file: PlainFile) -> [[UInt8]]? {
        let decoder = FrameDecoder()
        guard let rows = decoder.heads(of: entry, in: file) else { return nil }
        let size = rows.reduce(0) { $0 + $1.room }
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 1, alignment: 8)
        defer { target.deallocate() }
        let isRead = rows.withUnsafeBufferPointer { decoder.read(entry, of: file, $0, to: target.baseAddress!) }
        guard isRead else { return nil }
        var place = 0
        return rows.map { row in
            defer { place += row.room }
            return Array(target[place..<place + Int(row.held)])
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func givesBack(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let chunks = chunks(&random)
        let (entry, file) = try write(chunks)
        #expect(read(entry, file) == chunks.map(\.payload))
        #expect(FrameDecoder().heads(of: entry, in: file)?.map(\.header.header_sum) == chunks.map(\.header.header_sum))
    }

    /// Sums keep damage away from the columns. Where they hold by chance or by intent, no column leads beyond its memory.
    @Test(arguments: 0..<200 as Range<UInt64>) func survivesForgery(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let chunks = chunks(&random)
        var (entry, file) = try write(chunks)
        var bytes = try readFile(directory.file("frame"))
        let start = MemoryLayout<fathom_packed_section>.size
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            bytes[Int.random(in: start..<start + Int(entry.section.size), using: &random)] ^=
                1 << UInt8.random(in: 0...7, using: &random)
        }
        if Bool.random(using: &random) {
            withUnsafeMutableBytes(of: &entry.section.columns) {
                $0.storeBytes(
                    of: .random(in: 0...UInt32.max, using: &random),
                    toByteOffset: 4 * .random(in: 0..<8, using: &random), as: UInt32.self)
            }
        }
        try writeFile(bytes, to: directory.file("frame"))
        file = try PlainFile(path: directory.file("frame"))
        #expect(read(entry, file) == nil)
        bytes.withUnsafeBytes { bytes in
            let body = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(entry.section.size)])
            entry.section.sum = hashOf(body)
            let heads = min(entry.section.size(ofColumn: 0), body.count)
            entry.section.head_sum = UInt32(
                truncatingIfNeeded: hashOf(UnsafeRawBufferPointer(rebasing: body[..<heads])))
        }
        // It is something or nothing, but it ends.
        _ = read(entry, file)
    }

    /// A row that tells of more open calls than the payload holds is none, though all sums hold.
    @Test func rowsThatDisagree() throws {
        var random = SeededGenerator(seed: 9)
        let (header, payload) = chunks(&random)[0]
        for change: (inout fathom_packed_chunk) -> Void in [
            { $0.header.path_count = 1 << 20 }, { $0.held += 1 }, { $0.kept = 7 }, { $0.place = .max },
        ] {
            let encoder = FrameEncoder()
            var row = fathom_packed_chunk(header, held: payload.count, at: 0, isIntact: true)
            let section = payload.withUnsafeBytes { encoder.addFrame([(row, $0.baseAddress!)]) }
            try writeFile(Array(encoder.bytes), to: directory.file("frame"))
            let file = try PlainFile(path: directory.file("frame"))
            let entry = fathom_packed_entry(section: section, place: 0)
            #expect(read(entry, file) == [payload])
            change(&row)
            #expect(!row.isPlausible)
            // The records are as they were; whoever reads them by such a row finds that out.
            let target = UnsafeMutableRawPointer.allocate(byteCount: 1 << 26, alignment: 8)
            defer { target.deallocate() }
            if row.sizeInPaths <= Int(row.held) {
                let isRead = [row].withUnsafeBufferPointer { FrameDecoder().read(entry, of: file, $0, to: target) }
                #expect(!isRead || row.held == payload.count)
            }
        }
    }
}
