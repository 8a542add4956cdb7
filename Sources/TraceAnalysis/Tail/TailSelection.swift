/// Which of a function's calls are its slowest, and which are typical of it.
struct TailSelection {
    /// The number of slowest calls.
    let slow: UInt64
    /// The shortest duration of a slowest call, in ns. All calls that take longer are among the slowest.
    let least: UInt64
    /// How many of the calls that take exactly ``least`` are among the slowest: the first ones of the first threads.
    let ties: UInt64
    /// Calls that take this long, in ns, and are not among the slowest, are typical: those from the 25th to the 75th percentile.
    let typical: ClosedRange<UInt64>

    /// - Precondition: there are calls.
    init(_ ranks: DurationRanks, slowest: SlowestPart) {
        slow = max(1, slowest.count(of: ranks.calls))
        let least = ranks.duration(atRank: ranks.calls - slow + 1)
        self.least = least
        ties = slow - ranks.counts.reduce(0) { $1.duration > least ? $0 &+ $1.calls : $0 }
        typical = ranks.percentile(25)...ranks.percentile(75)
    }
}
