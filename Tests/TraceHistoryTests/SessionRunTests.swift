import Glibc
import TestSupport
import Testing
import TraceFile
import TraceHistory
import TraceQuery

/// A session as a run of a history, or of a gate's baseline.
@Suite struct SessionRunTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("runs") }

    /// A session of a program that calls one function twice.
    ///
    /// - Parameter isRecording: whether somebody still records it.
    private func session(_ name: String = "s.fathom", start: UInt64 = 0, isRecording: Bool = false) throws -> String {
        let path = directory.file(name), writer = TraceWriter(start: start)
        var metadata = MetadataWriter()
        metadata.process(pid: 1000, path: "/bin/server", arguments: ["/bin/server", "-D"])
        var options = TraceWriter.ChunkOptions()
        options.thread = 0
        options.isMetadata = true
        writer.add(options, records: metadata.bytes)
        var records = RecordWriter(time: 0)
        records.enter(0x1000, at: 0)
        for time in [100, 300] as [UInt64] {
            records.enter(0x2000, at: time)
            records.exit(at: time + 50)
        }
        records.exit(at: 1000)
        options = TraceWriter.ChunkOptions()
        (options.end, options.calls) = (1000, records.calls)
        writer.add(options, records: records.bytes)
        if isRecording {
            try writer.write(to: path, buffers: TraceWriter.buffers(slots: [], recorder: getpid()))
        } else {
            try writer.write(to: path)
        }
        return path
    }

    private func read(_ path: String) throws -> SessionRun {
        try SessionRun(Session.opened(path), labels: [("version", "1")], listener: QueryListener())
    }

    @Test func run() throws {
        let path = try session(), read = try read(path)
        #expect(read.run.program == "server" && read.run.session == path && read.run.mode == .calls)
        #expect(read.run.calls == 3 && read.run.total == 1000)
        #expect(read.run.labels.map(\.name) == ["version"] && read.run.labels.map(\.value) == ["1"])
        #expect(read.content.functions.map(\.sums.calls).sorted() == [1, 2] && read.content.paths.count == 2)
        #expect(read.content.functions.map(\.sums.selfTime).sorted() == [100, 900])
        #expect(read.warnings.isEmpty)
    }

    /// Added to a history, it is there once, and comes out as it was.
    @Test func added() throws {
        let store = try HistoryStore(path: directory.file("history"), creates: true)
        let read = try read(session())
        #expect(try store.add(read.run, read.content).isNew && !store.add(read.run, read.content).isNew)
        let kept = try store.runs()
        #expect(kept.map(\.calls) == [3] && kept.map(\.program) == ["server"])
    }

    @Test func refused() throws {
        let path = try session(isRecording: true)
        #expect(throws: HistoryError.unfinished(session: path)) { try read(path) }
        let damaged = directory.file("damaged.fathom")
        try directory.makeDirectory("damaged.fathom")
        try writeFile([1, 2, 3], to: damaged + "/trace")
        #expect(throws: QueryError.self) { try read(damaged) }
    }

    @Test func baseline() throws {
        let paths = try [session("a.fathom"), session("b.fathom")]
        func baseline(_ paths: [String]) throws -> GateBaseline {
            try GateBaseline(paths, RunSelection(), symbols: [], listener: { QueryListener() })
        }
        let found = try baseline(paths)
        #expect(found.runs.map(\.run.calls) == [3, 3] && found.mode == "trace")
        #expect(found.name == paths.joined(separator: " "))
        #expect(try baseline([]).runs.isEmpty)
        let history = directory.file("history")
        let store = try HistoryStore(path: history, creates: true)
        #expect(throws: GateFailure.selection(.empty(path: history))) { try baseline([history]) }
        #expect(throws: GateFailure.severalHistories) { try baseline([history, paths[0]]) }
        let read = try read(paths[0])
        _ = try store.add(read.run, read.content)
        #expect(try baseline([history]).name == "run 1 of \(history): \(read.run.command)")
    }

    @Test(arguments: [(0x0300, "p: ended with status 3"), (9, "p: ended by signal 9")] as [(Int32, String)])
    func failures(_ status: Int32, _ text: String) {
        #expect(GateFailure.ended(program: "p", status: status).description == "\(text), so the run tells nothing")
    }
}
