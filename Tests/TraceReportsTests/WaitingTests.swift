import CTraceFormat
import TestSupport
import Testing
import TraceText

@testable import TraceAnalysis
@testable import TraceFile
@testable import TraceReports

/// What a report shows of waiting without being asked for.
@Suite struct WaitingTests {
    private let directory: TemporaryDirectory
    private let session: Session

    /// The outer call of 1,000 µs works, and calls one that takes 600 µs, of which it waits 570.
    init() throws {
        directory = try TemporaryDirectory("waiting")
        let path = directory.file("x.fathom")
        try TraceWriter.session(path, tellsWaits: true) { records in
            records.enter(0x1000, at: 0)
            records.enter(0x2000, at: 200_000)
            records.wait(FATHOM_WAIT_SEMAPHORE, for: 0x7000, ran: 30_000)
            records.exit(at: 800_000)
            records.exit(at: 1_000_000)
        }
        session = try Session(path: path)
    }

    private var tree: CallPathTree {
        Aggregation(
            of: session,
            resolver: FunctionResolver(FunctionTable { _, address in function(address == 0x1000 ? "outer" : "inner") }),
            filter: TreeFilter()
        ).tree(
            of: session.processes.flatMap(\.threads))
    }

    private func text(_ split: SplitTimes, isColoured: Bool = false) -> [String] {
        var layout = TextLayout()
        layout.isColoured = isColoured
        let report = TableReport(
            SummedRows(.functions, tree.rows(by: .function), of: tree), layout: layout, split: split)
        let bytes = ByteWriter.bytes { report.write(.text, to: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// What a path waits belongs to it alone, and not to its caller.
    @Test func ownWaiting() {
        let waits = PathWaits(of: tree)
        #expect([0, 1].map(waits.own) == [OffCPUTimes(), OffCPUTimes(blocked: 570_000)])
        let rows = tree.rows(by: .function)
        #expect(rows.map(\.blocked) == [570_000, 570_000] && rows.map(\.selfBlocked) == [0, 570_000])
        #expect(rows.map(\.selfRunning) == [400_000, 30_000])
    }

    @Test func column() {
        let known = text(SplitTimes(isKnown: true))
        #expect(known[0].hasPrefix("     calls     total      self   blocked       avg"))
        #expect(known[1].hasPrefix("         1   1.00 ms  400.0 us  570.0 us"))
        #expect(!text(SplitTimes())[0].contains("blocked"))
        #expect(text(SplitTimes(isKnown: true, shown: .cpu))[0].contains("self   running       avg"))
    }

    /// The call that works is hot, and the one that waits stands back.
    @Test func colours() {
        let lines = text(SplitTimes(isKnown: true), isColoured: true)
        #expect(lines[1].contains("\u{1B}[31m  400.0 us\u{1B}[0m"))
        #expect(lines[2].contains("\u{1B}[2m  600.0 us\u{1B}[0m"))
    }

    @Test func leastShare() {
        let split = SplitTimes(isKnown: true)
        #expect(split.tellsWaits(1_000_000, in: 100_000_000) && !split.tellsWaits(999_999, in: 100_000_000))
        #expect(!SplitTimes(isKnown: true, shown: .all).tellsWaits(1_000_000, in: 100_000_000))
        // What takes microseconds says nothing.
        #expect(split.tellsWaits(100_000, in: 1_000_000) && !split.tellsWaits(99_999, in: 200_000))
    }
}
