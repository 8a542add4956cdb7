import Testing

@testable import TraceStatistics

/// Against published tables, and values that can be counted by hand.
@Suite struct SampleTests {
    @Test func nearestRank() {
        let ten = (1...10).map(Double.init)
        #expect(NearestRank.value(of: ten, 90) == 9)
        #expect(NearestRank.value(of: ten, 91) == 10)
        #expect(NearestRank.value(of: ten, 50) == 5)
        #expect(NearestRank.value(of: ten, 100) == 10)
        #expect(NearestRank.value(of: ten, 0.1) == 1)
        // 99.9 % of 1,000 is 999, although 0.999 · 1000 is more than that in binary.
        #expect(NearestRank.value(of: (1...1000).map(Double.init), 99.9) == 999)
        #expect(Percentile.median([3, 1, 2]) == 2 && Percentile.median([4, 1, 2, 3]) == 2.5)
    }

    /// The ranks that bound a median with 95 % (W. J. Conover, Practical Nonparametric Statistics, 1999, section 3.2): of 10 values
    /// the 2nd and 9th, of 20 the 6th and 15th, of 5 none, because the extremes are only 93.75 % sure.
    @Test func boundsOfPercentiles() {
        #expect(Percentile.ranks(count: 10, 50, doubt: 0.025) == (2, 9))
        #expect(Percentile.ranks(count: 20, 50, doubt: 0.025) == (6, 15))
        #expect(Percentile.ranks(count: 5, 50, doubt: 0.025) == (nil, nil))
        #expect(Percentile.leastCount(50, doubt: 0.025) == 6)
        // 0.9^29 < 5 % < 0.9^28.
        #expect(Percentile.leastCount(90, doubt: 0.05) == 29)
        let bounds = Percentile.bounds(of: [5, 3, 1, 2, 4, 6, 7, 8, 10, 9], 50, confidence: 0.95)
        #expect(bounds.lower == 2 && bounds.upper == 9)
    }

    /// The expected chances count out the 20 and 252 ways to deal out the values.
    @Test func kolmogorovSmirnov() {
        #expect(abs(KolmogorovSmirnov.twoSided([1, 2, 3], [4, 5, 6]) - 0.1) < 1e-12)
        let (first, second) = ([1.0, 2, 3, 4, 5], [3.5, 4.5, 5.5, 6.5, 7.5])
        #expect(abs(KolmogorovSmirnov.distance(first, second) - 0.6) < 1e-12)
        // n = m = 5: a distance of 3/5 or more has the chance 0.3571 (E. Pearson, H. Hartley, Biometrika Tables 2, table 55).
        #expect(abs(KolmogorovSmirnov.twoSided(first, second) - 0.357143) < 1e-6)
        #expect(KolmogorovSmirnov.twoSided([1, 1], [1, 1]) == 1)
    }

    /// Kolmogorov's limit: 1.36 is exceeded with 5 %, 1.63 with 1 %.
    @Test func kolmogorovSmirnovOfMany() {
        let first = (0..<500).map(Double.init)
        for (limit, chance) in [(1.36, 0.05), (1.63, 0.01)] {
            let distance = limit / (250.0).squareRoot()
            let second = first.map { $0 + (distance * 500).rounded() - 0.5 }
            #expect(abs(KolmogorovSmirnov.twoSided(first, second) - chance) < 0.01)
        }
    }

    /// The example of Y. Benjamini and Y. Hochberg, 1995: of fifteen, four.
    @Test func falseDiscovery() {
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ]
        let kept = FalseDiscovery.kept(chances.reversed() + [nil], rate: 0.05)
        #expect(kept.count { $0 } == 4)
        #expect(Array(kept[11..<15]) == [true, true, true, true] && !kept[15])
        #expect(FalseDiscovery.kept([nil, nil], rate: 0.05) == [false, false])
    }

    /// A step and the one back are found together, which dividing in two does not see.
    @Test func segmentation() {
        let parts = Segmentation([1, 1, 1, 5, 5, 5, 1, 1, 1], most: 3, least: 2)
        #expect(parts.bounds(2) == [0, 3, 6, 9] && parts.costs[2] < 1e-9 && parts.costs[1] > 10)
        #expect(parts.bounds(0) == [0, 9] && abs(parts.costs[0] - 32) < 1e-9)
        #expect(Segmentation([1, 2, 3], most: 3, least: 2).costs.count == 1)
    }
}
