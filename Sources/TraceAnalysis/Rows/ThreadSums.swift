public import TraceFile

/// What all calls of a thread, or of one of Swift's tasks, add up to.
public struct ThreadSums {
    public let label: ThreadLabel
    public let sums: RowSums
    /// The durations of its calls.
    public let durations: DurationCounts

    init(_ label: ThreadLabel, _ sums: RowSums, _ durations: DurationCounts) {
        self.label = label
        self.sums = sums
        self.durations = durations
    }

    /// The sums of all paths of `tree`, which has only the calls of `thread`; nil when it has no paths.
    ///
    /// - Complexity: O(n) in the number of paths.
    public init?(_ thread: TracedThread, _ tree: CallPathTree) {
        guard !tree.paths.isEmpty else { return nil }
        let waits = PathWaits(of: tree)
        var sums = RowSums()
        var reader = PercentileReader()
        for (index, path) in tree.paths.enumerated() {
            sums.add(path.sums, isOutermost: path.parent < 0, waits, index)
            reader.add(tree.histograms, path.histogram, of: path.sums)
        }
        self.init(ThreadLabel(thread), sums, reader.takeCounts())
    }

    /// The sums of all paths in `sinks`, which have only the calls of `thread`, with times as they were recorded; nil when there
    /// are no calls.
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
                sums.add(path, isOutermost: node.parent == 0)
                if sink.keys[node.function].pointee.address == FunctionTable.suspended {
                    sums.suspended &+= path.total
                }
                reader.add(sink.table.histograms, node.histogram, of: path)
            }
        }
        if isEmpty { return nil }
        // What a path's callees did with memory is added up later, for all threads together. It is not needed here: the memory
        // of a thread is the sum of what each of its calls did itself.
        sums.memory = sums.selfMemory
        sums.selfOffCPU = sums.offCPU
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
    ///   - sums: the sums of threads, one process after the other.
    ///   - cost: what the times were corrected by.
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
