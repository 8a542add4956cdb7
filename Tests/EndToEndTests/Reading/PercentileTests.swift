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
            // The page has it as text has it.
            let asked = ["history", "trend", "nap", "--metric", "call", "--p", "\(percent)", "--history", "h.db"]
            let page = try Fathom.run(asked + ["--format", "html"], workingDirectory: directory.path).stdout
            let text = try Fathom.run(asked, workingDirectory: directory.path).stdout
            let row = try #require(text.split(separator: "\n").first { $0.hasPrefix("all ") }).split(separator: " ")
            let cell = row.suffix(2).joined(separator: " ")
            #expect(page.contains("<td>\(cell)</td>"), "\(cell)")
        }
        try tables(expected, nap)
    }

    /// The tables of the fleet have it by the query that the documentation has, and by those of `Tools/fleet`.
    private func tables(_ expected: (Int) -> Int, _ nap: (Double) -> Int) throws {
        let document = try String(
            contentsOfFile: "\(Binaries.repository)/Documentation/servers/collect.md", encoding: .utf8)
        let query = try #require(document.firstMatch(of: #/```sql\n(WITH buckets[^`]*)```/#)).1
        for session in ["s", "t"] {
            try FileManager.default.createDirectory(
                atPath: directory.file("fleet-\(session)"), withIntermediateDirectories: false)
            let made = try Fathom.run(
                ["export", session, "--format", "fleet", "-o", "fleet-\(session)/fleet", "--label", "version=1"],
                workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
            for percent in [50, 90, 99] {
                let script = """
                    import duckdb, sys
                    query = sys.argv[1].replace("FROM 'fleet/sample/*/*/*.parquet'", '''FROM (SELECT * FROM 'fleet/sample/*/*/*.parquet'
                        WHERE stack_id IN (SELECT stack_id FROM 'fleet/stack/*/*/*.parquet' WHERE leaf = 'nap'))''')
                    assert "leaf = 'nap'" in query and ' * 99 ' in query
                    print(duckdb.sql(query.replace(' * 99 ', ' * \(percent) ')).fetchall()[0][0])
                    """
                let answer = try run(
                    python, ["-c", script, String(query)], workingDirectory: directory.file("fleet-\(session)"))
                let time = try #require(
                    Double(answer.stdout.trimmingCharacters(in: .whitespacesAndNewlines)), "\(answer)")
                #expect(nap(time) == expected(percent), "fleet of \(session), p\(percent): \(time)")
            }
            let hosts = try run(
                python,
                [
                    "\(Binaries.repository)/Tools/fleet", directory.file("fleet-\(session)/fleet"), "p99-by-host",
                    "--function",
                    "nap",
                ])
            let row = try #require(hosts.stdout.split(separator: "\n").last).split(separator: "\t").suffix(2)
            let shown = row.compactMap { Double($0) }.map { nap($0 * 1000) }
            #expect(shown == [expected(50), expected(99)], "\(hosts)")
        }
    }

    private var python: String { "\(ExportRecording.built)/consumers/python/bin/python" }

    private func nearest(_ values: [Double], _ percent: Int) throws -> Double {
        let sorted = values.sorted()
        return try sorted.at((1...sorted.count).first { $0 * 100 >= percent * sorted.count }! - 1)
    }

    /// Those of several starts are of the runs that are told, and those of versions of the runs' totals, in trends and in tables.
    @Test func startsAndVersions() throws {
        _ = try directory.write("int main(void) { return 0; }\n", to: "e.c")
        let built = try Fathom.run(
            ["build", "--", "gcc", "-g", "-O1", "e.c", "-o", "e"], workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
        let start = try json("startup", "--runs", "4", "--format", "json", "--", "./e")
        let totals = try rows(start, "runs").map { try number($0, "total_ns") }
        let statistics = try #require((start as? [String: Any])?["statistics"] as? [String: Any])
        for percent in [50, 90] {
            let shown = try number(statistics, "p\(percent)_ns"), expected = try nearest(totals, percent)
            #expect(shown == expected && totals.count == 4, "startup p\(percent): \(totals)")
        }
        for count in 1...4 {
            let made = try Fathom.run(
                ["record", "-q", "--history", "v.db", "-o", "v\(count)", "--", "./e"], workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
            _ = try Fathom.run(
                ["export", "v\(count)", "--format", "fleet", "-o", "fleet", "--label", "version=1"],
                workingDirectory: directory.path)
        }
        let trend = try json("history", "trend", "total", "--p", "90", "--history", "v.db", "--format", "json")
        let times = try rows(trend, "points").map { try number($0, "value") }
        let group = try #require(try rows(trend, "groups").first)
        let (half, most) = (try nearest(times, 50), try nearest(times, 90))
        #expect(try number(group, "percentile") == most)
        let versions = try run(
            python, ["\(Binaries.repository)/Tools/fleet", directory.file("fleet"), "slowest-versions"])
        let cells = try #require(versions.stdout.split(separator: "\n").last).split(separator: "\t").suffix(3)
        let shown = cells.compactMap { Double($0) }.map { ($0 * 1e6).rounded() }
        // They have six digits.
        #expect(shown.count == 3, "\(versions)")
        for (found, right) in zip(shown, [half, most, most]) {
            #expect(abs(found - right) <= right / 1e5, "\(versions)")
        }
    }
}
