public import TraceFormat

/// What a row of a report adds up.
public enum Grouping: String, CaseIterable, Sendable {
    case function, path, file, module, thread, process
}

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

extension CallPathTree {
    /// One row for each function, path, file or module; threads have sums of their own: see ``ThreadSums``.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func rows(by grouping: Grouping) -> [AggregateRow] {
        switch grouping {
        case .function: return functionRows { Int(paths[$0].function) }
        case .path:
            let pathRows = PathRows(self)
            return paths.indices.map { pathRows[$0] }
        case .file: return placeRows { functions[$0].file }
        case .module: return placeRows { functions[$0].module }
        case .thread, .process: return []
        }
    }

    /// One row for each direct caller of the functions that `patterns` match: the matching calls it makes.
    public func rows(callersOf patterns: [Pattern]) -> [AggregateRow] {
        let matches = matching(patterns)
        return functionRows { index in
            let path = paths[index]
            return matches(path.function) && path.parent >= 0 ? Int(paths[Int(path.parent)].function) : nil
        }
    }

    /// One row for each function that those that `patterns` match call directly: the calls they make of it.
    public func rows(calleesOf patterns: [Pattern]) -> [AggregateRow] {
        let matches = matching(patterns)
        return functionRows { index in
            let path = paths[index]
            return path.parent >= 0 && matches(paths[Int(path.parent)].function) ? Int(path.function) : nil
        }
    }

    /// Whether a function's name is one that `patterns` match.
    public func matching(_ patterns: [Pattern]) -> (UInt32) -> Bool {
        var filter = TreeFilter()
        filter.only = patterns
        let classifier = NameClassifier(filter, functions)
        return { classifier.match($0).contains(.only) }
    }

    private func functionRows(_ key: (Int) -> Int?) -> [AggregateRow] {
        var numbers = [Int32](repeating: -1, count: functions.functions.count)
        var subjects: [AggregateRow.Subject] = []
        let keys = paths.indices.map { index -> Int32 in
            guard let function = key(index) else { return -1 }
            if numbers[function] < 0 {
                numbers[function] = Int32(subjects.count)
                subjects.append(.function(UInt32(function)))
            }
            return numbers[function]
        }
        return rows(of: subjects, keys: keys)
    }

    private func placeRows(_ place: (UInt32) -> String?) -> [AggregateRow] {
        var numbers: [String?: Int32] = [:]
        var subjects: [AggregateRow.Subject] = []
        var known = [Int32](repeating: -1, count: functions.functions.count)
        let keys = paths.map { path -> Int32 in
            if known[Int(path.function)] >= 0 { return known[Int(path.function)] }
            let name = place(path.function)
            let number = numbers[name] ?? Int32(subjects.count)
            if number == subjects.count {
                subjects.append(.place(name))
                numbers[name] = number
            }
            known[Int(path.function)] = number
            return number
        }
        return rows(of: subjects, keys: keys)
    }

    /// Adds up paths by row: `keys` has the row of every path, -1 for none.
    private func rows(of subjects: [AggregateRow.Subject], keys: [Int32]) -> [AggregateRow] {
        var sums = [RowSums](repeating: RowSums(), count: subjects.count)
        /// Paths above the current one, by row, and where they end.
        var active = [Int32](repeating: 0, count: subjects.count)
        var open: [Int] = []
        let suspensions = suspensions
        for (index, path) in paths.enumerated() {
            while let last = open.last, Int(paths[last].end) <= index {
                if keys[last] >= 0 { active[Int(keys[last])] -= 1 }
                open.removeLast()
            }
            open.append(index)
            guard keys[index] >= 0 else { continue }
            let row = Int(keys[index])
            sums[row].add(
                path.sums, isOutermost: active[row] == 0, suspended: suspensions.isEmpty ? 0 : suspensions[index])
            active[row] += 1
        }
        let members = pathsByRow(keys, rows: subjects.count)
        var reader = PercentileReader()
        return subjects.indices.map { row in
            for path in members.paths[members.starts[row]..<members.starts[row + 1]] {
                let path = paths[Int(path)]
                reader.add(histograms, path.histogram, of: path.sums)
            }
            return AggregateRow(subjects[row], sums[row], reader.take(of: sums[row]), cost: cost)
        }
    }

    /// Of each path, the time in which it and its callees waited for a task to go on, in ns; empty when none did.
    var suspensions: [UInt64] {
        guard let suspended = functions.suspended else { return [] }
        var times = [UInt64](repeating: 0, count: paths.count)
        for (index, path) in paths.enumerated().reversed() {
            if path.function == suspended { times[index] = path.sums.total }
            if path.parent >= 0 { times[Int(path.parent)] &+= times[index] }
        }
        return times
    }

    /// Path indices ordered by row, and where each row's begin.
    private func pathsByRow(_ keys: [Int32], rows: Int) -> (starts: [Int], paths: [Int32]) {
        var starts = [Int](repeating: 0, count: rows + 1)
        for key in keys where key >= 0 { starts[Int(key) + 1] += 1 }
        for row in 0..<rows { starts[row + 1] += starts[row] }
        var ends = starts
        var ordered = [Int32](repeating: 0, count: starts[rows])
        for (index, key) in keys.enumerated() where key >= 0 {
            ordered[ends[Int(key)]] = Int32(index)
            ends[Int(key)] += 1
        }
        return (starts, ordered)
    }
}
