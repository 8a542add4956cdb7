internal import TraceFile

/// What a stretch of a thread's time was spent on, and, where the thread waited, what the thread did that ended the wait, and so on
/// down to what nobody waited for: the critical path. Times in ns on the clock that all threads share.
public struct Chain {
    public enum Kind: Sendable {
        /// A thread ran.
        case ran
        /// A thread waited, and what ended the wait is not known. The index is of ``Waits/waits``.
        case waited(Int)
        /// What a thread waited for was there, and the thread had yet to go on.
        case woken(Int)
        /// A thread had been made, and had yet to make its first call.
        case began(Origin)
        /// A thread had not made its first call yet. What made it begin is not known, so nothing is known before.
        case unknown
    }

    /// A part of the path, which begins where the one before it ends.
    public struct Link: Sendable {
        public var kind: Kind
        /// Index among ``Waits/threads``.
        public var thread: Int
        public var begin: UInt64
        public var end: UInt64
    }

    /// The path, in the order of time.
    public let links: [Link]
    public let begin: UInt64
    public let end: UInt64
    public let thread: Int

    /// Goes back from `end` on `thread` to `begin`.
    ///
    /// - Parameter firsts: by thread: when its first call began.
    /// - Complexity: O(n log n) in the number of waits.
    public init(_ waits: Waits, thread: Int, from begin: UInt64, to end: UInt64, firsts: [UInt64]) {
        self.begin = begin
        self.end = end
        self.thread = thread
        var byThread = [[Int]](repeating: [], count: waits.threads.count)
        for index in waits.waits.indices { byThread[waits.waits[index].thread].append(index) }
        for thread in byThread.indices { byThread[thread].sort { waits.waits[$0].end < waits.waits[$1].end } }
        var links: [Link] = []
        var (current, moment) = (thread, end)
        func add(_ kind: Kind, from start: UInt64) {
            let start = max(start, begin)
            if start < moment { links.append(Link(kind: kind, thread: current, begin: start, end: moment)) }
            moment = min(moment, start)
        }
        // Whether the thread is known to have run at the moment; else it may have been within a wait, and these were met there.
        var isAwake = false
        var met: Set<Int> = []
        // Each step goes back in time, or to another thread's wait at the same moment, of which there are so many.
        var steps = 2 * (waits.waits.count + waits.wakes.count + waits.threads.count) + 2
        while moment > begin, steps > 0 {
            steps -= 1
            let first = min(firsts[current], moment)
            guard let index = Chain.lastWait(byThread[current], before: moment, waits) else {
                add(.ran, from: first)
                guard moment > begin else { break }
                guard let origin = waits.origins[current], origin.moment < moment else {
                    add(.unknown, from: begin)
                    break
                }
                // A child is seen a little after it was forked. A thread that waits forks nothing, so it had done so before.
                var made = origin.moment
                while let index = Chain.lastWait(byThread[origin.thread], before: made, waits),
                    waits.waits[index].end > made
                {
                    made = waits.waits[index].begin
                }
                add(.began(origin), from: made)
                (current, isAwake) = (origin.thread, true)
                continue
            }
            let wait = waits.waits[index]
            if wait.end < moment { add(.ran, from: max(wait.end, begin)) }
            guard moment > begin else { break }
            let wake = wait.wake.map { waits.wakes[$0] }
            if let wake, wake.moment < moment {
                add(.woken(index), from: wake.moment)
                (current, isAwake) = (wake.thread, true)
            } else if let wake, !isAwake, met.insert(index).inserted {
                // The stretch ends while the thread waits. What ended the wait later was on its way.
                current = wake.thread
            } else {
                add(.waited(index), from: wait.begin)
                isAwake = true
            }
        }
        self.links = links.reversed()
    }

    /// The last wait of a thread that begins before `moment`.
    private static func lastWait(_ sorted: [Int], before moment: UInt64, _ waits: Waits) -> Int? {
        let next = sorted.partitioningIndex { waits.waits[$0].begin >= moment }
        return next > 0 ? sorted[next - 1] : nil
    }
}
