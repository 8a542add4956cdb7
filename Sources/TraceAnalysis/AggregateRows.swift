public import TraceFormat

/// What a row of a report adds up.
public enum Grouping: String, CaseIterable, Sendable {
    case function, path, file, module, thread
}

/// Sums over the calls of a function, a path, a file, a module or a thread. Times in ns.
public struct AggregateRow {
    public enum Subject {
        /// Id in the ``FunctionTable``.
        case function(UInt32)
        /// Index in the ``CallPathTree``.
        case path(Int)
        /// A file or module, or nil for what has none.
        case place(String?)
        case thread(TracedThread)
    }

    public let subject: Subject
    public fileprivate(set) var calls: UInt64 = 0
    /// Inclusive time. A call within another of the same row is part of that one's time already.
    public fileprivate(set) var total: UInt64 = 0
    /// Exclusive time.
    public fileprivate(set) var selfTime: UInt64 = 0
    /// The part of `total` in which Swift's tasks did not run.
    public fileprivate(set) var suspended: UInt64 = 0
    /// Over all calls, calls within calls included; 0 when there are none.
    public fileprivate(set) var average: UInt64 = 0
    public fileprivate(set) var minimum: UInt64 = 0
    public fileprivate(set) var maximum: UInt64 = 0
    public fileprivate(set) var percentiles = Percentiles()

    /// ns: calls that take less on average are mostly hooks, and their times not to be relied on.
    public static let reliableAverage: UInt64 = 50

    /// Whether its times say more of the function than of the hooks.
    public var isReliable: Bool {
        switch subject {
        case .function, .path: calls == 0 || average >= AggregateRow.reliableAverage
        case .place, .thread: true
        }
    }

    fileprivate init(_ subject: Subject) { self.subject = subject }
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
    /// One row for each function, path, file or module; threads have trees of their own: see ``row(of:)``.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func rows(by grouping: Grouping) -> [AggregateRow] {
        switch grouping {
        case .function: return functionRows { Int(paths[$0].function) }
        case .path:
            return rows(of: paths.indices.map(AggregateRow.Subject.path), keys: paths.indices.map { Int32($0) })
        case .file: return placeRows { functions[$0].file }
        case .module: return placeRows { functions[$0].module }
        case .thread: return []
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

    /// The one row of all paths, which are those of `thread`.
    public func row(of thread: TracedThread) -> AggregateRow {
        rows(of: [.thread(thread)], keys: Array(repeating: 0, count: paths.count))[0]
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
        var rows = subjects.map { AggregateRow($0) }
        var sums = [CallPathSums](repeating: CallPathSums(), count: rows.count)
        /// Time of all calls, calls within calls included, and what a correction took off it.
        var durations = [UInt64](repeating: 0, count: rows.count)
        var taken = [UInt64](repeating: 0, count: rows.count)
        /// Paths above the current one, by row, and where they end.
        var active = [Int32](repeating: 0, count: rows.count)
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
            var added = path.sums
            durations[row] &+= added.total &- added.inherited
            taken[row] &+= added.taken
            if active[row] > 0 {
                added.total = 0
            } else if !suspensions.isEmpty {
                rows[row].suspended &+= suspensions[index]
            }
            sums[row].add(added)
            active[row] += 1
        }
        let members = pathsByRow(keys, rows: rows.count)
        var reader = PercentileReader()
        for row in rows.indices {
            let sum = sums[row]
            rows[row].calls = sum.calls
            rows[row].total = sum.total
            rows[row].selfTime = sum.selfTime
            guard sum.calls > 0 else { continue }
            rows[row].average = (durations[row] &+ sum.calls / 2) / sum.calls
            rows[row].minimum = sum.minimum
            rows[row].maximum = sum.maximum
            for path in members.paths[members.starts[row]..<members.starts[row + 1]] {
                reader.add(histograms, paths[Int(path)].histogram)
            }
            rows[row].percentiles = reader.take(within: sum.minimum...sum.maximum)
            if let cost { rows[row].correctExtremes(by: cost, durations: durations[row], taken: taken[row]) }
        }
        return rows
    }

    /// Of each path, the time in which it and its callees waited for a task to go on, in ns; empty when none did.
    private var suspensions: [UInt64] {
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
