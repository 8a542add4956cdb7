internal import TraceAnalysis

/// Decides which threads of a process are in a deadlock, since when, and when it is over. A process has one judge.
struct DeadlockJudge {
    /// A deadlock that is told of.
    struct Known {
        /// The threads, each waiting for the next.
        var circle: [UInt32]
        /// When the last of them began to wait, in ticks.
        var begin: UInt64
        /// The innermost open call of each, by when it was entered, as far as that is known.
        var calls: [UInt32: UInt64]
        /// The system call that each waits in.
        var blocked: [UInt32: BlockedCall]
        /// When it was not found for the first time, in ticks; nil when it was found at the last look.
        var missing: UInt64?
    }

    private(set) var known: [[UInt32]: Known] = [:]
    /// Circles that were found at the last look, and since when they were there, in ticks.
    private var candidates: [[UInt32]: UInt64] = [:]
    /// When it was looked for circles last, in ticks; 0: never.
    private var last: UInt64 = 0

    /// Finds circles that were there at the last look, too, and are not told of.
    ///
    /// - Parameters:
    ///   - found: all that are there now.
    ///   - ticks: this moment.
    ///   - lastRecord: when the threads of a circle made their last record, 0 when that is not known. They have not begun to
    ///     wait before.
    /// - Returns: Those circles, and since when they are there.
    mutating func look(
        _ found: [[UInt32]], at ticks: UInt64, lastRecord: ([UInt32]) -> UInt64
    ) -> [(circle: [UInt32], begin: UInt64)] {
        var old: [(circle: [UInt32], begin: UInt64)] = [], now: [[UInt32]: UInt64] = [:]
        for circle in found where known[circle] == nil {
            let record = lastRecord(circle), before = candidates[circle]
            let begin = max(before ?? last, record)
            now[circle] = begin > 0 ? begin : ticks
            if before == begin { old.append((circle, begin)) }
        }
        candidates = now
        last = ticks
        return old
    }

    mutating func tell(_ deadlock: Known) {
        known[deadlock.circle] = deadlock
        candidates[deadlock.circle] = nil
    }

    /// Since when a circle has been there as far as is known, in ticks; `record` as in ``look(_:at:lastRecord:)``.
    func begin(of circle: [UInt32], lastRecord record: UInt64) -> UInt64 { max(candidates[circle] ?? last, record) }

    /// Notes what was found of a deadlock that is told of.
    ///
    /// - Parameters:
    ///   - blocked: what its threads wait in, if they still wait for each other; else nil.
    ///   - ended: when a call of one of them is known to have ended in which it waited, in ticks.
    ///   - ticks: this moment.
    /// - Returns: When it was over, in ticks; nil when it is not, or when that may yet be a mistake: a thread may be in
    ///   between two system calls for a moment.
    mutating func look(
        at circle: [UInt32], blocked: [UInt32: BlockedCall]?, ended: UInt64?, at ticks: UInt64
    ) -> UInt64? {
        if let blocked, ended == nil {
            known[circle]?.blocked = blocked
            known[circle]?.missing = nil
            return nil
        }
        guard let end = ended ?? known[circle]?.missing else {
            known[circle]?.missing = ticks
            return nil
        }
        known[circle] = nil
        return end
    }
}
