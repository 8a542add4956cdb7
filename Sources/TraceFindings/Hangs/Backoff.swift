/// When a hang is looked at again: after 1, 2, 3, 5, 8, … intervals as long as its stack stays the same.
///
/// This is matrix's annealing (WCBlockMonitorMgr, Tencent).
public struct Backoff {
    private let interval: UInt64
    private var gap: UInt64 = 1, last: UInt64 = 1
    private var stack: [UInt64]
    /// In ns.
    private var due: UInt64

    /// - Parameters:
    ///   - interval: in ns.
    ///   - now: when the stack was reported, in ns.
    public init(interval: UInt64, stack: [UInt64], at now: UInt64) {
        self.interval = interval
        self.stack = stack
        due = now + interval
    }

    public enum Answer: Equatable {
        case notYet
        case sameStack
        case otherStack
    }

    /// Whether it is time to look, and what is found.
    public mutating func look(_ current: [UInt64], at now: UInt64) -> Answer {
        guard now >= due else { return .notYet }
        guard current == stack else {
            stack = current
            (gap, last) = (1, 1)
            due = now + interval
            return .otherStack
        }
        (gap, last) = (gap + last, gap)
        due += gap * interval
        // What was late does not make the next one early.
        if due <= now { due = now + gap * interval }
        return .sameStack
    }
}
