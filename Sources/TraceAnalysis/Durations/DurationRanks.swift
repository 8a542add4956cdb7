internal import TraceStatistics

/// Calls in the order of their durations, of which each rank is known exactly.
public struct DurationRanks: Sendable {
    /// How many calls took how long, in ns, the shortest first.
    public let counts: [(duration: UInt64, calls: UInt64)]
    public let calls: UInt64

    /// - Parameter counts: how many calls took how long, in ns, each duration once.
    public init(counts: some Sequence<(duration: UInt64, calls: UInt64)>) {
        self.counts = counts.sorted { $0.duration < $1.duration }
        calls = self.counts.reduce(0) { $0 &+ $1.calls }
    }

    /// The duration of the call at a rank, 1 being the shortest's.
    ///
    /// - Precondition: there is such a rank.
    /// - Complexity: O(different durations).
    func duration(atRank rank: UInt64) -> UInt64 {
        precondition(rank >= 1 && rank <= calls, "no such rank")
        var seen: UInt64 = 0
        for (duration, calls) in counts {
            seen &+= calls
            if seen >= rank { return duration }
        }
        return counts[counts.count - 1].duration
    }

    /// The duration that `percent` % of the calls do not exceed (nearest rank); 0 when there are no calls.
    public func percentile(_ percent: UInt64) -> UInt64 {
        calls > 0 ? duration(atRank: NearestRank.rank(of: Double(percent), count: calls)) : 0
    }
}
