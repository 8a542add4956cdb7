/// What a stretch of a thread's time looks like: its calls by depth, where those that are shorter than a step are told as runs.
public struct Picture {
    /// Calls of one depth: one call, or a run of calls that are shorter than a step. Moments are in ns since the session's start, in
    /// the thread's own time; known to an eighth of a step, rounded down.
    public struct Entry: Equatable, Sendable {
        public var begin: UInt64
        /// Of a call that goes on behind the stretch, the stretch's end, or a later moment.
        public var end: UInt64
        /// In ns, how long calls were open between the two.
        public var busy: UInt64
        /// Of a run, the function with most of the time, if one has half of it.
        public var function: UInt32
        /// 1 of a call; of a run, how many end in it; 0 of a piece of a call that goes on elsewhere, or was entered before a fork, or
        /// before recording was started.
        public var calls: UInt32
    }

    /// The entries, row by row, and in a row in the order of time.
    public internal(set) var entries: [Entry] = []
    /// For each row that was asked for where it begins in ``entries``, and where the last one ends.
    public internal(set) var rows: [Int] = []
    /// Whether some steps are longer than what was asked for, or calls are left out, because that would take too long.
    public internal(set) var isCoarse = false

    /// Takes over rows. Where entries were rounded by different steps, they do not overlap then.
    mutating func take(_ found: inout SummaryRows, _ wanted: Range<UInt32>) {
        let starts = found.sort()
        rows = [0]
        for row in wanted {
            var last: UInt64 = 0
            let isThere = Int(row) + 1 < starts.count
            for index in isThere ? starts[Int(row)]..<starts[Int(row) + 1] : 0..<0 {
                let entry = found.entries.start[index]
                let begin = max(entry.begin, last), end = max(entry.end, begin)
                entries.append(
                    Entry(
                        begin: begin, end: end, busy: min(entry.busy, end - begin),
                        function: UInt32(truncatingIfNeeded: entry.function), calls: entry.calls))
                last = end
            }
            rows.append(entries.count)
        }
    }
}
