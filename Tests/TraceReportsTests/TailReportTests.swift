import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceFindings
@testable import TraceReports

/// What is told of a function's slow calls, against the files `tail*`.
extension GoldenTests {
    private static let names: [UInt64: String] = [
        0x10: "main", 0x20: "server::handle(server::Request&)", 0x30: "server::lock_wait",
        0x40: "server::Cache::look_up",
        0x50: "server::parse_file(std::string const&)", 0x60: "server::render",
    ]

    /// Two threads that handle requests; some wait for a lock, some parse, and one never ends.
    private func writeServer(to path: String) throws {
        let writer = TraceWriter()
        var items = MetadataWriter()
        items.process(pid: 100, path: "/opt/server")
        items.module("/opt/server", low: 0, high: 0x1000, bias: 0)
        items.mark(1, "request")
        items.mark(2, "request without a session cookie")
        var metadata = TraceWriter.ChunkOptions()
        (metadata.pid, metadata.isMetadata) = (100, true)
        writer.add(metadata, records: items.bytes)
        for thread in 1...2 as ClosedRange<UInt32> {
            var options = TraceWriter.ChunkOptions()
            (options.pid, options.thread, options.tid, options.name) = (100, thread, 99 + thread, "worker \(thread)")
            let records = requests(of: thread)
            (options.calls, options.end) = (records.calls, records.time)
            writer.add(options, records: records.bytes)
        }
        try writer.write(to: path)
    }

    private func requests(of thread: UInt32) -> RecordWriter {
        var records = RecordWriter(time: 0)
        var time: UInt64 = 1000
        func call(_ function: UInt64, for duration: UInt64, _ body: () -> Void = {}) {
            records.enter(function, at: time)
            body()
            time += duration
            records.exit(at: time)
        }
        records.enter(0x10, at: time)
        for request in 0..<40 as Range<UInt64> {
            let (waits, parses) = (request % 20 == 7, request % 20 == 11)
            records.mark(parses ? 2 : 1, at: time)
            time += 300
            records.enter(0x20, at: time)
            call(0x30, for: waits ? 3_000_000 + request * 10_000 : 90)
            call(0x40, for: 800 + request * 10) {
                if parses { call(0x50, for: 1_000_000) { call(0x50, for: 1_500_000 + request * 70_000) } }
            }
            for _ in 0..<(parses ? 1 : 2) { call(0x60, for: 20_000 + request * 100) }
            time += 400
            if request == 27, thread == 2 { records.unwind(1, at: time) } else { records.exit(at: time) }
        }
        if thread == 2 {
            records.enter(0x20, at: time)
            call(0x60, for: 50_000)
        }
        return records
    }

    private func compare() throws -> TailComparison {
        let directory = try TemporaryDirectory("tail")
        let path = directory.file("server.fathom")
        try writeServer(to: path)
        let session = try Session(path: path)
        let functions = FunctionTable { module, address in
            ResolvedFunction(
                name: Self.names[address] ?? "0x" + String(address, radix: 16), module: module?.path, file: nil, line: 0
            )
        }
        let tail = Tail(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), slowest: .percent(10))
        return try tail.comparison(of: session.processes.flatMap(\.threads), matching: Pattern("server::handle"))
    }

    private func tail(
        _ comparison: TailComparison, _ format: TailReport.Format = .text, width: Int? = nil, colour: Bool = false,
        limit: Int = .max
    ) -> [UInt8] {
        ByteWriter.bytes { output in
            let writer = width.map { .cuttingLines(to: $0, output) } ?? output
            var options = TailReport.Options()
            (options.function, options.lines, options.calls) = ("server::handle", limit, limit)
            (options.layout.width, options.layout.isColoured) = (width, colour)
            TailReport(comparison, options: options).write(format, to: writer)
            writer.flush()
        }
    }

    @Test func tailAsTextAndJSON() throws {
        let comparison = try compare()
        try expect(tail(comparison), "tail.txt")
        try expect(tail(comparison, .json), "tail.json")
    }

    @Test(arguments: [80, 120]) func tailFitsTheScreen(_ width: Int) throws {
        let comparison = try compare()
        let shown = tail(comparison, width: width, limit: 5)
        for line in String(decoding: shown, as: UTF8.self).split(separator: "\n") {
            #expect(String(line).columns <= width, "\(line)")
        }
        try expect(shown, "tail-\(width).txt")
        let coloured = String(decoding: tail(comparison, width: width, colour: true, limit: 5), as: UTF8.self)
        let pieces = coloured.split(separator: "\u{1b}", omittingEmptySubsequences: false)
        let bare = pieces[0] + pieces.dropFirst().map { $0.drop { $0 != "m" }.dropFirst() }.joined()
        #expect(pieces.count > 20 && bare == String(decoding: shown, as: UTF8.self))
    }

    /// Rows of a histogram hold all calls, without gaps between them, whatever the durations.
    @Test(arguments: 1...30) func histogramsHoldAll(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let greatest = UInt64(1) << UInt64(seed * 2)
        var counts: [UInt64: UInt64] = [:]
        for _ in 0..<Int.random(in: 1...200, using: &random) {
            counts[.random(in: greatest / 2...greatest, using: &random), default: 0] += 1
        }
        if seed % 3 == 0 { counts[0] = 5 }
        let ranks = DurationRanks(counts: counts.map { (duration: $0.key, calls: $0.value) })
        let rows = DurationHistogram(ranks).rows
        #expect(!rows.isEmpty && rows.count <= 20)
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.to == $1.from } && rows.allSatisfy { $0.from < $0.to })
        for row in rows {
            let inside = counts.reduce(0) { $0 + ((row.from..<row.to).contains($1.key) ? $1.value : 0) }
            #expect(row.calls == inside)
        }
        #expect(rows.reduce(0) { $0 + $1.calls } == ranks.calls)
    }
}
