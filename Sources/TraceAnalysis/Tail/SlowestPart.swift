/// How many of a function's calls are taken for its slowest.
public enum SlowestPart: Sendable, Equatable, CustomStringConvertible {
    /// A part of all, in percent; a part of a call is a whole one.
    case percent(Double)
    case count(UInt64)

    /// - Parameter calls: of how many.
    func count(of calls: UInt64) -> UInt64 {
        switch self {
        case .percent(let percent): min(calls, UInt64((Double(calls) * percent / 100).rounded(.up)))
        case .count(let count): min(calls, count)
        }
    }

    /// The part as it may be typed.
    public var description: String {
        switch self {
        case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
        case .count(let count): "\(count)"
        }
    }
}
