/// A part of a whole as people write it: `1%`, `0.5`.
struct Percentage: CustomStringConvertible {
    var percent: Double

    init(percent: Double) { self.percent = percent }

    /// Why a text is no percentage.
    private struct InvalidText: Error, CustomStringConvertible {
        let description = "a percentage is a number from 0 to 100"
    }

    /// Reads a value of an option.
    init(argument: String) throws {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        guard let percent = Double(String(number)), percent >= 0, percent <= 100 else { throw InvalidText() }
        self.percent = percent
    }

    /// As help tells a default.
    var description: String { "\(percent)%" }
}
