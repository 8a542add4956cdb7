internal import TraceAnalysis

extension SlowestPart {
    /// Why a text does not tell how many calls.
    private struct InvalidText: Error, CustomStringConvertible {
        let description = "a part of the calls is a number, as 10, or a percentage, as 1%"
    }

    /// Reads a value of an option: `1%`, `10`.
    init(argument: String) throws {
        if argument.hasSuffix("%") {
            let percent = try Percentage(argument: argument).percent
            guard percent > 0 else { throw InvalidText() }
            self = .percent(percent)
        } else {
            guard let count = UInt64(argument), count > 0 else { throw InvalidText() }
            self = .count(count)
        }
    }
}
