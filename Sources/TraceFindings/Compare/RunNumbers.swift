internal import TraceAnalysis

/// The sums of one subject in one run. Times in ns.
struct RunNumbers {
    var calls = 0.0
    var total = 0.0
    var selfTime = 0.0
    var average = 0.0
    /// Whether the subject was called, or was running when the recording began.
    var isPresent = false
}

extension RunNumbers {
    init(_ row: AggregateRow) {
        calls = Double(row.calls)
        total = Double(row.total)
        selfTime = Double(row.selfTime)
        average = Double(row.average)
        isPresent = true
    }
}
