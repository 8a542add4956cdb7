import TestSupport
import Testing
import TraceAnalysis
import TraceReports
import TraceText

@testable import TraceExport

/// Exports cut into parts by time.
@Suite struct SplitTests {
    /// main calls step 40 times: each is 10 us long and begins 20 us after the one before.
    private func steps() throws -> ExportFixture {
        try ExportFixture(["main", "step"]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            for index in 0..<40 as Range<UInt64> {
                records.enter(ExportFixture.address(1), at: 10_000 + index * 20_000)
                records.exit(at: 20_000 + index * 20_000)
            }
            records.exit(at: 900_000)
        }
    }

    private func rows(_ source: ExportSource) -> [[Substring]] {
        let bytes = ByteWriter.bytes { _ = CSVExporter().export(source, to: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
    }

    @Test(arguments: [1, 3, 7, 41] as [UInt64]) func partsMakeTheWhole(_ calls: UInt64) throws {
        let source = try steps().source()
        let parts = source.split(calls: calls).map(rows)
        let whole = rows(source)
        #expect(whole.count == 41)
        #expect((parts.count == 1) == (calls >= 41))
        for part in parts {
            // main is open at every cut and comes on top.
            #expect(part.count <= Int(calls) + 1)
            #expect(part.first?[6] == "main")
        }
        #expect(
            parts.flatMap { $0 }.filter { $0[6] == "step" }.map { $0[8...9] } == whole.dropFirst().map { $0[8...9] })
        func total(_ rows: [[Substring]]) -> Int { rows.reduce(0) { $0 + ($1[6] == "main" ? Int($1[9]) ?? 0 : 0) } }
        #expect(total(parts.flatMap { $0 }) == total(whole))
        for (part, next) in zip(parts, parts.dropFirst()) {
            #expect((Int(part[0][8]) ?? 0) + (Int(part[0][9]) ?? 0) == Int(next[0][8]))
        }
    }
}
