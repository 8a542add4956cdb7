/// So many within any 24 hours, and no more.
public struct DailyLimit {
    private static let day: UInt64 = 86_400 * 1_000_000_000
    private let most: Int
    private var times: [UInt64] = []
    /// How many were refused.
    public private(set) var refused: UInt64 = 0

    public init(_ most: Int) { self.most = most }

    /// Whether one more is allowed now. If not, it is counted.
    public mutating func take(at now: UInt64) -> Bool {
        times.removeAll { now - $0 >= DailyLimit.day }
        guard times.count < most else {
            refused += 1
            return false
        }
        times.append(now)
        return true
    }
}
