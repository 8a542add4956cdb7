internal import Foundation
import TestSupport
import Testing

/// How much of a call had a CPU, beside the processor time that the program reads itself.
@Suite struct RunningTimeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("running-time") }

    /// Running is the thread's processor time, whatever it waits in and however often. The kernel counts for a thread how long it takes to
    /// give it a CPU: a microsecond alone, several where another had the CPU, and all that the host takes meanwhile.
    @Test(.serialized, arguments: RecordedWaits.Way.allCases) func isProcessorTime(_ way: RecordedWaits.Way) throws {
        let binary = try Binaries.instrumented("sleepers.c", .gccO2)
        let recorded = try RecordedWaits(binary, [], way, in: directory)
        let report = try recorded.json(["report", "--times", "all", "--limit", "0"])
        let rows = try #require(report["functions"] as? [[String: Any]])
        let knowsSwitches = try recorded.knowsSwitches()
        for (name, used) in recorded.measured {
            let row = try #require(rows.first { $0["name"] as? String == name })
            let running = try #require(row["running_ns"] as? Double)
            #expect(
                running >= used * 0.98 - 2e5 - recorded.taken, "\(name): \(running) of \(used), \(recorded.taken)")
            // Where nobody tells of switches, what it only wanted a CPU for counts, too, and that may be much on a busy machine.
            if knowsSwitches {
                #expect(
                    running <= used * 1.02 + 2e5 + recorded.taken, "\(name): \(running) of \(used), \(recorded.taken)")
            }
        }
        // What nobody stands before is told as waiting.
        let sleep = try #require(rows.first { $0["name"] as? String == "raw_sleep" })
        #expect(try #require(sleep["blocked_ns"] as? Double) >= 72e6 * 0.98, "\(sleep)")
        let waits = try #require(try recorded.json(["waits", "--limit", "0"])["waits"] as? [[String: Any]])
        for place in ["raw_sleep", "work_then_sleep", "sleep_in_between"] {
            let found = waits.filter { $0["path"] as? [String] == ["main", place] && $0["kind"] as? String == "other" }
            let time = found.reduce(0) { $0 + ($1["total_ns"] as? Double ?? 0) }
            #expect(time >= (place == "sleep_in_between" ? 100e6 : 72e6) * 0.98, "\(place): \(found)")
        }
    }
}
