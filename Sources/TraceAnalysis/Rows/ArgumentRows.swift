public import TraceFile
internal import TraceStatistics

/// Adds up the calls of some functions by the value of one of their arguments.
///
/// It is shown the tree of calls without folding. A call within another one of the same value is part of that one's total.
public struct ArgumentRows: TreeVisitor {
    fileprivate struct Sums {
        var sums = RowSums()
        var durations: [UInt64] = []
        var open = 0
    }

    private let name: String
    private let matches: (UInt32) -> Bool
    private var layouts: [UInt32: ArgumentLayout] = [:]
    private var values: [String: Sums] = [:]
    /// The values of the calls that are shown and not left, outermost first; nil for those that do not count.
    private var open: [String?] = []
    /// How many calls of the functions there were that have the argument, and how many that do not.
    public private(set) var calls: UInt64 = 0
    public private(set) var others: UInt64 = 0

    /// - Parameters:
    ///   - argument: as it was asked for while recording.
    ///   - matches: tells which functions count.
    public init(_ argument: String, matches: @escaping (UInt32) -> Bool) {
        name = argument
        self.matches = matches
    }

    /// A row for each value. Times are as they were recorded.
    ///
    /// - Complexity: O(n log n) in the number of calls.
    public var rows: [AggregateRow] {
        values.map { value, found in
            let sorted = found.durations.sorted()
            func rank(_ percent: Double) -> UInt64 {
                sorted.isEmpty ? 0 : NearestRank.value(of: sorted, percent)
            }
            let percentiles = Percentiles(p50: rank(50), p90: rank(90), p99: rank(99))
            return AggregateRow(.place(value), found.sums, percentiles, cost: nil)
        }
    }

    public var wantsMore: Bool { true }
    public mutating func begin(_ process: TracedProcess) { layouts = process.argumentLayouts }
    public mutating func begin(_ thread: TracedThread, in space: AddressSpace) {}
    public mutating func begin(lane: UInt32) {}

    public mutating func enter(_ call: TreeCall) {
        guard matches(call.function) else { return open.append(nil) }
        let found = call.arguments.values(by: layouts).first { $0.name == name }
        guard let value = found?.value else {
            others &+= 1
            return open.append(nil)
        }
        open.append(value)
        calls &+= 1
        values[value, default: Sums()].add(call)
    }

    public mutating func leave(_ call: TreeCall) {
        if let value = open.popLast(), let value { values[value]?.open -= 1 }
    }

    public mutating func endLane(hidden: CallSum) {}
    public mutating func endThread() {}
    public mutating func endProcess() {}
}

extension ArgumentRows.Sums {
    fileprivate mutating func add(_ call: TreeCall) {
        sums.calls &+= 1
        sums.selfTime &+= call.selfTime
        if open == 0 { sums.total &+= call.total }
        sums.durations &+= call.total
        sums.minimum = min(sums.minimum, call.total)
        sums.maximum = max(sums.maximum, call.total)
        durations.append(call.total)
        open += 1
    }
}
