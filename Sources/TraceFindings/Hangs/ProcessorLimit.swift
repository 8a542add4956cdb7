/// Tells when a process uses the processors for long.
///
/// The rules are those of matrix's WCCPUHandler (Tencent): it begins to count above the limit, gives up when the average falls
/// below half of that, and rests for as long as it counted after it has told.
public struct ProcessorLimit {
    private let limit: Double
    private let stretch: UInt64
    private var time: UInt64 = 0, cost = 0.0
    private var rest: UInt64 = 0
    public private(set) var isCounting = false

    /// Longer stretches between two looks say nothing.
    private static let longestPeriod: UInt64 = 5_000_000_000

    /// - Parameters:
    ///   - limit: in percent of a core.
    ///   - stretch: how long the average has to be above it, in ns.
    public init(limit: Double, stretch: UInt64 = 60_000_000_000) {
        self.limit = limit
        self.stretch = stretch
    }

    /// - Parameters:
    ///   - usage: what the process used since it was looked at before, in percent of a core.
    ///   - period: how long ago that was, in ns.
    /// - Returns: Whether the limit was exceeded for so long.
    public mutating func add(usage: Double, over period: UInt64) -> Bool {
        guard period > 0, period <= ProcessorLimit.longestPeriod else { return false }
        if rest > 0 {
            rest -= min(rest, period)
            return false
        }
        if !isCounting {
            guard usage > limit else { return false }
            (isCounting, time, cost) = (true, 0, 0)
        }
        time += period
        cost += usage * Double(period)
        let average = cost / Double(time)
        if average < limit / 2 { isCounting = false }
        guard isCounting, time >= stretch, average > limit else { return false }
        isCounting = false
        rest = stretch
        return true
    }
}
