/// Calls of one depth: one call, or a run of calls that are shorter than a step of the summary that they are in.
///
/// Moments are in ns since the session's start, in the thread's own time.
struct SummaryEntry: BitwiseCopyable {
    var begin: UInt64
    var end: UInt64
    /// In ns, how long calls were open between the two. It may lack, or have too much, what rounding carries to the next run.
    var busy: UInt64
    /// What tells the function, as the owner of the entry says; of a run, the one with most of the time, if one has half of it.
    var function: UInt64
    /// How many calls end here: 1 of a call that is told by itself; 0 of a piece of a call that goes on elsewhere, or was entered
    /// before a fork, or before recording was started.
    var calls: UInt32
    /// The depth of the calls.
    var row: UInt32

    var length: UInt64 { end &- begin }
}

/// Merges entries of one row, in the order of time, into runs: those shorter than a step that begin in the same cell of a step's
/// length. Cells of larger steps hold cells of smaller ones whole, so it makes no difference by how many steps it is merged.
struct SummaryRun: BitwiseCopyable {
    private(set) var entry: SummaryEntry
    /// What the majority vote gives the candidate (R. Boyer, J. Moore, MJRTY, 1991), in ns.
    private var votes: UInt64
    private var cell: UInt64

    /// A run of nothing.
    static var none: SummaryRun {
        SummaryRun(
            entry: SummaryEntry(begin: 0, end: 0, busy: 0, function: 0, calls: 0, row: 0), votes: 0, cell: .max)
    }

    var isOpen: Bool { cell != .max }

    private init(entry: SummaryEntry, votes: UInt64, cell: UInt64) {
        self.entry = entry
        self.votes = votes
        self.cell = cell
    }

    /// A run that begins with `entry`.
    @inline(__always)
    init(_ entry: SummaryEntry, shift: UInt64) {
        self.init(entry: entry, votes: entry.busy, cell: entry.begin &>> shift)
    }

    /// Adds an entry that is shorter than a step.
    ///
    /// - Returns: false where it begins in another cell; then nothing is added.
    @inline(__always)
    mutating func add(
        begin: UInt64, end: UInt64, busy: UInt64, function: UInt64, calls: UInt32, shift: UInt64
    ) -> Bool {
        guard begin &>> shift == cell else { return false }
        entry.end = max(entry.end, end)
        entry.busy &+= busy
        entry.calls &+= calls
        if function == entry.function {
            votes &+= busy
        } else if votes >= busy {
            votes &-= busy
        } else {
            entry.function = function
            votes = busy &- votes
        }
        return true
    }

    mutating func close() { cell = .max }
}

/// The bands of rows that may have steps of their own in a node: rows 0-7, 8-15, 16-31, 32-63 and so on.
enum SummaryBand {
    /// Bands of the deepest stack.
    static let count = 20

    static func of(_ row: UInt32) -> Int { row < 8 ? 0 : 29 - row.leadingZeroBitCount }

    static func rows(_ band: Int) -> Range<UInt32> { band == 0 ? 0..<8 : 4 << UInt32(band)..<8 << UInt32(band) }
}
