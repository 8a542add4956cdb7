import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceReports

@Suite struct ProcessTreeReportTests {
    private let directory: TemporaryDirectory
    private let tree: ProcessTree

    /// A server that names its children; a build whose shells were not recorded.
    init() throws {
        directory = try TemporaryDirectory("processes")
        let writer = TraceWriter()
        var count: UInt32 = 0
        func add(
            _ pid: UInt32, of parent: UInt32, from index: UInt32? = nil, _ arguments: [String] = [], title: String = "",
            at start: UInt64, to end: UInt64, calls: UInt64 = 0, status: UInt32? = nil
        ) {
            var items = MetadataWriter()
            items.process(
                pid: pid, parent: parent, forkedFrom: index, start: start,
                path: "/bin/" + (arguments.first ?? "server"),
                arguments: arguments)
            if !title.isEmpty { items.title(Array(title.utf8)) }
            items.end(at: end, status: status)
            var options = TraceWriter.ChunkOptions()
            (options.process, options.pid, options.tid) = (count, pid, pid)
            options.isMetadata = true
            writer.add(options, records: items.bytes)
            (options.begin, options.end, options.calls, options.isMetadata) = (start, end, calls, false)
            writer.add(options, records: [])
            count += 1
        }
        add(10, of: 1, ["server", "-D", "data"], at: 1000, to: 90_000_000, calls: 5000, status: 9)
        add(11, of: 10, from: 0, title: "server: writer", at: 3000, to: 80_000_000, calls: 10)
        add(12, of: 10, from: 0, title: "server: \u{1b}[2J", at: 4000, to: 5000, calls: 1)
        for pid in 20..<23 as Range<UInt32> {
            add(
                pid, of: 2, ["cc", "-c", "a b.c"], at: UInt64(pid) * 1000, to: UInt64(pid) * 1000 + 2_000_000,
                calls: 100)
        }
        add(30, of: 2, ["ld"], at: 40_000, to: 7_000_000, calls: 1234, status: 256)
        add(30, of: 2, ["sh", "-c", "a\nb"], at: 50_000, to: 60_000, calls: 1)
        let path = directory.file("x.fathom")
        try writer.write(to: path)
        tree = ProcessTree(of: try Session(path: path))
    }

    private func text(_ change: (inout ProcessTreeReport.Options) -> Void = { _ in }) -> [Substring] {
        var options = ProcessTreeReport.Options()
        change(&options)
        return written { ProcessTreeReport($0, tree, options: options).write(.text) }.split(separator: "\n")
    }

    private func written(_ write: (ByteWriter) -> Void) -> String {
        String(decoding: ByteWriter.bytes(write), as: UTF8.self)
    }

    @Test func whoStartedWhom() throws {
        try expectGolden("processes.txt") { ProcessTreeReport($0, tree).write(.text) }
        try expectGolden("processes.json") { ProcessTreeReport($0, tree).write(.json) }
    }

    @Test func whatIsShortIsSummedUp() {
        #expect(
            text { $0.minCost = 5_000_000 }.dropFirst() == [
                "     5,000    1.00 us   90.00 ms  10 server · server -D data (killed by SIGKILL)",
                "        10    3.00 us   80.00 ms    11 server · server: writer (forked)",
                "                                    … 1 process, 1 call, 1.00 us below 5ms",
                "                                  2, not recorded",
                "     1,234   40.00 us    6.96 ms    30 ld (exited with status 1)",
                "                                    … 4 processes, 301 calls, 6.01 ms below 5ms",
            ])
        #expect(
            text { $0.limit = 3 }.suffix(2) == [
                "         1    4.00 us    1.00 us    12 server · server: \\x1b[2J (forked)",
                "… 5 more processes, --limit 0 shows all",
            ])
        #expect(text { $0.folds = false }.count == 10)
    }
}
