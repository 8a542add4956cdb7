import CTraceFormat
import TestSupport
import Testing

@testable import TraceFile

@Suite struct PathUnitsTests {
    /// Every duration lies in a bucket whose middle is near, and longer ones lie in no earlier bucket.
    @Test func buckets() {
        var random = SeededGenerator(seed: 1)
        let some = (0..<20_000).map { _ in
            UInt64.random(in: 0...UInt64.max >> 2, using: &random) >> UInt64.random(in: 0...60, using: &random)
        }
        var previous: UInt32 = 0
        for ticks in (Array(0..<5000) + some).sorted() {
            let bucket = fathom_duration_bucket(ticks)
            #expect(bucket >= previous && bucket < FATHOM_BUCKETS, "\(ticks)")
            previous = bucket
            let middle = Double(fathom_bucket_middle(bucket))
            #expect(abs(middle - Double(ticks)) <= Double(ticks) / 64 + 1, "\(ticks) is taken for \(middle)")
        }
    }

    @Test func unitsAreRead() throws {
        var writer = PathWriter()
        writer.enter(1, at: 10)
        for time in 0..<UInt64(5) {
            writer.enter(2, at: 20 + time * 10)
            writer.exit(at: 25 + time * 10)
        }
        writer.fold(7)
        let bytes = writer.bytes(tree: 3)
        try bytes.withUnsafeBytes { bytes in
            let units = try #require(PathUnits(bytes))
            #expect(units.tree == 3 && units.first == 0 && units.keepsTimes)
            var found: [PathUnits.Unit] = []
            var durations: [UInt64: UInt64] = [:]
            units.forEach { index, unit in
                found.append(unit)
                if unit.kind == .durations { units.forEachDuration(at: index) { durations[$0, default: 0] += $1 } }
            }
            try #require(found.map(\.kind) == [.path, .path, .folded, .durations])
            #expect(found.map(\.path) == [nil, 0, 0, 1])
            #expect(found[0].isOpen && found[0].moment == 10 && found[0].calls == 1)
            #expect(!found[1].isOpen && found[1].total == 25 && found[1].calls == 5 && found[1].shortest == 5)
            #expect(durations == [5: 5])
            var totals = PathTotals()
            totals.add(bytes)
            #expect(totals.paths == 2 && totals.calls == 6 && totals.folded == 7 && totals.lost == 0)
        }
    }

    /// What cannot be understood ends the reading, and nothing behind the payload is read.
    @Test func damage() throws {
        var writer = PathWriter()
        writer.enter(1, at: 10)
        let bytes = writer.bytes()
        for size in 0...bytes.count {
            let part = Array(bytes.prefix(size))
            part.withUnsafeBytes { part in
                var units = 0
                PathUnits(part)?.forEach { _, _ in units += 1 }
                #expect(units == (size == bytes.count ? 1 : 0))
            }
        }
        var random = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let noise = (0..<500).map { _ in UInt8.random(in: 0...7, using: &random) }
            noise.withUnsafeBytes { noise in
                let units = PathUnits(noise)
                units?.forEach { index, _ in units?.forEachDuration(at: index) { _, _ in } }
            }
        }
    }

    /// Counts that were full stand in a unit of carries, and recordings of Fathom up to 0.2.0 have coarse units.
    @Test func carriesAndCoarseUnits() throws {
        var head = fathom_paths_head()
        head.keeps = UInt64(FATHOM_KEEPS_TIMES)
        var bytes = withUnsafeBytes(of: head) { Array($0) }
        let bucket = fathom_duration_bucket(1000)
        for (unit, calls) in [(FATHOM_UNIT_DURATIONS, 7), (FATHOM_UNIT_CARRIES, 3)] as [(UInt32, UInt16)] {
            var durations = fathom_durations()
            (durations.unit, durations.first) = (UInt16(unit), UInt16(bucket - 5))
            withUnsafeMutableBytes(of: &durations.counts) { $0.bindMemory(to: UInt16.self)[5] = calls }
            withUnsafeBytes(of: durations) { bytes.append(contentsOf: $0) }
        }
        var coarse = fathom_coarse_durations()
        // The exponent of 1,004 is 9, and the bits behind its first one are 11.
        (coarse.unit, coarse.first) = (UInt16(FATHOM_UNIT_COARSE), 4 * (9 - 2))
        withUnsafeMutableBytes(of: &coarse.counts) { $0.bindMemory(to: UInt32.self)[3] = 100_000 }
        withUnsafeBytes(of: coarse) { bytes.append(contentsOf: $0) }
        var found: [(ticks: UInt64, calls: UInt64)] = []
        bytes.withUnsafeBytes { bytes in
            let units = PathUnits(bytes)
            units?.forEach { index, _ in units?.forEachDuration(at: index) { found.append(($0, $1)) } }
        }
        try #require(found.count == 3)
        #expect(found[0].calls == 7 && found[1].calls == 3 * 65_536 && found[2].calls == 100_000)
        #expect(found[0].ticks == found[1].ticks && (985...1016).contains(found[0].ticks))
        #expect((892...1019).contains(found[2].ticks))
    }
}
