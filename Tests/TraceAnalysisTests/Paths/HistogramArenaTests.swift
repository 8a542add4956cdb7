import TestSupport
import Testing

@testable import TraceAnalysis

/// Histograms are those of a plain table of counts, however they are kept.
@Suite struct HistogramArenaTests {
    private func counts(_ table: CallPathTable, _ node: UInt32) -> [Int: UInt64] {
        var counts: [Int: UInt64] = [:]
        table.histograms.forEachBucket(table.nodes[Int(node)].histogram, of: table.sums(node)) { bucket, count in
            counts[bucket, default: 0] += count
        }
        return counts
    }

    /// Counts a call as the replay of a thread does.
    private func count(_ duration: UInt64, _ table: inout CallPathTable, _ node: UInt32) {
        table.histograms.count(duration, of: table.nodes + Int(node))
        var sums = table.sums(node)
        sums.calls += 1
        sums.minimum = min(sums.minimum, duration)
        sums.maximum = max(sums.maximum, duration)
        table.set(sums, of: node)
    }

    @Test(arguments: 1...20)
    func everyDurationIsCounted(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var table = CallPathTable()
        var other = CallPathTable()
        defer {
            table.free()
            other.free()
        }
        var expected: [[Int: UInt64]] = []
        for path in 0..<60 {
            let node = table.callee(of: 0, function: UInt32(path))
            #expect(other.callee(of: 0, function: UInt32(path)) == node)
            expected.append([:])
            // From paths of one call to such as outgrow all lists, with durations all alike or far apart.
            let calls = Int.random(in: 0...(1 << (path % 13)), using: &random)
            let spread = UInt64(1) << UInt64.random(in: 0...40, using: &random)
            for _ in 0..<calls {
                let duration = UInt64.random(in: 0..<spread, using: &random)
                expected[path][Bucket.index(of: duration), default: 0] += 1
                if Int.random(in: 0...3, using: &random) == 0 {
                    count(duration, &other, node)
                } else {
                    count(duration, &table, node)
                }
            }
        }
        for path in 0..<60 {
            let node = UInt32(path) + 1
            table.add(other.sums(node), other.nodes[Int(node)].histogram, in: other.histograms, to: node)
            #expect(counts(table, node) == expected[path])
        }
    }

    /// A number of calls that takes more than 32 bits, and sums that few paths have, survive being added up.
    @Test func rareSums() {
        var table = CallPathTable()
        defer { table.free() }
        var sums = CallPathSums()
        (sums.calls, sums.total, sums.selfTime, sums.minimum, sums.maximum) = (1 << 33 + 5, 1 << 40, 7, 1, 2)
        (sums.firstStart, sums.lastEnd, sums.inherited, sums.inheritedCalls) = (1, 1 << 41, 3, 4)
        (sums.dropped, sums.taken) = (CallSum(calls: 5, time: 6), 8)
        let node = table.callee(of: 0, function: 9)
        table.set(sums, of: node)
        #expect(table.sums(node) == sums)
        table.add(sums, 0, in: table.histograms, to: node)
        #expect(table.sums(node).calls == 2 * (1 << 33 + 5))
        #expect(table.sums(node).dropped == CallSum(calls: 10, time: 12))
    }
}
