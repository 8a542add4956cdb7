import Testing
import TraceFile

@testable import TraceRecording
@testable import TraceRequest

/// What is said at the end of a recording.
@Suite struct SummaryTextTests {
    private func lines(
        isFirst: Bool = false, hasNames: Bool = true, hasHooks: Bool = true, onTerminal: Bool = false,
        _ change: (inout RecordingSummary) -> Void
    ) -> [String] {
        var options = SummaryText.Options()
        (options.isFirst, options.hasNames, options.hasHooks, options.onTerminal) = (
            isFirst, hasNames, hasHooks, onTerminal
        )
        var summary = RecordingSummary(status: .exited(0), session: "s.fathom")
        (summary.processes, summary.threads, summary.calls, summary.bytes) = (1, 2, 1500, 2000)
        change(&summary)
        return SummaryText(summary, options).lines
    }

    private static let recorded = "recorded 1,500 calls in 2 threads of 1 process: 2.0 KB in s.fathom"

    @Test func calls() {
        #expect(lines { _ in } == [Self.recorded, "next: fathom tree s.fathom"])
        #expect(
            lines { ($0.paths, $0.session) = (7, "-s") }.suffix(2) == ["7 call paths", "next: fathom report ./-s"])
        #expect(lines { $0.calls = 0 }.last == "no function with hooks was called")
        #expect(
            lines(hasHooks: false) { $0.calls = 0 }.last
                == "no program with hooks was started; fathom build gives hooks, as in fathom build -- make")
        #expect(lines(isFirst: true) { $0.calls = 0 }.last == "no function with a trap was called")
        #expect(lines(isFirst: true) { _ in }.last == "next: fathom order s.fathom")
        #expect(lines(isFirst: true, hasNames: false) { _ in }.last == "next: fathom dump s.fathom")
        #expect(
            lines { ($0.calls, $0.leftOutCalls) = (0, 2) }.last
                == "left out as asked for: 2 calls, which is all of them")
    }

    /// A tree of very many calls is nothing to read.
    @Test func nextOfManyCalls() {
        #expect(lines { $0.calls = 5000 }.last == "next: fathom tree s.fathom")
        #expect(lines { $0.calls = 5001 }.last == "next: fathom graph s.fathom")
        #expect(lines(onTerminal: true) { $0.calls = 345_240 }.last == "next: fathom browse s.fathom")
        let save = FlightSave(session: "s-1.fathom", reason: "signal", calls: 10_000, bytes: 10)
        #expect(lines { ($0.isFlight, $0.saves) = (true, [save]) } == ["next: fathom graph s-1.fathom"])
    }

    @Test func olderSession() {
        let line = "the session that was there is now s.fathom.old"
        #expect(lines { $0.setAside = "s.fathom.old" }.contains(line))
        #expect(lines { ($0.setAside, $0.isFlight) = ("s.fathom.old", true) }.contains(line))
        #expect(lines { ($0.setAside, $0.samplePeriod) = ("s.fathom.old", 1) }.contains(line))
    }

    @Test func lostCalls() {
        let missing = lines { ($0.unwrittenCalls, $0.lostCalls, $0.isCapped) = (1, 2, true) }
        #expect(missing.contains("warning: 3 calls not recorded: the size cap was reached"))
        let paths = lines { ($0.lostCalls, $0.paths, $0.isFullOfPaths) = (2, 3, true) }
        #expect(paths.contains("3 call paths, the most that --max-paths allows"))
        #expect(
            paths.contains(
                "warning: 2 calls not recorded: their threads had begun when all call paths that --max-paths allows were taken; allow more"
            ))
        // More than can be counted is no small number.
        let overflow = lines { ($0.unwrittenCalls, $0.lostCalls, $0.writeError) = (.max, 1, "no room") }
        #expect(overflow.contains("warning: 18,446,744,073,709,551,615 calls not recorded: no room"))
        var summary = RecordingSummary(status: .exited(0), session: "s")
        summary.spoiledChunks = 1
        #expect(
            SummaryText(summary).warnings == ["warning: 1 chunk left out: the program had written over them"])
    }

    @Test func rings() {
        let save = FlightSave(session: "s-1.fathom", reason: "signal", calls: 1, bytes: 10)
        #expect(SummaryText.line(for: save) == "saved 1 call, 10 bytes, in s-1.fathom: signal")
        #expect(
            lines { ($0.isFlight, $0.saves, $0.refusedSaves) = (true, [save], 1) } == [
                "warning: 1 save beyond the limit was not made; --limit-saves allows more",
                "next: fathom tree s-1.fathom",
            ])
        #expect(lines { $0.isFlight = true } == ["nothing asked for a save, so nothing was kept"])
    }

    @Test func samples() {
        #expect(
            lines { ($0.samplePeriod, $0.samples) = (1_000_000, 3) } == [
                "took 3 samples of 2 threads of 1 process, one each 1.00 ms and thread: 2.0 KB in s.fathom",
                "next: fathom report s.fathom",
            ])
    }

    @Test func continued() {
        let last = lines { ($0.isContinued, $0.stillRunning, $0.backgroundRecorder) = (true, [5, 6], 7) }.suffix(2)
        #expect(
            last.first?.hasPrefix("still running: pid 5, 6; recording into s.fathom goes on in the background (pid 7)")
                == true)
        #expect(last.last == "next: fathom tree s.fathom")
    }
}
