import Glibc
import TestSupport

/// Series as those of performance tests are: steps of 1 to 20 %, beside what looks like steps and is none.
struct NoisySeries {
    enum Kind: CaseIterable { case steps, outliers, drift, twoStates, quiet }

    let kind: Kind
    private(set) var values: [Double]
    private(set) var steps: [Int] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 7919 &+ 13)
        kind = [.steps, .steps, .outliers, .drift, .twoStates, .quiet][Int(seed % 6)]
        let count = 60 + Int(random.next() % 90)
        let noise = 0.002 + 0.013 * random.part()
        var levels = [Double](repeating: 100, count: count)
        // Every other drift has no step.
        if kind != .quiet, kind != .drift || seed % 12 != 3 {
            var step = 12 + Int(random.next() % 15)
            for _ in 0...(random.next() % 3) where step < count - 12 {
                let size = (0.01 + 0.19 * random.part() * random.part()) * (random.part() < 0.5 ? 1 : -1)
                for index in step..<count { levels[index] *= 1 + size }
                steps.append(step)
                step += 20 + Int(random.next() % 40)
            }
        }
        values = levels.map { $0 * (1 + noise * random.normal()) }
        switch kind {
        case .outliers:
            for index in values.indices where random.part() < 0.06 { values[index] *= 1.1 + 0.5 * random.part() }
        case .drift:
            let slope = (0.02 + 0.08 * random.part()) * (random.part() < 0.5 ? 1 : -1)
            for index in values.indices { values[index] *= 1 + slope * Double(index) / Double(count) }
        case .twoStates:
            let size = 0.01 + 0.05 * random.part(), share = 0.1 + 0.4 * random.part()
            for index in values.indices where random.part() < share { values[index] *= 1 + size }
        case .steps, .quiet: break
        }
    }
}

extension SeededGenerator {
    /// From 0 to 1.
    mutating func part() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// Normally distributed, by G. E. P. Box and M. E. Muller (1958).
    mutating func normal() -> Double { (-2 * log(max(part(), 1e-300))).squareRoot() * cos(2 * Double.pi * part()) }
}
