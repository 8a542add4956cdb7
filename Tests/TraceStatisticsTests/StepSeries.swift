import Glibc
import TestSupport

/// Series of 10 to 100 runs as those of performance tests are: with up to four steps of 2 to 50 % in noise of 0.15 to 2.5 %,
/// and with what looks like steps and is none.
struct StepSeries {
    enum Group: String, CaseIterable {
        case one, two, three, four, thereAndBack
        /// A step two to four runs from either end.
        case ends
        /// In these, every other series has no step. What is there is no step: a run that takes up to three times as long; a
        /// slow change of all runs by 2 to 15 %; a second speed of the machine, for some of the runs by chance.
        case outliers, drift, twoStates
        case none
    }

    let group: Group
    private(set) var values: [Double] = []
    private(set) var steps: [Int] = []

    /// - Parameter number: of the group's series.
    init(_ group: Group, _ number: UInt64) {
        self.group = group
        var random = SeededGenerator(
            seed: number &* 7919 &+ UInt64(Group.allCases.firstIndex(of: group)!) &* 104_729 &+ 13)
        let count = 10 + random.below(91)
        let noise = [0.002, 0.005, 0.01, 0.015, 0.02][random.below(5)] * (0.7 + 0.6 * random.part())
        let isQuiet = number % 2 == 1
        let wanted =
            switch group {
            case .one: 1
            case .two, .thereAndBack: 2
            case .three: 3
            case .four: 4
            case .ends: 1
            case .outliers, .drift, .twoStates: isQuiet ? 0 : 1
            case .none: 0
            }
        if group == .ends {
            let near = 2 + random.below(3)
            steps = [random.part() < 0.5 ? near : count - near]
        } else {
            // Half of the series have short parts.
            let gap = random.part() < 0.5 ? max(2, count / (wanted + 2)) : max(2, min(5, count / (wanted + 1) - 1))
            repeat {
                steps = (0..<wanted).map { _ in gap + random.below(count - 2 * gap + 1) }.sorted()
            } while zip(steps, steps.dropFirst()).contains { $1 - $0 < gap }
        }
        var levels = [Double](repeating: 100, count: count), last = 1.0
        for (place, step) in steps.enumerated() {
            let size = 1 + exp(log(0.02) + (log(0.5) - log(0.02)) * random.part())
            let factor = group == .thereAndBack && place == 1 ? 1 / last : random.part() < 0.6 ? size : 1 / size
            for index in step..<count { levels[index] *= factor }
            last = factor
        }
        values = levels.map { $0 * (1 + noise * random.normal()) }
        switch group {
        case .outliers:
            let share = 0.03 + 0.09 * random.part()
            for index in values.indices where random.part() < share { values[index] *= 1.1 + 1.9 * random.part() }
        case .drift:
            let slope = (0.02 + 0.13 * random.part()) * (random.part() < 0.5 ? 1 : -1)
            for index in values.indices { values[index] *= 1 + slope * Double(index) / Double(count) }
        case .twoStates:
            let size = 0.01 + 0.07 * random.part(), share = 0.1 + 0.4 * random.part()
            for index in values.indices where random.part() < share { values[index] *= 1 + size }
        case .one, .two, .three, .four, .thereAndBack, .ends, .none: break
        }
    }
}
