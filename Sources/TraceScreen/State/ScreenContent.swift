public import TraceAnalysis

/// What is shown: the calls that were recorded, as far as they are known.
public struct ScreenContent {
    /// Something that may be looked at by itself: everything, a process, a thread.
    public struct Choice: Equatable, Sendable {
        public var title: String
        /// How deep it is indented.
        public var level: Int

        public init(_ title: String, level: Int = 0) {
            self.title = title
            self.level = level
        }
    }

    public var tree: CallPathTree
    /// A row for each function.
    public var rows: [AggregateRow]
    /// What is looked at, as in `lua.fathom`.
    public var title: String
    /// How things are, as in `running for 12 s`.
    public var status = ""
    /// Functions and paths with less time in all are not shown. In ns.
    public var minCost: UInt64 = 0
    /// Whether calls may still be added.
    public var isLive = false
    public var choices: [Choice] = []
    /// Which of the choices is shown.
    public var chosen = 0
    /// What each function's own time has grown by since the last look, in ns, by the function's id, ...
    public var recent: [UInt32: UInt64] = [:]
    /// ... and how long ago that was, in ns.
    public var interval: UInt64 = 0

    public init(_ tree: CallPathTree, rows: [AggregateRow], title: String) {
        self.tree = tree
        self.rows = rows
        self.title = title
    }

    /// The content with only what a filter leaves of it.
    func filtered(_ filter: TreeFilter) -> ScreenContent {
        var content = self
        content.tree = tree.filtered(filter)
        content.rows = content.tree.rows(by: .function).filter { $0.total >= minCost }
        return content
    }

    var numbers: ScreenNumbers {
        ScreenNumbers(
            whole: tree.total, counted: tree.functions.counted, interval: interval, minCost: minCost, recent: recent)
    }

    /// Whether what is counted are samples of the stacks, of which none tells how long a call took.
    var countsSamples: Bool { tree.functions.countsSamples }

    /// The columns that can be shown: those with numbers of single calls only where there are such.
    var columns: [ScreenColumn] {
        let ofSamples: [ScreenColumn] = [.calls, .total, .self, .share, .now]
        return countsSamples ? ofSamples : ScreenColumn.allCases.filter { $0 != .blocked || knowsWaits }
    }

    private var knowsWaits: Bool { rows.contains { $0.blocked > 0 } }

    /// Whether what threads waited is shown without being asked for: where it is 1 % of their time or more, and 0.1 ms or more.
    var tellsWaits: Bool {
        var (whole, blocked): (UInt64, UInt64) = (0, 0)
        for row in rows {
            whole &+= row.selfTime
            blocked &+= row.selfBlocked
        }
        return blocked >= max(100_000, whole / 100)
    }

    /// Whether calls have times, and were not only counted.
    var keepsTimes: Bool { rows.isEmpty || rows.contains { $0.total > 0 } }
}
