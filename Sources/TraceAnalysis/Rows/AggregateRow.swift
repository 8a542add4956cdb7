public import TraceFile

/// Sums over the calls of a function, a path, a file, a module, a thread or a process. Times in ns.
public struct AggregateRow {
    public enum Subject {
        /// Id in the ``FunctionTable``.
        case function(UInt32)
        /// Index in the ``CallPathTree``.
        case path(Int)
        /// A file or module; nil for functions that have none.
        case place(String?)
        case thread(ThreadLabel)
        case process(TracedProcess)
    }

    public let subject: Subject
    /// The sums over its paths. The shortest and the longest call are corrected like its other times.
    private(set) var sums: RowSums
    /// Percentiles of the calls' durations.
    public private(set) var percentiles: Percentiles

    public var calls: UInt64 { sums.calls }
    public var total: UInt64 { sums.total }
    public var selfTime: UInt64 { sums.selfTime }
    public var inherited: UInt64 { sums.inherited }
    public var inheritedCalls: UInt64 { sums.inheritedCalls }
    public var suspended: UInt64 { sums.suspended }
    /// The part of the total in which threads had no CPU, if that was recorded.
    public var offCPU: OffCPUTimes { sums.offCPU.within(total) }
    /// The same of its own time.
    public var selfOffCPU: OffCPUTimes { sums.selfOffCPU.within(selfTime) }
    /// How long its calls waited, and how long they did so themselves, in ns.
    public var blocked: UInt64 { offCPU.blocked }
    public var selfBlocked: UInt64 { selfOffCPU.blocked }
    /// Its own time without that.
    public var selfRunning: UInt64 { selfTime &- selfOffCPU.blocked &- selfOffCPU.runnable }
    /// What was done with memory directly, and in all, if that was recorded.
    public var selfMemory: MemorySums { sums.selfMemory }
    public var memory: MemorySums { sums.memory }
    /// The average over all calls, including calls within calls. It is 0 when there are none, and so are the minimum
    /// and the maximum.
    public var average: UInt64 { calls > 0 ? (sums.durations &+ calls / 2) / calls : 0 }
    public var minimum: UInt64 { calls > 0 ? sums.minimum : 0 }
    public var maximum: UInt64 { calls > 0 ? sums.maximum : 0 }

    /// In ns: when calls take less than this on average, the hooks are most of their time, and their times cannot be
    /// relied on.
    public static let reliableAverage: UInt64 = 50

    /// Whether its times tell more about the function than about the hooks.
    public var isReliable: Bool {
        switch subject {
        case .function, .path: calls == 0 || average >= AggregateRow.reliableAverage
        case .place, .thread, .process: true
        }
    }

    /// Makes a row from what was kept of it.
    init(_ subject: Subject, kept sums: RowSums, _ percentiles: Percentiles) {
        self.subject = subject
        self.sums = sums
        self.percentiles = percentiles
    }

    /// The row that `sums` make.
    ///
    /// - Parameters:
    ///   - percentiles: of the calls' durations as they were recorded.
    ///   - cost: what the sums were corrected by.
    init(_ subject: Subject, _ sums: RowSums, _ percentiles: Percentiles, cost: TracingCost?) {
        self.init(subject, kept: sums, sums.calls > 0 ? percentiles : Percentiles())
        if let cost, calls > 0 { correctExtremes(by: cost) }
    }
}

extension AggregateRow {
    /// Corrects what is known of single calls, which is known only as it was recorded.
    fileprivate mutating func correctExtremes(by cost: TracingCost) {
        let withoutOwn = Double(sums.durations) + Double(sums.taken) - cost.inside * Double(calls)
        let callees = withoutOwn > 0 ? min(1, Double(sums.durations) / withoutOwn) : 0
        sums.minimum = cost.corrected(sums.minimum, callees: callees)
        sums.maximum = cost.corrected(sums.maximum, callees: callees)
        percentiles.p50 = cost.corrected(percentiles.p50, callees: callees)
        percentiles.p90 = cost.corrected(percentiles.p90, callees: callees)
        percentiles.p99 = cost.corrected(percentiles.p99, callees: callees)
    }
}
