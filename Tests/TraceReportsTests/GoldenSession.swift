import TestSupport

/// A session small enough to be read by eye: two processes, a fork, lanes, folds, marks, a gap, an unknown address.
enum GoldenSession {
    /// Functions of `/opt/program`, by address in its file.
    static let names: [UInt64: String] = [0x10: "main", 0x20: "step", 0x30: "work", 0x40: "parse<int>(char const*)"]
    private static let bias: UInt64 = 0x5555_0000_0000

    private static func function(_ address: UInt64) -> UInt64 { bias + address }

    static func write(to path: String) throws {
        let writer = TraceWriter()
        writer.add(metadata(0), records: parentMetadata())
        writer.add(metadata(1), records: childMetadata())
        addMainThread(writer)
        addWorker(writer)
        addChild(writer)
        try writer.write(to: path)
    }

    private static func metadata(_ process: UInt32) -> TraceWriter.ChunkOptions {
        var options = chunk(0, process: process)
        options.isMetadata = true
        return options
    }

    private static func chunk(
        _ sequence: UInt64, process: UInt32 = 0, thread: UInt32 = 1, begin: UInt64 = 0
    ) -> TraceWriter.ChunkOptions {
        var options = TraceWriter.ChunkOptions()
        options.process = process
        options.pid = 100 + process
        options.thread = thread
        options.tid = 99 + process + thread
        options.sequence = sequence
        options.begin = begin
        options.name = thread == 1 ? "program" : "worker"
        return options
    }

    private static func parentMetadata() -> [UInt8] {
        var items = MetadataWriter()
        items.process(pid: 100, path: "/opt/program", arguments: ["./program", "one"])
        items.module("/opt/program", buildID: [0xab, 0x01], low: bias, high: bias + 0x1000, bias: bias)
        items.end(at: 9_000_000)
        return items.bytes
    }

    private static func childMetadata() -> [UInt8] {
        var items = MetadataWriter()
        items.process(pid: 101, parent: 100, forkedFrom: 0, start: 40_000, path: "/opt/program")
        items.title(Array("program: child\0\0".utf8), at: 41_000)
        return items.bytes
    }

    /// Folded leaves, an unwound call, left-out calls, and another lane.
    private static func addMainThread(_ writer: TraceWriter) {
        var records = RecordWriter(time: 1000)
        records.enter(function(0x10), at: 1200, callSite: function(0x11))
        for start: UInt64 in [2000, 3000, 4500] {
            records.enter(function(0x20), at: start, siteOffset: 5)
            records.exit(at: start + 700)
        }
        records.enter(function(0x40), at: 6000, siteOffset: 9)
        records.enter(function(0x30), at: 6100)
        records.dropped(12, ticks: 800)
        records.unwind(1, at: 8000)
        records.lane(1, depth: 0, at: 8100)
        records.enter(function(0x30), at: 8200)
        records.exit(at: 9000)
        records.lane(0, depth: 2, at: 9100)
        records.exit(at: 9200)
        var options = chunk(0, begin: 1000)
        options.end = 9200
        options.calls = records.calls
        writer.add(options, records: records.bytes)

        var rest = RecordWriter(time: 9300)
        rest.enter(0x7f00_1234_5678, at: 9400)
        rest.exit(at: 9500)
        rest.enter(function(0x20), at: 2_000_000)
        var second = chunk(1, begin: 9300)
        second.end = 5_000_000
        second.calls = rest.calls
        writer.add(
            second, path: [TraceWriter.PathCall(function: function(0x10), callSite: function(0x11), enter: 1200)],
            records: rest.bytes)
    }

    /// A thread with a chunk lost and calls lost.
    private static func addWorker(_ writer: TraceWriter) {
        var records = RecordWriter(time: 10_000)
        records.enter(function(0x30), at: 10_000)
        var options = chunk(0, thread: 2, begin: 10_000)
        options.end = 11_000
        options.calls = 1
        writer.add(options, records: records.bytes)
        var rest = RecordWriter(time: 30_000)
        rest.exit(at: 31_000)
        var second = chunk(2, thread: 2, begin: 30_000)
        second.end = 31_000
        second.lostCalls = 7
        second.isLast = true
        writer.add(
            second, path: [TraceWriter.PathCall(function: function(0x20), enter: 20_000)], records: rest.bytes)
    }

    /// A fork's child, killed inside a call.
    private static func addChild(_ writer: TraceWriter) {
        var records = RecordWriter(time: 40_000)
        records.enter(function(0x40), at: 41_000)
        var options = chunk(0, process: 1, begin: 40_000)
        options.inherited = 1
        writer.add(
            options, path: [TraceWriter.PathCall(function: function(0x10), enter: 40_000)], records: records.bytes)
    }
}
