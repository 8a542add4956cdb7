public import TraceFormat

/// What a row adds up of the paths that belong to it. Times in ns.
public struct RowSums: BitwiseCopyable, Sendable, Equatable {
    public var calls: UInt64 = 0
    /// Inclusive time of calls that are within no other of the row.
    public var total: UInt64 = 0
    public var selfTime: UInt64 = 0
    /// The part of `total` that belongs to calls entered before a fork, or before recording was started, ...
    public var inherited: UInt64 = 0
    /// ... and how many those are, calls within calls included.
    public var inheritedCalls: UInt64 = 0
    /// The part of `total` in which Swift's tasks did not run.
    public var suspended: UInt64 = 0
    /// `.max` and 0 when there is no call.
    public var minimum: UInt64 = .max
    public var maximum: UInt64 = 0
    /// Time of the calls that count, calls within calls included, and what a correction took off it.
    public var durations: UInt64 = 0
    public var taken: UInt64 = 0
    /// Callees that the record options left out.
    public var dropped = CallSum()

    public init() {}

    /// Adds a path.
    ///
    /// - Parameter isOutermost: no path above it belongs to the row; then its time is not part of theirs.
    mutating func add(_ path: CallPathSums, isOutermost: Bool, suspended: UInt64) {
        calls &+= path.calls
        selfTime &+= path.selfTime
        inheritedCalls &+= path.inheritedCalls
        minimum = min(minimum, path.minimum)
        maximum = max(maximum, path.maximum)
        durations &+= path.total &- path.inherited
        taken &+= path.taken
        dropped.add(path.dropped)
        guard isOutermost else { return }
        total &+= path.total
        inherited &+= path.inherited
        self.suspended &+= suspended
    }

    public mutating func add(_ other: RowSums) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        inherited &+= other.inherited
        inheritedCalls &+= other.inheritedCalls
        suspended &+= other.suspended
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        durations &+= other.durations
        taken &+= other.taken
        dropped.add(other.dropped)
    }
}

/// Says which thread, or which of Swift's tasks, a row is of.
public struct ThreadLabel {
    public let process: TracedProcess
    /// The kernel's; a task's is its id and ``TracedThread/firstTask``.
    public let tid: UInt32
    /// Nil for a thread.
    public let task: UInt32?
    public let name: String

    public init(_ thread: TracedThread) {
        process = thread.process
        tid = thread.tid
        task = thread.task
        name = thread.name
    }

    init(process: TracedProcess, tid: UInt32, task: UInt32?, name: String) {
        self.process = process
        self.tid = tid
        self.task = task
        self.name = name
    }
}

/// What all calls of a thread, or of one of Swift's tasks, add up to.
public struct ThreadSums {
    public let label: ThreadLabel
    public let sums: RowSums
    /// How long its calls took.
    public let durations: DurationCounts

    init(_ label: ThreadLabel, _ sums: RowSums, _ durations: DurationCounts) {
        self.label = label
        self.sums = sums
        self.durations = durations
    }

    /// The sums of all paths of `tree`, which are those of `thread`; nil when there are none.
    ///
    /// - Complexity: O(n) in the number of paths.
    public init?(_ thread: TracedThread, _ tree: CallPathTree) {
        guard !tree.paths.isEmpty else { return nil }
        let suspensions = tree.suspensions
        var sums = RowSums()
        var reader = PercentileReader()
        for (index, path) in tree.paths.enumerated() {
            sums.add(path.sums, isOutermost: path.parent < 0, suspended: suspensions.isEmpty ? 0 : suspensions[index])
            reader.add(tree.histograms, path.histogram, of: path.sums)
        }
        self.init(ThreadLabel(thread), sums, reader.takeCounts())
    }

    /// The sums of all paths in `sinks`, which are those of `thread`, as they were recorded.
    init?(_ thread: TracedThread, _ sinks: [CallPathSink]) {
        var sums = RowSums()
        var reader = PercentileReader()
        var isEmpty = true
        for sink in sinks {
            for index in 1..<max(sink.table.count, 1) {
                let node = sink.table.nodes[index]
                if node.firstStart == .max { continue }
                isEmpty = false
                let path = sink.table.sums(UInt32(index))
                sums.add(path, isOutermost: node.parent == 0, suspended: 0)
                if sink.keys[node.function].pointee.address == FunctionTable.suspended {
                    sums.suspended &+= path.total
                }
                reader.add(sink.table.histograms, node.histogram, of: path)
            }
        }
        if isEmpty { return nil }
        self.init(ThreadLabel(thread), sums, reader.takeCounts())
    }

    /// The thread's row.
    ///
    /// - Parameter cost: what its times were corrected by.
    public func row(cost: TracingCost?) -> AggregateRow {
        var reader = PercentileReader()
        reader.add(durations)
        return AggregateRow(.thread(label), sums, reader.take(of: sums), cost: cost)
    }
}

extension ThreadSums {
    /// A row for each process, with all of its threads and tasks.
    ///
    /// - Parameters:
    ///   - sums: of threads, one process after the other.
    ///   - cost: what their times were corrected by.
    public static func processRows(_ sums: [ThreadSums], cost: TracingCost?) -> [AggregateRow] {
        var rows: [AggregateRow] = []
        var reader = PercentileReader()
        var rest = sums[...]
        while let process = rest.first?.label.process {
            var whole = RowSums()
            while let thread = rest.first, thread.label.process === process {
                whole.add(thread.sums)
                reader.add(thread.durations)
                rest.removeFirst()
            }
            rows.append(AggregateRow(.process(process), whole, reader.take(of: whole), cost: cost))
        }
        return rows
    }
}

/// How the rows of functions and threads are made of what was recorded, where nobody asks for anything else.
public struct RowSettings {
    public let cost: TracingCost?
    /// What is hidden, and nothing else.
    public let hidesCompilerMade: Bool

    public init(cost: TracingCost?, hidesCompilerMade: Bool) {
        self.cost = cost
        self.hidesCompilerMade = hidesCompilerMade
    }

    var isAsRecorded: Bool { cost == nil && !hidesCompilerMade }

    /// What of `tree`, which is as it was recorded, the rows are of.
    public func shown(_ tree: CallPathTree) -> CallPathTree {
        var filter = TreeFilter()
        filter.hidesCompilerMade = hidesCompilerMade
        return (cost.map(tree.corrected) ?? tree).filtered(filter)
    }
}
