import Glibc
import TestSupport
import Testing

@testable import TraceHistory

@Suite struct ChangeDetectorTests {
    /// How many series are looked at; FATHOM_SERIES=500 takes minutes in a debug build.
    private static let count = getenv("FATHOM_SERIES").flatMap { UInt64(String(cString: $0)) } ?? 36

    private func noise(_ count: Int, seed: UInt64 = 1, _ part: Double = 0.01) -> [Double] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in 100 * (1 + part * random.normal()) }
    }

    @Test func step() throws {
        var values = noise(60)
        for index in 30..<60 { values[index] *= 1.03 }
        let changes = ChangeDetector().changes(of: values)
        try #require(changes.count == 1)
        #expect(abs(changes[0].index - 30) <= 1)
        #expect(abs(changes[0].relativeChange - 0.03) < 0.006 && changes[0].chance < 1e-4)
    }

    @Test func exactNumbers() {
        let changes = ChangeDetector().changes(
            of: [Double](repeating: 7, count: 10) + [Double](repeating: 8, count: 10))
        #expect(changes.map(\.index) == [10] && changes.first?.before == 7 && changes.first?.after == 8)
        #expect(ChangeDetector().changes(of: [Double](repeating: 7, count: 40)).isEmpty)
        #expect(ChangeDetector().changes(of: []).isEmpty && ChangeDetector().changes(of: [1, 2]).isEmpty)
    }

    /// A run that was disturbed, however much, is no change, and hides none.
    @Test func outlier() {
        var values = noise(60)
        values[20] *= 10
        #expect(ChangeDetector().changes(of: values).isEmpty)
        for index in 40..<60 { values[index] *= 1.05 }
        #expect(ChangeDetector().changes(of: values).map { abs($0.index - 40) <= 1 } == [true])
    }

    @Test func drift() {
        let values = noise(100, 0.003).enumerated().map { $1 * (1 + 0.05 * Double($0) / 100) }
        #expect(ChangeDetector().changes(of: values).isEmpty)
    }

    private func noise(_ count: Int, _ part: Double) -> [Double] { noise(count, seed: 5, part) }

    /// The series that Otava ships as examples (`examples/csv`, `examples/json`) and that its tests have: ten and eleven runs, in whose
    /// second metric Otava finds one step, and the TigerBeetle series below. Of the first metric nothing is told.
    @Test func examplesOfOtava() {
        let first = [154023, 138455, 143112, 149190, 132098, 151344, 155145, 148889, 149466, 148209].map(Double.init)
        let second = [10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03]
        let halved = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55]
        let lowered = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78]
        let expected: [([Double], [Int])] = [(first, []), (second, [6]), (halved, [6]), (lowered, [4])]
        for (series, steps) in expected {
            #expect(ChangeDetector().changes(of: series).map(\.index) == steps)
            #expect(Otava.changes(series) == steps)
        }
    }

    /// The beginning of the series of TigerBeetle that Otava's tests have. It changes at 15 and 71, as they say, and at 95; there is
    /// an outlier at 10, which is none.
    @Test func seriesOfTigerBeetle() {
        let found = ChangeDetector().changes(of: Otava.tigerBeetle).map(\.index)
        for step in [15, 71, 95] { #expect(found.contains { abs($0 - step) <= 1 }, "\(found)") }
        #expect(!found.contains { (5...12).contains($0) } && found.count <= 5, "\(found)")
    }

    /// More right and fewer wrong than Otava's algorithm, and few alarms where nothing changed.
    @Test func comparedWithOtava() {
        var own = Score(), other = Score()
        for seed in 0..<Self.count {
            let series = NoisySeries(seed: seed)
            own.add(ChangeDetector().changes(of: series.values).map(\.index), of: series)
            other.add(Otava.changes(series.values), of: series)
        }
        if Self.count > 100 { print("own \(own)\nOtava's \(other)") }
        #expect(own.harmonicMean >= other.harmonicMean, "\(own) \(other)")
        #expect(Double(own.alarms) <= 0.05 * Double(own.quiet), "\(own)")
    }

    /// What was found of the steps of many series.
    private struct Score: CustomStringConvertible {
        var (found, wrong, missed) = (0, 0, 0)
        /// Series without a step, and those of them in which one was found.
        var (quiet, alarms) = (0, 0)

        mutating func add(_ changes: [Int], of series: NoisySeries) {
            var left = changes
            for step in series.steps {
                if let near = left.indices.min(by: { abs(left[$0] - step) < abs(left[$1] - step) }),
                    abs(left[near] - step) <= 2
                {
                    left.remove(at: near)
                    found += 1
                } else {
                    missed += 1
                }
            }
            wrong += left.count
            if series.steps.isEmpty { (quiet, alarms) = (quiet + 1, alarms + (changes.isEmpty ? 0 : 1)) }
        }

        /// F1, of precision and recall.
        var harmonicMean: Double { Double(2 * found) / Double(2 * found + wrong + missed) }

        var description: String {
            "F1 \(harmonicMean): \(found) found, \(wrong) wrong, \(missed) missed; \(alarms) alarms in \(quiet) quiet series"
        }
    }
}
