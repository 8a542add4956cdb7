import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFindings
@testable import TraceStatistics

/// There is one definition of percentiles.
@Suite struct NearestRankTests {
    /// By the definition: the least value that `percent` % of the values do not exceed.
    @Test func definition() {
        for count in 1...250 {
            let values = Array(1...count)
            for percent in 1...100 {
                let least = values.first { $0 * 100 >= percent * count }!
                #expect(NearestRank.value(of: values, Double(percent)) == least, "\(percent) of \(count)")
            }
        }
        #expect(NearestRank.rank(of: 99.9, count: 1000) == 999 && NearestRank.rank(of: 0, count: 7) == 1)
        #expect(NearestRank.rank(of: 99, count: .max) < .max)
    }

    /// All that reads percentiles off durations agrees: buckets, exact durations, and starts. Durations below 64 ns have
    /// buckets of their own.
    @Test func allAgree() {
        var random = SeededGenerator(seed: 4)
        for count in 1...120 {
            let values = (0..<count).map { _ in random.next() % 60 + 1 }, sorted = values.sorted()
            var reader = DurationReader(), buckets = PercentileReader()
            for value in values {
                reader.add(value)
                buckets.add(DurationCounts([(UInt16(Bucket.index(of: value)), 1)]))
            }
            let ranks = DurationRanks(
                counts: Dictionary(values.map { ($0, 1 as UInt64) }) { $0 + $1 }.map { ($0.key, $0.value) })
            let read = buckets.take(within: sorted[0]...sorted[count - 1]), start = StartupRuns.Numbers(values)
            #expect(read.p50 == NearestRank.value(of: sorted, 50) && read.p99 == NearestRank.value(of: sorted, 99))
            #expect(read.p90 == ranks.percentile(90) && read.p99 == ranks.percentile(99))
            #expect(start.p50 == read.p50 && start.p90 == read.p90)
            #expect(reader.takePercentile(99) == read.p99)
        }
    }
}
