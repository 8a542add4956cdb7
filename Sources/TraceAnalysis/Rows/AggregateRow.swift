public import TraceFormat

/// Sums over the calls of a function, a path, a file, a module, a thread or a process. Times in ns.
public struct AggregateRow {
    public enum Subject {
        /// Id in the ``FunctionTable``.
        case function(UInt32)
        /// Index in the ``CallPathTree``.
        case path(Int)
        /// A file or module, or nil for what has none.
        case place(String?)
        case thread(ThreadLabel)
        case process(TracedProcess)
    }

    public let subject: Subject
    /// Those that were entered in the recording: a call counts in the process that made it, not again in a fork's child.
    public var calls: UInt64 = 0
    /// Inclusive time. A call within another of the same row is part of that one's time already.
    public var total: UInt64 = 0
    /// Exclusive time.
    public var selfTime: UInt64 = 0
    /// The part of `total` in calls that were open already when their process was forked or recording was started. They are in
    /// neither `calls` nor what follows: without recursion, `calls` times `average` is `total` less this.
    public var inherited: UInt64 = 0
    /// How many calls those are, calls within calls included.
    public var inheritedCalls: UInt64 = 0
    /// The part of `total` in which Swift's tasks did not run.
    public var suspended: UInt64 = 0
    /// Over all calls, calls within calls included; 0 when there are none.
    public var average: UInt64 = 0
    public var minimum: UInt64 = 0
    public var maximum: UInt64 = 0
    public var percentiles = Percentiles()

    /// ns: calls that take less on average are mostly hooks, and their times not to be relied on.
    public static let reliableAverage: UInt64 = 50

    /// Whether its times say more of the function than of the hooks.
    public var isReliable: Bool {
        switch subject {
        case .function, .path: calls == 0 || average >= AggregateRow.reliableAverage
        case .place, .thread, .process: true
        }
    }

    init(_ subject: Subject) { self.subject = subject }

    /// The row that `sums` make.
    ///
    /// - Parameters:
    ///   - percentiles: of the calls' durations as they were recorded.
    ///   - cost: what the sums were corrected by.
    init(_ subject: Subject, _ sums: RowSums, _ percentiles: Percentiles, cost: TracingCost?) {
        self.subject = subject
        calls = sums.calls
        total = sums.total
        selfTime = sums.selfTime
        inherited = sums.inherited
        inheritedCalls = sums.inheritedCalls
        suspended = sums.suspended
        guard calls > 0 else { return }
        average = (sums.durations &+ calls / 2) / calls
        minimum = sums.minimum
        maximum = sums.maximum
        self.percentiles = percentiles
        if let cost { correctExtremes(by: cost, durations: sums.durations, taken: sums.taken) }
    }
}

extension AggregateRow {
    /// Corrects what is known of single calls only as it was recorded.
    ///
    /// - Parameters:
    ///   - durations: time of all calls, corrected, in ns.
    ///   - taken: what the correction took off it.
    fileprivate mutating func correctExtremes(by cost: TracingCost, durations: UInt64, taken: UInt64) {
        let withoutOwn = Double(durations) + Double(taken) - cost.inside * Double(calls)
        let callees = withoutOwn > 0 ? min(1, Double(durations) / withoutOwn) : 0
        minimum = cost.corrected(minimum, callees: callees)
        maximum = cost.corrected(maximum, callees: callees)
        percentiles.p50 = cost.corrected(percentiles.p50, callees: callees)
        percentiles.p90 = cost.corrected(percentiles.p90, callees: callees)
        percentiles.p99 = cost.corrected(percentiles.p99, callees: callees)
    }
}
