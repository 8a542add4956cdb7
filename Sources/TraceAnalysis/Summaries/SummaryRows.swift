/// Entries of many rows, each in the order of time.
///
/// The memory is freed by hand, because this is filled in a hot loop.
struct SummaryRows {
    private(set) var entries = GrowingMemory<SummaryEntry>(capacity: 1024)
    private(set) var count = 0
    /// The runs that are still growing, by row.
    private var runs = GrowingMemory<SummaryRun>(capacity: 64)
    /// One more than the deepest row that was ever made room for.
    private(set) var rowCount: UInt32 = 0
    /// Steps are 2^shift ns long.
    private var shift: UInt64
    private var step: UInt64

    init(shift: UInt64 = 0) {
        self.shift = shift
        step = 1 &<< shift
    }

    func free() {
        entries.free()
        runs.free()
    }

    /// Forgets the entries, and takes another step. No run is growing.
    mutating func begin(shift: UInt64) {
        count = 0
        self.shift = shift
        step = 1 &<< shift
    }

    /// Makes room for a row.
    @inline(__always)
    mutating func reserve(_ row: UInt32) { if row >= rowCount { addRows(row) } }

    @inline(never)
    private mutating func addRows(_ row: UInt32) {
        runs.reserve(Int(row))
        for new in rowCount...row { (runs.start + Int(new)).initialize(to: .none) }
        rowCount = row + 1
    }

    /// Adds what came after all that was added to the row, for which there is room.
    @inline(__always)
    mutating func add(begin: UInt64, end: UInt64, busy: UInt64, function: UInt64, calls: UInt32, row: UInt32) {
        let isShort = end &- begin < step
        if isShort,
            runs.start[Int(row)].add(
                begin: begin, end: end, busy: busy, function: function, calls: calls, shift: shift)
        {
            return
        }
        let entry = SummaryEntry(begin: begin, end: end, busy: busy, function: function, calls: calls, row: row)
        start(entry, isShort: isShort)
    }

    @inline(never)
    private mutating func start(_ entry: SummaryEntry, isShort: Bool) {
        let run = runs.start + Int(entry.row)
        if run.pointee.isOpen { append(run.pointee.entry) }
        if isShort {
            run.pointee = SummaryRun(entry, shift: shift)
        } else {
            run.pointee.close()
            append(entry)
        }
    }

    /// Appends an entry as it is.
    mutating func append(_ entry: SummaryEntry) {
        entries.reserve(count)
        (entries.start + count).initialize(to: entry)
        count += 1
    }

    /// Ends the runs that are still growing.
    mutating func finish() {
        for row in 0..<Int(rowCount) where runs.start[row].isOpen {
            append(runs.start[row].entry)
            runs.start[row].close()
        }
    }

    /// Sorts the entries by row, and leaves those of a row in their order.
    ///
    /// - Returns: where each row begins in ``entries``, and where the last one ends.
    /// - Complexity: O(entries and rows).
    mutating func sort() -> [Int] {
        var deepest = -1
        for index in 0..<count { deepest = max(deepest, Int(entries.start[index].row)) }
        var starts = [Int](repeating: 0, count: deepest + 2)
        for index in 0..<count { starts[Int(entries.start[index].row) + 1] += 1 }
        for row in starts.indices.dropFirst() { starts[row] += starts[row - 1] }
        var next = starts
        let sorted = GrowingMemory<SummaryEntry>(capacity: max(count, 1024))
        for index in 0..<count {
            let row = Int(entries.start[index].row)
            (sorted.start + next[row]).initialize(to: entries.start[index])
            next[row] += 1
        }
        entries.free()
        entries = sorted
        return starts
    }
}
