internal import ArgumentParser

/// A part of a whole as people write it: `1%`, `0.5`.
struct Percentage: ExpressibleByArgument {
    var percent: Double

    init(percent: Double) { self.percent = percent }

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        guard let percent = Double(String(number)), percent >= 0, percent <= 100 else { return nil }
        self.percent = percent
    }

    var defaultValueDescription: String { "\(percent)%" }
}
