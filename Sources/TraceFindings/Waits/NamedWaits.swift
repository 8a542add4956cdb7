public import TraceAnalysis
public import TraceFile

/// Waits, and what gives functions and what was waited for their names.
public struct NamedWaits {
    public let waits: Waits
    public let functions: FunctionTable
    /// The name of the variable at an address of a process; nil where that is not known.
    public let variable: (TracedProcess, UInt64) -> String?

    public init(
        _ waits: Waits, functions: FunctionTable,
        variable: @escaping (TracedProcess, UInt64) -> String? = { _, _ in nil }
    ) {
        self.waits = waits
        self.functions = functions
        self.variable = variable
    }
}

/// Waits added up by place, and the locks that they were for.
public struct WaitSums {
    public let names: NamedWaits
    public let rows: [WaitRows.Row]
    public let locks: [LockRows.Row]
    /// The CPUs that the program could run on; nil when that is not known.
    public let processors: Int?
    private let minCost: UInt64

    /// - Parameter minCost: what was waited for less is left out, in ns.
    public init(_ names: NamedWaits, minCost: UInt64 = 0, processors: Int? = nil) {
        self.names = names
        self.minCost = minCost
        self.processors = processors
        rows = WaitRows(names.waits).rows.filter { $0.total >= minCost }
        locks = LockRows(names.waits).rows.filter { $0.waited >= minCost }
    }

    /// The `count` longest single waits, the longest first.
    public func longest(_ count: Int) -> [Wait] {
        let sorted = names.waits.waits.filter { $0.time >= minCost }.enumerated().sorted {
            ($1.element.time, $0.offset) < ($0.element.time, $1.offset)
        }
        return sorted.prefix(count).map(\.element)
    }
}

/// What a stretch of time was spent on, over all threads that it waited for.
public struct CriticalPath {
    /// The function whose call it is, as it was asked for; nil for a stretch of time.
    public let call: String?
    /// The functions without which the stretch is asked for; nil: nobody asked.
    public let without: String?
    public let chain: Chain
    public let times: ChainTimes
    public let rows: [ChainRows.Row]
    public let names: NamedWaits

    public init(_ chain: Chain, _ times: ChainTimes, _ names: NamedWaits, call: String?, without: String?) {
        self.call = call
        self.without = without
        self.chain = chain
        self.times = times
        self.names = names
        rows = ChainRows(chain, times, names.waits).rows
    }
}
