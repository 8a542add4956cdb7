import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What the log holds when chunks go to the disk as whole pages.
@Suite struct PageWriterTests {
    let directory: TemporaryDirectory
    let recording: Recording

    /// Whether files here can be written past the page cache.
    static let isPossible: Bool = {
        guard let directory = try? TemporaryDirectory("direct"),
            let recording = try? Recording(in: directory.file("session.fathom"))
        else { return false }
        return recording.log.canPassCache
    }()

    init() throws {
        directory = try TemporaryDirectory("pages")
        recording = try Recording(in: directory.file("session.fathom"))
    }

    /// Chunks of records in memory of pages, as programs leave them.
    private final class Chunks {
        var parts: [TraceLogWriter.Part] = []
        private let size = 64 << 10
        private var memory: UnsafeMutableRawPointer?

        /// - Parameter left: for each chunk, the bytes at its end that it leaves free.
        init(_ recording: Recording, left: [Int], from sequence: Int = 0) {
            posix_memalign(&memory, size, left.count * size)
            let call = records(1)
            for (index, left) in left.enumerated() {
                let used = size - 160 - left, payload = memory! + index * size + 160
                // EXIT records for what no whole call fits in.
                memset(payload, 0, used)
                for offset in stride(from: 0, to: used - call.count + 1, by: call.count) {
                    (payload + offset).copyMemory(from: call, byteCount: call.count)
                }
                var header = recording.header(used)
                header.sequence = UInt64(sequence + index)
                header.calls = UInt64(used / call.count)
                parts.append((header, UnsafeRawPointer(payload)))
            }
        }

        deinit { free(memory) }
    }

    @Test(.enabled(if: isPossible)) func sameRecords() throws {
        let left = (0..<40).map { 100 + $0 * 2 }
        let chunks = Chunks(recording, left: left)
        let other = try Recording(in: directory.file("copied.fathom"))
        #expect(other.log.append(chunks.parts) == 40)
        recording.log.passesCache = true
        #expect(recording.log.append(chunks.parts) == 40)
        let logged = try recording.logged()
        // The first chunk says nothing, and ends where a page does.
        #expect(logged[0].process == FATHOM_NO_PROCESS && logged.count == 41)
        #expect(logged.dropFirst().allSatisfy { $0.used == (64 << 10) - 160 })
        #expect(recording.log.bytes == UInt64(4096 + 40 * 65536))
        #expect(try PageWriterTests.read(recording) == PageWriterTests.read(other))
        #expect(recording.log.passesCache)
    }

    /// Chunks that do not fill their pages stand between those that do.
    @Test(.enabled(if: isPossible)) func mixed() throws {
        var left = [Int](repeating: 120, count: 40)
        for index in [3, 12, 13, 39] { left[index] = 30_000 + 2 * index }
        // What a chunk leaves cannot be filled by records.
        left[30] = 10
        let chunks = Chunks(recording, left: left)
        recording.log.passesCache = true
        #expect(recording.log.append(chunks.parts) == 40)
        let own = try recording.logged().filter { $0.process != FATHOM_NO_PROCESS }
        #expect(own.map(\.sequence) == (0..<40).map { UInt64($0) })
        let whole = own.filter { $0.used == (64 << 10) - 160 }.map(\.sequence)
        #expect(whole == [4..<12, 14..<30, 31..<39].flatMap { $0.map { UInt64($0) } })
        let other = try Recording(in: directory.file("copied.fathom"))
        #expect(other.log.append(chunks.parts) == 40)
        #expect(try PageWriterTests.read(recording) == PageWriterTests.read(other))
    }

    /// A disk that does not take pages gets copies, from the chunk on that was not written.
    @Test(.enabled(if: isPossible)) func failure() throws {
        recording.log.pages = PageWriter(open(recording.directory.file("trace"), O_RDONLY))
        try #require(recording.log.canPassCache)
        recording.log.passesCache = true
        let chunks = Chunks(recording, left: [Int](repeating: 120, count: 20))
        #expect(recording.log.append(chunks.parts) == 20)
        #expect(recording.log.error == nil && !recording.log.canPassCache)
        let own = try recording.logged().filter { $0.process != FATHOM_NO_PROCESS }
        #expect(own.map(\.sequence) == (0..<20).map { UInt64($0) })
    }

    /// Few chunks, and chunks in memory of their own, are copied.
    @Test(.enabled(if: isPossible)) func fewOrElsewhere() throws {
        recording.log.passesCache = true
        let few = Chunks(recording, left: [Int](repeating: 120, count: 7))
        #expect(recording.log.append(few.parts) == 7)
        let many = Chunks(recording, left: [Int](repeating: 120, count: 20), from: 7)
        #expect(recording.log.append(many.parts.map { ($0.header, $0.payload + 8) }) == 20)
        let logged = try recording.logged()
        #expect(logged.count == 27 && logged.allSatisfy { $0.used == (64 << 10) - 160 - 120 })
    }

    /// The records of each chunk of a session, in words.
    private static func read(_ recording: Recording) throws -> [String] {
        var read: [String] = []
        let session = try Session(path: recording.directory.path)
        // Nobody has described the session.
        #expect(session.damage.entries.allSatisfy { $0.kind == .sessionDescription })
        for thread in session.processes.flatMap(\.threads) {
            for chunk in thread.chunks {
                var cursor = chunk.records, count = 0, record = cursor.next()
                while record != .end, record != .malformed {
                    count += 1
                    record = cursor.next()
                }
                #expect(record == .end && chunk.payloadIsIntact)
                read.append("\(chunk.sequence): \(count) records until \(cursor.ticks &- chunk.beginTicks)")
            }
        }
        return read
    }
}
