import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What stands in the log, above all where a write ends half-way.
@Suite struct TraceLogWriterTests {
    private func fileHeader(_ recording: Recording) throws -> fathom_trace_header {
        try readFile(recording.directory.file("trace")).withUnsafeBytes { $0.load(as: fathom_trace_header.self) }
    }

    private func append(_ payload: [UInt8], to recording: Recording, sequence: UInt64 = 0) -> Bool {
        var header = recording.header(payload.count)
        header.sequence = sequence
        return payload.withUnsafeBytes { recording.log.append(header, payload: $0.baseAddress!) }
    }

    @Test func chunksAreSealedAndPadded() throws {
        let directory = try TemporaryDirectory("log")
        let recording = try Recording(in: directory.file("session.fathom"))
        let payload = records(3) + [0, 0]
        #expect(append(payload, to: recording) && append(payload, to: recording, sequence: 1))
        let chunks = try recording.logged()
        #expect(chunks.map(\.sequence) == [0, 1])
        let size = try readFile(recording.directory.file("trace")).count
        #expect(size % 8 == 0 && recording.log.bytes == UInt64(size))
        for chunk in chunks {
            #expect(UInt32(chunk.flags) & FATHOM_FLAG_SEALED != 0)
            #expect(chunk.header_sum == fathom_header_sum(chunk))
            let sum = payload.withUnsafeBytes { fathom_payload_sum(chunk.flags, $0.baseAddress!, $0.count) }
            #expect(chunk.payload_sum == sum)
        }
    }

    /// Of chunks that are written at once, those that the disk has room for are part of the log.
    @Test(.enabled(if: Privilege.mounts)) func partialWriteOfSeveral() throws {
        let files = try SmallFileSystem("size=96k")
        let recording = try Recording(in: files.directory.file("session.fathom"))
        let sizes = [40, 44, 200_000, 48]
        let payload = [UInt8](repeating: 0, count: 200_000)
        func append(_ sequences: Range<Int>) -> Int {
            payload.withUnsafeBytes { payload in
                recording.log.append(
                    sequences.map { sequence in
                        var header = recording.header(sizes[sequence])
                        header.sequence = UInt64(sequence)
                        return (header, payload.baseAddress!)
                    })
            }
        }
        #expect(append(0..<4) == 2)
        #expect(recording.log.error == ENOSPC)
        #expect(append(3..<4) == 1)
        let chunks = try recording.logged()
        #expect(chunks.map(\.sequence) == [0, 1, 3] && chunks.allSatisfy { $0.header_sum == fathom_header_sum($0) })
    }

    /// More chunks than one write takes.
    @Test func thousand() throws {
        let directory = try TemporaryDirectory("log")
        let recording = try Recording(in: directory.file("session.fathom"))
        let payload = records(3)
        payload.withUnsafeBytes { payload in
            let chunks = (0..<1000).map { sequence in
                var header = recording.header(payload.count)
                header.sequence = UInt64(sequence)
                return (header, payload.baseAddress!)
            }
            #expect(recording.log.append(chunks) == 1000)
        }
        #expect(try recording.logged().map(\.sequence) == (0..<1000).map { UInt64($0) })
    }

    @Test func completed() throws {
        let directory = try TemporaryDirectory("log")
        let recording = try Recording(in: directory.file("session.fathom"))
        #expect(try fileHeader(recording).is_complete == 0)
        recording.log.complete(
            RecordingLosses(
                unplacedCalls: 1, unwrittenCalls: 2, leftOutCalls: 3, spoiledChunks: 4, isSpoiled: true))
        let header = try fileHeader(recording)
        #expect(header.is_complete == 1 && header.log_size == recording.log.bytes && header.write_errno == 0)
        #expect((header.unplaced_calls, header.unwritten_calls, header.left_out_calls) == (1, 2, 3))
        #expect(header.spoiled_chunks == 4 && header.is_spoiled == 1)
        #expect(header.start_sum == fathom_start_sum(header) && header.end_sum == fathom_end_sum(header))
    }

    /// A write that the disk has room for in part is no part of the log; a smaller one goes where it began.
    @Test(.enabled(if: Privilege.mounts)) func partialWrite() throws {
        let files = try SmallFileSystem("size=96k")
        let recording = try Recording(in: files.directory.file("session.fathom"))
        let small = records(10)
        #expect(append(small, to: recording))
        let before = recording.log.bytes
        #expect(!append([UInt8](repeating: 0, count: 200_000), to: recording, sequence: 1))
        #expect(recording.log.error == ENOSPC && recording.log.bytes == before)
        // The file is longer than the log: the write was one in part.
        #expect(try readFile(recording.directory.file("trace")).count > Int(before))
        #expect(append(small, to: recording, sequence: 2))
        #expect(try recording.logged().map(\.sequence) == [0, 2])
        // The header is written in place, so the full disk does not matter.
        recording.log.complete(
            RecordingLosses(unplacedCalls: 0, unwrittenCalls: 9, leftOutCalls: 0, spoiledChunks: 0, isSpoiled: false))
        let header = try fileHeader(recording)
        #expect(header.log_size == recording.log.bytes && header.write_errno == UInt32(ENOSPC))
        #expect(header.unwritten_calls == 9)
    }
}
