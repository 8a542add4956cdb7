import Testing
import TraceStatistics

@testable import TraceAnalysis
@testable import TraceFindings

/// A layout is better only where that is sure, and nothing else is worse.
@Suite struct StartComparisonTests {
    private func starts(_ pages: [Double], time: [Double?], isCold: Bool = false) -> [StartComparison.Start] {
        zip(pages, time).map {
            StartComparison.Start(
                isCold: isCold, majorFaults: 0, minorFaults: 50, residentPages: $0, nanoseconds: $1)
        }
    }

    private func verdict(_ measure: StartComparison.Measure, _ comparison: StartComparison) -> StartComparison.Verdict?
    {
        comparison.rows.first { $0.measure == measure }?.verdict
    }

    private let noise: [Double] = [100, 130, 90, 120, 110, 95, 125, 105, 115, 99]

    @Test func fewerPagesAreBetter() {
        let old = starts([Double](repeating: 400, count: 10), time: noise)
        let new = starts([Double](repeating: 300, count: 10), time: noise.reversed())
        let comparison = StartComparison(old: old, new: new)
        #expect(comparison.isBetter && verdict(.residentPages, comparison) == .better)
        #expect(verdict(.time, comparison) == .same && verdict(.minorFaults, comparison) == .same)
        let back = StartComparison(old: new, new: old)
        #expect(!back.isBetter && verdict(.residentPages, back) == .worse)
        #expect(!StartComparison(old: old, new: old).isBetter)
    }

    @Test func oneIsNotBoughtWithAnother() {
        let slower = starts([Double](repeating: 300, count: 10), time: noise.map { $0 * 3 })
        let comparison = StartComparison(old: starts([Double](repeating: 400, count: 10), time: noise), new: slower)
        #expect(verdict(.time, comparison) == .worse && !comparison.isBetter)
        // A page more of many is not worse.
        let more = StartComparison(
            old: starts([Double](repeating: 400, count: 10), time: noise),
            new: starts([Double](repeating: 401, count: 10), time: noise.map { $0 / 3 }))
        #expect(verdict(.residentPages, more) == .same && more.isBetter)
    }

    @Test func coldStartsAreComparedByThemselves() {
        let old = starts([400, 400], time: [nil, nil], isCold: true) + starts([400, 400], time: [nil, nil])
        let new = starts([100, 100], time: [nil, nil], isCold: true) + starts([400, 400], time: [nil, nil])
        let comparison = StartComparison(old: old, new: new)
        #expect(comparison.rows.count == 6 && comparison.rows.allSatisfy { $0.measure != .time })
        #expect(comparison.rows.filter { $0.verdict == .better }.map(\.isCold) == [true])
    }

    /// The change that is told lies inside its interval, also where a few starts were disturbed.
    @Test func estimateInsideItsInterval() throws {
        let old = noise + [99, 101, 5000, 7000], new = noise.map { $0 - 20 } + [9000, 80, 81, 79]
        for (before, after) in [(old, new), (new, old), (old, noise + noise), (noise, noise.map { $0 * 2 })] {
            let rows = StartComparison(
                old: starts([Double](repeating: 400, count: before.count), time: before),
                new: starts([Double](repeating: 400, count: after.count), time: after)
            ).rows
            for row in rows {
                let interval = try #require(row.comparison.interval)
                #expect(interval.contains(row.comparison.estimate), "\(row)")
            }
        }
    }
}
