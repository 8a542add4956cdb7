import TestSupport
import Testing

@testable import TraceStatistics

/// Against published tables and values that can be counted by hand.
@Suite struct StatisticsTests {
    /// Quantiles of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
    @Test(arguments: [
        (1.0, 0.05, 12.706), (2, 0.05, 4.303), (4, 0.05, 2.776), (10, 0.05, 2.228), (18, 0.01, 2.878),
        (30, 0.002, 3.385), (100, 0.05, 1.984),
    ])
    func quantilesOfT(_ degrees: Double, _ chance: Double, _ quantile: Double) {
        #expect(abs(StudentT.quantile(twoSided: chance, degrees: degrees) - quantile) < 0.0006)
        #expect(abs(StudentT.twoSided(quantile, degrees: degrees) - chance) < 0.0002)
        #expect(StudentT.twoSided(-quantile, degrees: degrees) == StudentT.twoSided(quantile, degrees: degrees))
    }

    @Test func incompleteBeta() {
        // I_x(2, 3) is a polynomial: 6x² - 8x³ + 3x⁴.
        for x in [0.01, 0.2, 0.4, 0.5, 0.77, 0.99] {
            let exact = 6 * x * x - 8 * x * x * x + 3 * x * x * x * x
            #expect(abs(StudentT.incompleteBeta(x, 2, 3) - exact) < 1e-12)
        }
        #expect(StudentT.incompleteBeta(0, 2, 3) == 0)
        #expect(StudentT.incompleteBeta(1, 2, 3) == 1)
    }

    @Test func ranks() {
        // Of 20 ways to choose three of six, one is as far out on either side.
        #expect(abs(RankTest.twoSided([1, 2, 3], [4, 5, 6]) - 0.1) < 1e-12)
        #expect(abs(RankTest.least(3, 3) - 0.1) < 1e-12)
        #expect(RankTest.twoSided([1, 2, 3], [1, 2, 3]) == 1)
        #expect(RankTest.twoSided([5, 5], [5, 5]) == 1)
        // Midranks 1, 2.5 | 2.5, 4: sums 3.5 and less in 2 of 6 ways, 6.5 and more in 2.
        #expect(abs(RankTest.twoSided([1, 2], [2, 3]) - 4.0 / 6) < 1e-12)
    }

    /// Of many values the chance is not counted out. Where it is not, it is near the exact one, with equal values or without.
    @Test(arguments: [(15, 15), (12, 25), (5, 81), (30, 30)], [1000, 12] as [UInt64])
    func manyRanks(_ sizes: (first: Int, second: Int), _ spread: UInt64) {
        var random = SeededGenerator(seed: spread + UInt64(sizes.first))
        for _ in 0..<3 {
            let first = (0..<sizes.first).map { _ in Double(random.next() % spread) }
            let second = (0..<sizes.second).map { _ in Double(random.next() % spread + spread / 5) }
            let exact = Ranks(of: first, and: second).exactChance
            #expect(abs(RankTest.twoSided(first, second) - exact) < 0.01, "\(first) \(second): \(exact)")
            #expect(RankTest.twoSided(first, second) == RankTest.twoSided(second, first))
        }
        #expect(
            RankTest.twoSided(Array(repeating: 3, count: sizes.first), Array(repeating: 3, count: sizes.second)) == 1)
    }

    /// The example of B. L. Welch's test with unequal variances, worked by hand.
    @Test func welch() throws {
        let sample = SampleComparison(before: [10, 12, 14], after: [20, 24, 28])
        #expect(sample.before == 12 && sample.after == 24 && sample.relativeChange == 1)
        // Variances 4 and 16, so the error is √(20/3) = 2.582, with (20/3)² / ((4/3)²/2 + (16/3)²/2) = 2.941 degrees.
        let margin = StudentT.quantile(twoSided: 0.05, degrees: 50.0 / 17) * (20.0 / 3).squareRoot()
        let interval = try #require(sample.interval)
        #expect(abs(interval.lowerBound - (12 - margin)) < 1e-9)
        #expect(abs(interval.upperBound - (12 + margin)) < 1e-9)
    }

    @Test func oneRunTellsNoNoise() {
        let sample = SampleComparison(before: [10], after: [20, 21])
        #expect(sample.interval == nil && sample.chance == nil && sample.change == 10.5)
    }

    @Test func constantsAreExact() {
        #expect(SampleComparison(before: [3, 3, 3], after: [4, 4]).chance == 0)
        #expect(SampleComparison(before: [3, 3, 3], after: [3, 3]).chance == 1)
        #expect(SampleComparison(before: [0, 0], after: [4, 5]).relativeChange == .infinity)
    }

    /// Two runs in ten that were disturbed hide nothing and make nothing.
    @Test func disturbedRuns() throws {
        let before = [100.0, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100]
        var after = before.map { $0 * 1.05 }
        after[3] = 190
        #expect(try #require(SampleComparison(before: before, after: after).chance) < 1e-6)
        var same = before
        (same[2], same[7]) = (150, 170)
        #expect(try #require(SampleComparison(before: before, after: same).chance) > 0.05)
    }

    /// A machine that slows down from run to run is not a change at the moment the sides were changed.
    @Test func trends() throws {
        let runs = (0..<20).map { 100 + Double($0) + ($0 % 2 == 0 ? 0.3 : -0.3) }
        let moments = (0..<20).map { Double($0) }
        let blind = SampleComparison(before: Array(runs[..<10]), after: Array(runs[10...]))
        #expect(try #require(blind.chance) < 1e-4)
        let seeing = SampleComparison(before: Array(runs[..<10]), after: Array(runs[10...]), moments: moments)
        #expect(try #require(seeing.chance) > 0.05)
        #expect(try #require(seeing.interval).contains(0))
    }

    @Test func holm() {
        let even = [1.0, 1, 1, 1]
        #expect(Significance.holm([0.001, 0.02, nil, 0.5], weights: even, risk: 0.05) == [true, true, false, false])
        #expect(
            Significance.holm([0.02, 0.02, 0.02, 0.02], weights: even, risk: 0.05) == [false, false, false, false])
        // What matters more needs less evidence.
        #expect(Significance.holm([0.02, 0.02], weights: [9, 1], risk: 0.03) == [true, true])
        #expect(Significance.holm([0.02, 0.5], weights: [1, 9], risk: 0.03) == [false, false])
    }
}
