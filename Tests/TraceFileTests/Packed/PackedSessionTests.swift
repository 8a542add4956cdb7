import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// A packed session is the session.
@Suite struct PackedSessionTests {
    private let directory: TemporaryDirectory
    private var plain: String { directory.file("s.fathom") }
    private var packed: String { directory.file("s.fathomz") }

    init() throws { directory = try TemporaryDirectory("packed") }

    /// Packs the session; returns its path.
    private func pack(_ session: String) throws -> String {
        let file = open(packed, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        #expect(try Session(path: session).pack(to: file, with: [:], progress: { _ in }) == 0)
        return packed
    }

    /// All that the session has, as text: the chunks, what can be read of them, and damage.
    private func content(_ path: String) throws -> [String] {
        let session = try Session(path: path)
        var lines: [String] = []
        for thread in session.processes.flatMap(\.threads) {
            for index in thread.chunks.indices {
                let chunk = thread.chunks[index], isIntact = thread.payloadIsIntact(ofChunk: index)
                lines.append(
                    "\(chunk.offset) \(chunk.sequence) \(chunk.payload.count) \(chunk.isTruncated) \(isIntact) "
                        + (isIntact ? "\(hashOf(chunk.payload))" : ""))
                thread.release(chunk: index)
            }
        }
        return lines + session.damage.entries.map(\.description) + ["\(session.plainLogSize)"]
    }

    /// - Parameter bytes: whether each byte is the same, and not only what is read.
    private func expectSame(_ session: String, bytes: Bool = true) throws {
        let expected = try content(session)
        #expect(try content(pack(session)) == expected)
        let back = directory.file("back.fathom")
        try Session(path: packed).unpack(to: back, progress: { _ in })
        #expect(try !bytes || readFile("\(back)/trace") == readFile("\(session)/trace"))
        #expect(try content(back) == expected)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func random(_ seed: UInt64) throws {
        try RandomTrace(seed: seed, count: 3000, chunkCalls: seed % 2 == 0 ? 50 : 2000).writer.write(to: plain)
        try expectSame(plain)
    }

    /// Damage is packed as it is, and told as before.
    @Test(arguments: 0..<60 as Range<UInt64>) func damaged(_ seed: UInt64) throws {
        try RandomTrace(seed: seed, count: 2000).writer.write(to: plain)
        var random = SeededGenerator(seed: seed), log = try readFile("\(plain)/trace")
        switch seed % 3 {
        case 0: log.removeLast(Int.random(in: 1..<log.count / 2, using: &random))
        case 1: for _ in 0..<5 { log[Int.random(in: 0..<log.count, using: &random)] ^= 0x10 }
        default:
            let start = Int.random(in: 0..<log.count - 800, using: &random)
            log.replaceSubrange(start..<start + 700, with: [UInt8](repeating: 0xff, count: 700))
        }
        try writeFile(log, to: "\(plain)/trace")
        // What fills chunks up to 8 bytes is no part of them.
        try expectSame(plain, bytes: seed % 3 == 0)
    }

    /// Without its index, or with sections that are damaged, what is left is read, and the rest is told.
    @Test(arguments: 0..<60 as Range<UInt64>) func damagedFile(_ seed: UInt64) throws {
        try RandomTrace(seed: seed, count: 20000, chunkCalls: 3000).writer.write(to: plain)
        let whole = try content(plain)
        var random = SeededGenerator(seed: seed), bytes = try readFile(pack(plain))
        if seed % 2 == 0 {
            bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        } else {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 0x40
        }
        try writeFile(bytes, to: packed)
        do {
            let read = try content(packed)
            #expect(read.contains { $0.contains(" at offset ") } || read == whole)
            // What is said to be intact is what it was.
            #expect(read.filter { $0.contains(" true ") }.allSatisfy(whole.contains))
        } catch let error as TraceFileError {
            #expect(!error.description.isEmpty)
        }
    }

    @Test func laterVersion() throws {
        try RandomTrace(seed: 1, count: 100).writer.write(to: plain)
        var bytes = try readFile(pack(plain))
        bytes.withUnsafeMutableBytes { bytes in
            var header = bytes.load(as: fathom_packed_header.self)
            header.version = FATHOM_PACKED_VERSION + 1
            header.sum = header.rightSum
            bytes.storeBytes(of: header, as: fathom_packed_header.self)
        }
        try writeFile(bytes, to: packed)
        #expect(
            throws: TraceFileError.unsupportedVersion(
                path: packed, found: FATHOM_PACKED_VERSION + 1, supported: FATHOM_PACKED_VERSION)
        ) {
            _ = try Session(path: packed)
        }
    }

    /// Frames of more threads than are kept in memory, read in turns by several readers.
    @Test func manyReaders() throws {
        let writer = TraceWriter()
        for sequence in 0..<40 {
            for thread in 1...6 as ClosedRange<UInt32> {
                var records = RecordWriter(time: 0)
                for call in 0..<4000 as Range<UInt64> {
                    records.enter(0x1000 + UInt64(thread), at: 10 * call)
                    records.exit(at: 10 * call + UInt64(sequence % 7))
                }
                var options = TraceWriter.ChunkOptions()
                (options.thread, options.tid, options.sequence) = (thread, 1000 + thread, UInt64(sequence))
                options.calls = 4000
                writer.add(options, records: records.bytes)
            }
        }
        try writer.write(to: plain)
        let session = try Session(path: pack(plain)), expected = try Session(path: plain)
        let threads = session.processes.flatMap(\.threads), others = expected.processes.flatMap(\.threads)
        #expect(threads.count == 6)
        for index in 0..<40 {
            for (thread, other) in zip(threads, others) {
                #expect(thread.payloadIsIntact(ofChunk: index))
                #expect(thread.chunks[index].payload.elementsEqual(other.chunks[index].payload))
            }
        }
    }

    /// A file with holes has them again.
    @Test func holes() throws {
        try RandomTrace(seed: 3, count: 100).writer.write(to: plain)
        let file = open("\(plain)/switches", O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        try #require(ftruncate(file, 1 << 30) == 0 && pwrite(file, "abc", 3, 700 << 20) == 3)
        _ = try pack(plain)
        try Session(path: packed).unpack(to: directory.file("back.fathom"), progress: { _ in })
        let back = try PlainFile(path: directory.file("back.fathom/switches"))
        #expect(back.size == 1 << 30 && back.allocatedSize < 1 << 20)
        #expect(back.nextData(from: 0).map { $0.contains(700 << 20) } == true)
    }

    /// What the recorder was writing when it was killed is still in the buffers, and is read from there.
    @Test(arguments: [8, 100, 130, 200, 400]) func cutInTheMiddle(_ rest: Int) throws {
        let recording = try Recording(in: plain, packs: true)
        let records = records(900)
        func header(_ sequence: UInt64) -> fathom_chunk {
            var header = recording.header(records.count)
            (header.sequence, header.calls) = (sequence, 900)
            return header
        }
        for sequence in 0..<3 as Range<UInt64> {
            if sequence == 2 { recording.put(header(2), records, into: 0, state: FATHOM_SLOT_FULL) }
            let size = try readFile("\(plain)/trace").count
            #expect(records.withUnsafeBytes { recording.log.append(header(sequence), payload: $0.baseAddress!) })
            if sequence == 2 { try #require(truncate("\(plain)/trace", off_t(size + rest)) == 0) }
        }
        recording.buffers.header.pointee.recorder_pid = 0
        let session = try Session(path: plain), thread = try #require(session.processes.first?.threads.first)
        #expect(thread.chunks.map(\.sequence) == [0, 1, 2])
        #expect(thread.chunks.indices.allSatisfy { thread.payloadIsIntact(ofChunk: $0) })
        #expect(thread.countCalls() == 2700)
        let expected = try content(plain)
        // The last one is longer than the section: zeros follow, as where a write has not come to its end.
        #expect(expected.contains { $0.contains("damaged section") } == (rest < 400))
        #expect(try content(pack(plain)) == expected)
    }

    /// What one write has left of several frames, when the recorder was killed in the midst of it, is in the buffers: it is no damage
    /// as long as they are there.
    @Test(arguments: [0, 1, 2]) func killedWhileItWrote(_ framesLeft: Int) throws {
        let recording = try Recording(in: plain, packs: true)
        let records = records(900)
        func header(_ sequence: UInt64, thread: UInt32 = 1) -> fathom_chunk {
            var header = recording.header(records.count)
            (header.sequence, header.calls, header.thread) = (sequence, 900, thread)
            return header
        }
        #expect(records.withUnsafeBytes { recording.log.append(header(0), payload: $0.baseAddress!) })
        let begin = try readFile("\(plain)/trace").count
        let last = [header(1), header(0, thread: 2), header(0, thread: 3)]
        for (slot, header) in last.enumerated() { recording.put(header, records, into: slot, state: FATHOM_SLOT_FULL) }
        let written = records.withUnsafeBytes { bytes in
            recording.log.append(last.map { ($0, bytes.baseAddress!) })
        }
        #expect(written == 3)
        // The first frame's header, which is written last, is not there, and the last frame not whole.
        var log = try readFile("\(plain)/trace")
        let headers = stride(from: begin, to: log.count, by: 8).filter { place in
            log[place...].prefix(4) == [UInt8]("SECT".utf8)[...]
        }
        try #require(headers.count == 3)
        let size = MemoryLayout<fathom_packed_section>.size
        log.replaceSubrange(begin..<begin + size, with: [UInt8](repeating: 0, count: size))
        log.removeLast(log.count - headers[framesLeft] - size - 16)
        try writeFile(log, to: "\(plain)/trace")
        recording.buffers.header.pointee.recorder_pid = 0

        let session = try Session(path: plain)
        let threads = session.processes.flatMap(\.threads)
        #expect(threads.map { $0.countCalls() } == [1800, 900, 900])
        let expected = try content(plain)
        #expect(!expected.contains { $0.contains("damaged section") }, "\(expected)")
        #expect(try content(pack(plain)) == expected)

        try #require(unlink("\(plain)/buffers") == 0)
        #expect(try content(plain).contains { $0.contains("damaged section") })
    }

    /// Bytes that are no chunks are several sections, and one place.
    @Test func longGap() throws {
        try RandomTrace(seed: 5, count: 500).writer.write(to: plain)
        var log = try readFile("\(plain)/trace")
        log.insert(contentsOf: [UInt8](repeating: 0, count: 3 << 20), at: TraceWriter.headerSize)
        try writeFile(log, to: "\(plain)/trace")
        try expectSame(plain)
    }
}
