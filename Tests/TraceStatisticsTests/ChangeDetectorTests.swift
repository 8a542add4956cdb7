import Glibc
import TestSupport
import Testing

@testable import TraceStatistics

@Suite struct ChangeDetectorTests {
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
        }
    }

    /// The beginning of the series of TigerBeetle that Otava's tests have. It changes at 15 and 71, as they say, and at 95; there is
    /// an outlier at 10, which is none.
    @Test func seriesOfTigerBeetle() {
        let found = ChangeDetector().changes(of: Otava.tigerBeetle).map(\.index)
        for step in [15, 71, 95] { #expect(found.contains { abs($0 - step) <= 1 }, "\(found)") }
        #expect(!found.contains { (5...12).contains($0) } && found.count <= 5, "\(found)")
    }

    /// Several steps in few runs: two of 10 % with next to no noise, one and the one back from it, and one after 7 of 14 runs.
    @Test func severalSteps() {
        func found(_ levels: [(Int, Double)]) -> [Int] {
            let values = levels.flatMap { [Double](repeating: $0.1, count: $0.0) }
            return ChangeDetector().changes(of: values.enumerated().map { $1 + Double($0 % 7) }).map(\.index)
        }
        #expect(found([(20, 1000), (20, 1100), (20, 1210)]) == [20, 40])
        #expect(found([(20, 1000), (20, 1500), (20, 1000)]) == [20, 40])
        #expect(found([(7, 1000), (7, 1500)]) == [7])
        #expect(found([(4, 1000), (16, 1500)]) == [4] && found([(16, 1000), (4, 1500)]) == [16])
        #expect(found([(5, 1000), (5, 1500), (5, 2000)]) == [5, 10])
        for levels in [3, 8, 22] {
            var values = noise(3 * levels, seed: 3)
            for index in levels..<(2 * levels) { values[index] *= 1.2 }
            for index in (2 * levels)..<(3 * levels) { values[index] *= 1.1 }
            #expect(ChangeDetector().changes(of: values).map(\.index) == [levels, 2 * levels], "\(levels)")
        }
    }

    /// Outliers, however many times as long, do not hide a step that ranks show.
    @Test func outliersBesideAStep() {
        for seed in 1..<6 as Range<UInt64> {
            var values = noise(40, seed: seed, 0.05)
            for index in 20..<40 { values[index] *= 3 }
            for index in [3, 9, 26, 33] { values[index] *= 20 }
            #expect(ChangeDetector().changes(of: values).map(\.index) == [20], "\(seed)")
        }
    }

    /// Two or three disturbed runs, after which everything is as before, are no change.
    @Test func shortDisturbance() {
        for length in 1...3 {
            var values = noise(40, seed: 7)
            for index in 18..<(18 + length) { values[index] *= 1.5 }
            #expect(ChangeDetector().changes(of: values).isEmpty, "\(length)")
        }
    }

    /// Of 600 series, as many steps as Otava finds, and fewer false alarms. A false alarm is a series without a step in which one
    /// is found. Outliers, drift and a second speed of the machine are no steps.
    @Test func comparedWithOtava() throws {
        let each = 60 as UInt64
        let all = StepSeries.Group.allCases.flatMap { group in (0..<each).map { StepSeries(group, $0) } }
        let other = try Otava.changes(all.map(\.values))
        if other == nil { print("skip: no Python has apache-otava, so its recorded figures are compared with") }
        var own: [StepSeries.Group: Score] = [:], others = own
        for (place, series) in all.enumerated() {
            own[series.group, default: Score()].add(
                ChangeDetector().changes(of: series.values).map(\.index), of: series)
            if let other { others[series.group, default: Score()].add(other[place], of: series) }
        }
        var sum = Score(), otavas = 0
        for group in StepSeries.Group.allCases {
            let score = own[group]!, found = other == nil ? Otava.found[group]! : others[group]!.found
            // With so few series, two steps are chance.
            #expect(score.found + 2 >= found, "\(group): \(score), Otava \(found)")
            #expect(Double(score.alarms) <= max(2, 0.05 * Double(score.quiet)), "\(group): \(score)")
            sum.add(score)
            otavas += found
        }
        #expect(sum.found > otavas && Double(sum.alarms) <= 0.05 * Double(sum.quiet), "\(sum), Otava \(otavas)")
        #expect(sum.harmonicMean > 0.9, "\(sum)")
    }

    /// What was found of the steps of many series.
    private struct Score: CustomStringConvertible {
        var (found, wrong, missed) = (0, 0, 0)
        /// Series without a step, and those of them in which one was found.
        var (quiet, alarms) = (0, 0)

        mutating func add(_ changes: [Int], of series: StepSeries) {
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

        mutating func add(_ other: Score) {
            (found, wrong, missed) = (found + other.found, wrong + other.wrong, missed + other.missed)
            (quiet, alarms) = (quiet + other.quiet, alarms + other.alarms)
        }

        /// F1, of precision and recall.
        var harmonicMean: Double { Double(2 * found) / Double(2 * found + wrong + missed) }

        var description: String {
            "F1 \(harmonicMean): \(found) found, \(wrong) wrong, \(missed) missed; \(alarms) alarms in \(quiet) quiet series"
        }
    }
}
