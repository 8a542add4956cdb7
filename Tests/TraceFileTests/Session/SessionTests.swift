internal import CTraceFormat
internal import Glibc
import TestSupport
import Testing

@testable import TraceFile

@Suite struct SessionTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("session") }

    private func chunk(_ sequence: UInt64, thread: UInt32 = 1, process: UInt32 = 0) -> TraceWriter.ChunkOptions {
        var options = TraceWriter.ChunkOptions()
        options.sequence = sequence
        options.thread = thread
        options.process = process
        options.begin = sequence * 1000
        options.end = sequence * 1000 + 500
        options.name = "worker"
        return options
    }

    private func metadata(process: UInt32, _ bytes: [UInt8]) -> [UInt8] {
        var options = chunk(0, process: process)
        options.isMetadata = true
        return TraceWriter.chunk(options, records: bytes)
    }

    private func records(_ calls: Int, at time: UInt64 = 0) -> [UInt8] {
        var records = RecordWriter(time: time)
        for call in 0..<UInt64(calls) {
            records.enter(0x1000, at: time + call * 10)
            records.exit(at: time + call * 10 + 5)
        }
        return records.bytes
    }

    @Test func chunksAreSortedAndNamed() throws {
        let writer = TraceWriter()
        for sequence in [2, 0, 1] as [UInt64] { writer.add(chunk(sequence), records: records(3)) }
        try writer.write(to: path)
        let session = try Session(path: path)
        let thread = try #require(session.processes.first?.threads.first)
        #expect(thread.chunks.map(\.sequence) == [0, 1, 2])
        #expect(thread.name == "worker")
        #expect(session.processes[0].metadataIsLost)
        #expect(session.damage.entries.isEmpty)
        #expect(session.description?.command == ["./program", "one", "two \"three\""])
        #expect(session.description?.options.map(\.name) == ["max_depth", "min_cost_ns"])
    }

    @Test func aProgramStandsForItsSession() throws {
        let writer = TraceWriter()
        writer.add(chunk(0), records: records(1))
        try writer.write(to: path)
        #expect(try Session(path: directory.file("x")).path == path)
        #expect(try Session(path: path + "/").path == path)
    }

    @Test func refusals() throws {
        #expect(throws: TraceFileError.unreadable(path: "/nonexistent", errno: 2)) {
            _ = try Session(path: "/nonexistent")
        }
        #expect(throws: TraceFileError.notASession(path: directory.path)) { _ = try Session(path: directory.path) }
        try writeFile([], to: directory.file("trace"))
        #expect(throws: TraceFileError.noHeader(path: directory.path)) { _ = try Session(path: directory.path) }
        var log = TraceWriter().log
        (log[8], log[12]) = (9, 200)
        try writeFile(log, to: directory.file("trace"))
        #expect(throws: TraceFileError.unsupportedVersion(path: directory.path, found: 9, supported: 3)) {
            _ = try Session(path: directory.path)
        }
    }

    @Test func aDamagedHeaderCostsOneChunk() throws {
        let writer = TraceWriter()
        writer.add(chunk(0), records: records(3))
        let damaged = writer.log.count
        writer.add(chunk(1), records: records(3))
        let next = writer.log.count
        writer.add(chunk(2), records: records(3))
        try writer.write(to: path)
        var log = writer.log
        log[damaged + 50] ^= 1
        try writeFile(log, to: path + "/trace")
        let session = try Session(path: path)
        #expect(session.processes[0].threads[0].chunks.map(\.sequence) == [0, 2])
        #expect(
            session.damage.entries.first
                == Damage(
                    file: "trace", offset: UInt64(damaged), lostBytes: UInt64(next - damaged), kind: .chunkHeader))
        #expect(
            session.damage.entries.last?.kind == .missingChunks(process: 0, thread: 1, first: 1, count: 1))
    }

    @Test func aCutChunkKeepsWhatIsThere() throws {
        let writer = TraceWriter()
        writer.add(chunk(0), records: records(30))
        try writer.write(to: path)
        try writeFile(Array(writer.log.dropLast(100)), to: path + "/trace")
        let session = try Session(path: path)
        let thread = session.processes[0].threads[0]
        #expect(thread.chunks[0].isTruncated)
        #expect(thread.countCalls() == 20)
        #expect(session.damage.entries.map(\.kind) == [.truncated])
    }

    /// The recorder is in the midst of writing a chunk that a slot still holds, or was when it was killed: nothing is damaged.
    @Test(arguments: [100, 400], [true, false]) func aChunkThatIsBeingWrittenIsWhole(missing: Int, isRecording: Bool)
        throws
    {
        let writer = TraceWriter()
        writer.add(chunk(0), records: records(30))
        writer.add(chunk(1), records: records(30, at: 1000))
        #expect(writer.log.count - 400 > 88 + (writer.log.count - 88) / 2, "the first chunk is whole")
        let slot = TraceWriter.chunk(chunk(1), records: records(30, at: 1000))
        try writer.write(to: path, buffers: TraceWriter.buffers(slots: [slot], recorder: isRecording ? getpid() : 0))
        try writeFile(Array(writer.log.dropLast(missing)), to: path + "/trace")
        let session = try Session(path: path)
        #expect(session.isRecording == isRecording)
        let chunks = session.processes[0].threads[0].chunks
        #expect(chunks.map(\.sequence) == [0, 1])
        #expect(chunks.allSatisfy { !$0.isTruncated })
        #expect(session.damage.entries.isEmpty)
        if isRecording { return }
        let packed = directory.file("packed")
        let descriptor = open(packed, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        #expect(try session.pack(to: descriptor, with: [:], progress: { _ in }) == 0)
        let other = try Session(path: packed)
        #expect(other.damage.entries.isEmpty && other.processes[0].threads[0].chunks.map(\.sequence) == [0, 1])
    }

    /// Recursion may be deeper than any stack that is there by default.
    @Test func deepChunksAreNoDamage() throws {
        let writer = TraceWriter()
        var options = chunk(0)
        options.depth = FATHOM_DEPTH_LIMIT
        writer.add(options, records: records(3))
        options.depth += 1
        options.thread = 2
        writer.add(options, records: records(3))
        try writer.write(to: path)
        let session = try Session(path: path)
        #expect(session.processes[0].threads.map(\.serial) == [1])
        #expect(session.damage.entries.map(\.kind) == [.chunkHeader])
    }

    @Test func leftoverSlotsAreReadOnce() throws {
        let writer = TraceWriter()
        writer.add(chunk(0), records: records(3))
        var open = chunk(1)
        open.end = 0
        open.isSealed = false
        let slots = [
            TraceWriter.chunk(chunk(0), records: records(2)), TraceWriter.chunk(open, records: records(5)),
            TraceWriter.chunk(open, records: records(4)),
        ]
        try writer.write(to: path, buffers: TraceWriter.buffers(slots: slots))
        let session = try Session(path: path)
        #expect(session.processes[0].threads[0].chunks.map(\.file) == ["trace", "buffers"])
        #expect(session.processes[0].threads[0].countCalls() == 5)
        // The log's header is gone: the buffers know the clock too.
        try writeFile([UInt8](repeating: 0, count: 88) + writer.log[88...], to: path + "/trace")
        #expect(try Session(path: path).processes[0].threads[0].countCalls() == 5)
    }

    @Test func aForkInheritsTheModulesOfItsMoment() throws {
        let writer = TraceWriter()
        var parent = MetadataWriter()
        parent.process(pid: 10, path: "/bin/shell", arguments: ["shell", "-c", "x"])
        parent.module("/bin/shell", buildID: [1, 2], low: 0x1000, high: 0x2000, bias: 0x1000)
        parent.module("/lib/plugin.so", low: 0x5000, high: 0x6000, bias: 0x5000, seen: 10)
        parent.unload(low: 0x5000, at: 100)
        parent.module("/lib/late.so", low: 0x5000, high: 0x6000, bias: 0x5000, seen: 200)
        parent.end(at: 900)
        var child = MetadataWriter()
        child.process(pid: 11, parent: 10, forkedFrom: 0, start: 50, path: "/bin/shell")
        var plain = MetadataWriter()
        plain.process(pid: 12, parent: 11, forkedFrom: 1, start: 60, path: "/bin/shell")
        for (index, item) in [parent, child, plain].enumerated() {
            var options = chunk(0, process: UInt32(index))
            options.isMetadata = true
            writer.add(options, records: item.bytes)
        }
        try writer.write(to: path)
        let processes = try Session(path: path).processes
        #expect(processes.map(\.pid) == [10, 11, 12])
        #expect(processes[0].modules.map(\.unloadTicks) == [.max, 100, .max])
        #expect(processes[0].end == .exit)
        #expect(processes[1].modules.map(\.path) == ["/bin/shell", "/lib/plugin.so"])
        #expect(!processes[1].sharesParentModules)
        #expect(processes[2].sharesParentModules)
        #expect(processes[2].arguments == ["shell", "-c", "x"])
        #expect(processes[1].programName == "shell")
    }

    /// A title lies where the arguments lay; the process's arguments are still the image's.
    @Test func titlesAreNoArguments() throws {
        func child(_ index: UInt32, called command: [String] = [], _ titles: [String] = []) -> MetadataWriter {
            var items = MetadataWriter()
            items.process(
                pid: 10 + index, parent: 10, forkedFrom: 0, start: 50, path: "/bin/server", arguments: command)
            for title in titles { items.title(Array(title.utf8)) }
            return items
        }
        let arguments = ["/bin/server", "-D", "data"]
        var parent = MetadataWriter()
        parent.process(pid: 10, path: "/bin/server", arguments: arguments)
        let long = String(repeating: "x", count: 512)
        let items = [
            parent, child(1, called: arguments), child(2, called: ["server: writer", "", ""]),
            child(3, called: arguments, ["server: idle", "server: SELECT  \0\0\0"]),
            child(4, called: ["server: writer"], ["/bin/server\0-D\0data\0"]), child(5, ["two\0words\0"]),
            child(6, [long]), child(7, ["\0\0"]),
        ]
        let writer = TraceWriter()
        for (index, item) in items.enumerated() {
            var options = chunk(0, process: UInt32(index))
            options.isMetadata = true
            writer.add(options, records: item.bytes)
        }
        try writer.write(to: path)
        let processes = try Session(path: path).processes
        #expect(processes.allSatisfy { $0.arguments == arguments })
        #expect(
            processes.map(\.title) == [nil, nil, "server: writer", "server: SELECT", nil, "two words", long, nil])
    }

    /// What a process calls itself neither steers the terminal nor reverses (by bidi marks) the line that shows it.
    @Test func titlesMayBeShown() throws {
        var items = MetadataWriter()
        items.process(pid: 10, path: "/bin/server", arguments: ["/bin/server"])
        items.title(Array("server: \u{1b}[2J\r\u{202e}evil\u{2069}\u{9b}1m".utf8))
        var options = chunk(0)
        options.isMetadata = true
        let writer = TraceWriter()
        writer.add(options, records: items.bytes)
        try writer.write(to: path)
        let process = try #require(try Session(path: path).processes.first)
        #expect(process.calledName == #"server: \x1b[2J\r\u{202e}evil\u{2069}\u{9b}1m"#)
    }
}
