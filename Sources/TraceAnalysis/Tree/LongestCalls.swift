/// The longest calls of any number of threads, as many as are asked for.
///
/// A call is at least as long as those it makes, and of two equally long calls the outer one comes first. So the
/// callers of the calls that are kept are kept as well.
public final class LongestCalls {
    /// What calls are compared by. The thread is part of it so that no more calls are kept than were asked for.
    private struct Rank: Comparable {
        var total: UInt64
        var start: UInt64
        var depth: UInt32
        var thread: UInt64

        /// Whether `a` comes before `b`.
        static func < (a: Rank, b: Rank) -> Bool {
            (b.total, a.start, a.depth, a.thread) < (a.total, b.start, b.depth, b.thread)
        }
    }

    /// The number of calls to keep.
    public let limit: Int
    private var ranks: [Rank] = []
    /// In ns: shorter calls are not among the longest. Calls that are as long as this may be.
    private(set) var least: UInt64 = 0
    /// How many calls there are to choose from.
    private(set) var candidates: UInt64 = 0
    private var last: Rank?
    private var thread: UInt64 = 0
    private var longest: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    /// The calls that follow are of another thread.
    ///
    /// - Parameter thread: its number.
    func begin(_ thread: UInt64) {
        self.thread = thread
        longest = 0
    }

    /// The longest call of the thread, in ns.
    var longestOfThread: UInt64 { longest }

    /// Takes into account that the thread has calls, which are not among the longest.
    func pass(_ calls: UInt64) { candidates &+= calls }

    /// Takes into account that the thread has a call that takes so long, in ns, whether it is told or not.
    func note(_ total: UInt64) { longest = max(longest, total) }

    /// Shorter calls than this, in ns, are not among the longest of those that were told until now.
    var leastSoFar: UInt64 {
        cut()
        return least
    }

    /// Takes a call into account.
    func add(total: UInt64, start: UInt64, depth: UInt32) {
        longest = max(longest, total)
        candidates &+= 1
        guard limit < .max / 2, total >= least else { return }
        ranks.append(Rank(total: total, start: start, depth: depth, thread: thread))
        if ranks.count >= 2 * limit { cut() }
    }

    /// Ends the search, when all calls are known.
    func finish() {
        cut()
        // Others were passed.
        if ranks.count == limit, candidates > UInt64(limit), let shortest = ranks.max() {
            last = shortest
            least = shortest.total
        }
        ranks = []
    }

    private func cut() {
        guard ranks.count > limit else { return }
        ranks.sort()
        ranks.removeLast(ranks.count - limit)
        last = ranks.last
        least = last?.total ?? 0
    }

    /// Whether a call of the thread that takes `least` ns is among the longest, once all calls are known.
    func keeps(start: UInt64, depth: UInt32) -> Bool {
        guard let last else { return true }
        return !(last < Rank(total: least, start: start, depth: depth, thread: thread))
    }
}
