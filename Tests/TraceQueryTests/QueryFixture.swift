import TestSupport
import TraceFile
import TraceQuery

/// A session of a server with a worker thread and a child that gave itself a title.
struct QueryFixture {
    let directory: TemporaryDirectory
    let path: String

    static let main: UInt64 = 0x5555_0000_0010
    static let step: UInt64 = 0x5555_0000_0020
    /// A function of a module whose file is gone.
    static let gone: UInt64 = 0x6666_0000_0010

    /// - Parameters:
    ///   - lost: calls of the worker that left no record.
    ///   - hasCalls: whether threads called anything.
    init(lost: UInt64 = 0, hasCalls: Bool = true) throws {
        directory = try TemporaryDirectory("query")
        path = directory.file("server.fathom")
        let writer = TraceWriter()
        var server = MetadataWriter()
        server.process(pid: 100, path: "/bin/server", arguments: ["/bin/server", "-D"])
        server.module(directory.file("gone.so"), low: 0x6666_0000_0000, high: 0x6666_0000_1000, bias: 0x6666_0000_0000)
        writer.add(QueryFixture.chunk(0, 0, isMetadata: true), records: server.bytes)
        var child = MetadataWriter()
        child.process(pid: 101, parent: 100, forkedFrom: 0, start: 10, path: "/bin/server")
        child.title(Array("writer".utf8))
        writer.add(QueryFixture.chunk(1, 0, isMetadata: true), records: child.bytes)
        for (process, thread, name) in [(0, 1, "server"), (0, 2, "worker"), (1, 1, "server")]
            as [(UInt32, UInt32, String)]
        {
            var records = RecordWriter(time: 1000)
            if hasCalls {
                records.enter(QueryFixture.main, at: 1000)
                records.enter(thread == 2 ? QueryFixture.gone : QueryFixture.step, at: 1100)
                records.exit(at: 1400)
                records.exit(at: 2000)
            }
            var options = QueryFixture.chunk(process, thread)
            (options.begin, options.end, options.calls, options.name) = (1000, 2000, records.calls, name)
            options.lostCalls = thread == 2 ? lost : 0
            writer.add(options, records: records.bytes)
        }
        try writer.write(to: path)
    }

    private static func chunk(
        _ process: UInt32, _ thread: UInt32, isMetadata: Bool = false
    ) -> TraceWriter.ChunkOptions {
        var options = TraceWriter.ChunkOptions()
        options.process = process
        options.thread = thread
        options.pid = 100 + process
        options.tid = 99 + process + thread
        options.isMetadata = isMetadata
        return options
    }

    /// Writes over a byte in the middle of the last chunk's records.
    func damage() throws {
        var log = try readFile(path + "/trace")
        log[log.count - 9] ^= 0xff
        try writeFile(log, to: path + "/trace")
    }

    func session() throws -> Session { try Session.opened(path) }
}
