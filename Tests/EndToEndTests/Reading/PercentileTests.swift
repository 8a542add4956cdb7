import Foundation
import TestSupport
import Testing

/// All commands that show percentiles agree on what these are.
@Suite struct PercentileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("percentiles") }

    private func json(_ arguments: String...) throws -> Any {
        let output = try Fathom.run(arguments, workingDirectory: directory.path)
        try #require(output.status == 0, "\(arguments): \(output.stderr)")
        return try JSONSerialization.jsonObject(with: Data(output.stdout.utf8))
    }

    private func rows(_ value: Any, _ key: String) throws -> [[String: Any]] {
        try #require((value as? [String: Any])?[key] as? [[String: Any]])
    }

    private func number(_ row: [String: Any], _ key: String) throws -> Double { try #require(row[key] as? Double) }

    /// Of naps that are far apart, each percentile is one nap, whatever the machine does: `waits`, `report` of records and of sums that
    /// were made while recording, and trends show the same one.
    @Test(arguments: [1, 2, 3, 10])
    func everyCommand(count: Int) throws {
        _ = try directory.write(
            """
            #include <unistd.h>
            __attribute__((noinline)) void nap(int ms) { usleep(ms * 1000); }
            int main(void) { for (int i = 1; i <= \(count); i++) nap(i * 100); }
            """, to: "p.c")
        let built = try Fathom.run(
            ["build", "--", "gcc", "-g", "-O1", "p.c", "-o", "p"], workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
        for (mode, session, more) in [("trace", "s", ["--blocked"]), ("profile", "t", [])] {
            let made = try Fathom.run(
                ["record", "-q", "--history", "h.db", "--mode", mode, "-o", session] + more + ["--", "./p"],
                workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
        }
        /// The nap that a time is of, which may be late.
        func nap(_ time: Double) -> Int { Int(time / 100e6 + 0.2) }
        func expected(_ percent: Int) -> Int { (1...count).first { $0 * 100 >= percent * count }! }
        for session in ["s", "t"] {
            let row = try #require(
                try rows(try json("report", session, "--format", "json"), "functions").first {
                    $0["name"] as? String == "nap"
                })
            for percent in [50, 90, 99] {
                let key = try #require(row.keys.first { $0.contains("p\(percent)") })
                let shown = nap(try number(row, key))
                #expect(shown == expected(percent), "report \(session) p\(percent): \(row)")
            }
        }
        let wait = try #require(
            try rows(try json("waits", "s", "--format", "json"), "waits").first { $0["calls"] as? Int == count })
        let (p50, p99) = (nap(try number(wait, "p50_ns")), nap(try number(wait, "p99_ns")))
        #expect(p50 == expected(50) && p99 == expected(99), "\(wait)")
        for percent in [50, 90, 99] {
            let trend = try json(
                "history", "trend", "nap", "--metric", "call", "--p", "\(percent)", "--history", "h.db", "--format",
                "json")
            let group = try #require(try rows(trend, "groups").first)
            let shown = nap(try number(group, "percentile"))
            #expect(shown == expected(percent), "trend p\(percent): \(group)")
        }
    }
}
