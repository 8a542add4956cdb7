/// A length of time as people type it: `10us`, `1.5ms`, `2s`.
public struct TimeSpan: Sendable, Equatable, CustomStringConvertible {
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The time as it may be typed.
    public var description: String { "\(nanoseconds)ns" }

    /// Why a text is no time.
    public struct InvalidText: Error, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// Reads a number with one of the units ns, us, µs, ms, s, m, min, h and d. Only 0 needs no unit.
    public init(_ text: some StringProtocol) throws(InvalidText) {
        if text.first == "-" { throw InvalidText(description: "a time cannot be negative") }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        guard let number = Double(String(digits)) else {
            throw InvalidText(description: "a time is a number and a unit, as 10us or 1.5ms")
        }
        let scale: Double
        switch text.dropFirst(digits.count) {
        case "ns": scale = 1
        case "us", "µs", "μs": scale = 1e3
        case "ms": scale = 1e6
        case "s": scale = 1e9
        case "m", "min": scale = 60e9
        case "h": scale = 3600e9
        case "d": scale = 86400e9
        case "" where number == 0: scale = 1
        case "": throw InvalidText(description: "\(text) of what? write \(text)us, \(text)ms or \(text)s")
        case let unit: throw InvalidText(description: "'\(unit)' is no unit of time: ns, us, ms, s, min, h and d are")
        }
        guard number * scale < 9e18 else { throw InvalidText(description: "a time cannot be longer than 285 years") }
        nanoseconds = UInt64((number * scale).rounded())
    }
}
