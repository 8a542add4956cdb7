/// A length of time as people type it: `10us`, `1.5ms`, `2s`; plain numbers are ns.
public struct TimeSpan: Sendable, Equatable {
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Reads `text`; nil when that is not a number with one of the units ns, us, µs, ms, s, m.
    public init?(_ text: some StringProtocol) {
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let scale: Double
        switch text.dropFirst(digits.count) {
        case "", "ns": scale = 1
        case "us", "µs", "μs": scale = 1e3
        case "ms": scale = 1e6
        case "s": scale = 1e9
        case "m", "min": scale = 60e9
        default: return nil
        }
        guard let number = Double(String(digits)), number * scale < 9e18 else { return nil }
        nanoseconds = UInt64((number * scale).rounded())
    }
}
