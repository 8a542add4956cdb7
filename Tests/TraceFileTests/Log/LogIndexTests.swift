import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What is read of a log by its index: the same as without.
@Suite struct LogIndexTests {
    let directory: TemporaryDirectory
    let recording: Recording
    private let payload = [UInt8](repeating: 0, count: 60_000)
    private var trace: String { recording.directory.file("trace") }
    private var index: String { recording.directory.file("index") }

    init() throws {
        directory = try TemporaryDirectory("index")
        recording = try Recording(in: directory.file("session.fathom"))
    }

    /// Appends chunks until there are `count`.
    private func fill(_ range: Range<Int>) {
        for sequence in range {
            var header = recording.header(payload.count)
            header.sequence = UInt64(sequence)
            #expect(payload.withUnsafeBytes { recording.log.append(header, payload: $0.baseAddress!) })
        }
    }

    private func read() throws -> (sequences: [UInt64], damage: [Damage]) {
        let session = try Session(path: recording.directory.path)
        let chunks = session.processes.flatMap(\.threads).flatMap { $0.chunks.map { $0 } }
        let areIntact = chunks.allSatisfy { $0.payloadIsIntact }
        #expect(areIntact)
        // Nobody has described the session.
        return (chunks.map(\.sequence), session.damage.entries.filter { $0.kind != .sessionDescription })
    }

    /// Writes over bytes of a file.
    private func write(_ bytes: [UInt8], to path: String, at offset: Int) throws {
        let file = open(path, O_WRONLY)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
    }

    private func isSame(_ range: Range<UInt64>) throws -> Bool {
        let read = try read()
        return read.damage.isEmpty && read.sequences == Array(range)
    }

    @Test func shortLogsHaveNone() throws {
        fill(0..<10)
        #expect(access(index, F_OK) != 0)
        #expect(try isSame(0..<10))
    }

    @Test func grows() throws {
        fill(0..<300)
        #expect(try readFile(index).count == 24 + 300 * 160)
        #expect(try isSame(0..<300))
        fill(300..<310)
        #expect(try readFile(index).count == 24 + 310 * 160)
        #expect(try isSame(0..<310))
        #expect(SessionFiles.areASession(["trace", "index"], in: open(recording.directory.path, O_RDONLY)))
    }

    /// A header that is damaged in the log is whole in the index. This also shows that the index is what is read.
    @Test func standsForTheLog() throws {
        fill(0..<300)
        try write([0, 0, 0, 0], to: trace, at: 128 + 100 * 60_160)
        #expect(try isSame(0..<300))
        unlink(index)
        let read = try read()
        let all: [UInt64] = (0..<300).filter { $0 != 100 }
        let missing = Damage.Kind.missingChunks(process: 0, thread: 1, first: 100, count: 1)
        #expect(read.sequences == all && read.damage.map(\.kind) == [.chunkHeader, missing])
    }

    /// What the index does not know, or tells wrong, is read from the log.
    @Test func cutOrDamaged() throws {
        fill(0..<300)
        try #require(truncate(index, 24 + 17 * 160 + 33) == 0)
        #expect(try isSame(0..<300))
        try write([1], to: index, at: 24 + 5 * 160 + 30)
        #expect(try isSame(0..<300))
        try #require(truncate(index, 20) == 0)
        #expect(try isSame(0..<300))
    }

    @Test func ofAnotherLog() throws {
        fill(0..<300)
        let other = try Recording(in: directory.file("other.fathom"))
        for sequence in 0..<400 {
            var header = other.header(50_000)
            header.sequence = UInt64(sequence + 1000)
            #expect(payload.withUnsafeBytes { other.log.append(header, payload: $0.baseAddress!) })
        }
        for name in ["trace", "index"] { #expect(access(other.directory.file(name), F_OK) == 0, "\(name)") }
        try #require(rename(other.directory.file("index"), index) == 0)
        #expect(try isSame(0..<300))
        // One that says that it is this log's is found out by what it says last.
        let sum = try readFile(trace).withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 112, as: UInt64.self) }
        try write(withUnsafeBytes(of: sum) { Array($0) }, to: index, at: 8)
        #expect(try isSame(0..<300))
    }

    /// A log that was cut is read up to its end. While the recorder is there, the last chunk may be half written.
    @Test func logThatWasCut() throws {
        fill(0..<300)
        try #require(truncate(trace, 128 + 200 * 60_160 + 30_000) == 0)
        let read = try read()
        #expect(read.sequences == Array(0..<200) && read.damage.isEmpty)
    }
}
