import Testing
import TraceFile

@testable import TraceRecording
@testable import TraceRequest

/// What is said at the end of a recording.
@Suite struct SummaryTextTests {
    private func lines(
        isFirst: Bool = false, hasNames: Bool = true, _ change: (inout RecordingSummary) -> Void
    ) -> [String] {
        var summary = RecordingSummary(status: .exited(0), session: "s.fathom")
        (summary.processes, summary.threads, summary.calls, summary.bytes) = (1, 2, 1500, 2000)
        change(&summary)
        return SummaryText(summary, isFirst: isFirst, hasNames: hasNames).lines
    }

    private static let recorded = "recorded 1,500 calls in 2 threads of 1 process: 2.0 KB in s.fathom"

    @Test func calls() {
        #expect(lines { _ in } == [Self.recorded, "next: fathom tree s.fathom"])
        #expect(
            lines { ($0.paths, $0.session) = (7, "-s") }.suffix(2) == ["7 call paths", "next: fathom report ./-s"])
        #expect(lines { $0.calls = 0 }.last == "no instrumented function was called")
        #expect(lines(isFirst: true) { $0.calls = 0 }.last == "no function with a trap was called")
        #expect(lines(isFirst: true) { _ in }.last == "next: fathom order s.fathom")
        #expect(lines(isFirst: true, hasNames: false) { _ in }.last == "next: fathom dump s.fathom")
        #expect(
            lines { ($0.calls, $0.leftOutCalls) = (0, 2) }.last
                == "left out as asked for: 2 calls, which is all of them")
    }

    @Test func lostCalls() {
        let missing = lines { ($0.unwrittenCalls, $0.lostCalls, $0.isCapped) = (1, 2, true) }
        #expect(missing.contains("warning: 3 calls not recorded: the size cap was reached"))
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
