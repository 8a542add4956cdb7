internal import TraceAnalysis

/// What the numbers of single lines are compared with.
struct ScreenNumbers {
    /// The time of all calls, in ns.
    var whole: UInt64
    /// What is counted: `calls` or `samples`.
    var counted = ScreenColumn.calls.rawValue
    /// The time between the last two looks at a running program, in ns, over all of its threads; 0 where there were not two.
    var interval: UInt64 = 0
    /// Lines with less time are not shown. In ns.
    var minCost: UInt64 = 0
    /// What each function's own time grew by in between, in ns.
    var recent: [UInt32: UInt64] = [:]

    func recent(_ row: AggregateRow) -> UInt64 {
        if case .function(let id) = row.subject { recent[id] ?? 0 } else { 0 }
    }
}
