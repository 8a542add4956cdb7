internal import TraceFile

/// The rows of one kind that calls add up to, in the order of the recording.
public struct SummedRows {
    /// What the rows are, as JSON names their list.
    public enum Kind: String, Sendable {
        case functions, paths, files, lines, modules, threads, processes, callers, callees, values
    }

    public let kind: Kind
    public private(set) var count: Int
    /// The row of this index, with its percentiles or without, which takes less time.
    public private(set) var row: (Int, _ percentiles: Bool) -> AggregateRow
    public let functions: FunctionTable
    /// What was taken out of all times.
    public let cost: TracingCost?
    /// Callees that the record options left out.
    public let dropped: CallSum
    /// The paths that the rows are, if they are paths.
    public let paths: CallPaths?

    /// - Parameter tree: where the rows come from.
    public init(_ kind: Kind, _ rows: [AggregateRow], of tree: CallPathTree) {
        self.init(kind, rows, functions: tree.functions, cost: tree.cost, dropped: tree.dropped)
    }

    /// - Parameter functions: what rows are of, if they are of functions.
    public init(
        _ kind: Kind, _ rows: [AggregateRow], functions: FunctionTable, cost: TracingCost? = nil,
        dropped: CallSum = CallSum()
    ) {
        self.kind = kind
        self.functions = functions
        self.cost = cost
        self.dropped = dropped
        count = rows.count
        row = { index, _ in rows[index] }
        paths = nil
    }

    /// Those with as much of a part of time as the filter asks for, and those of functions that it has triggers for.
    ///
    /// - Complexity: O(n), with the percentiles of no row.
    public func longEnough(for filter: TreeFilter, of part: TimeKind = .total) -> SummedRows {
        guard filter.minCost > 0 else { return self }
        let isKept = functions.matching(filter.triggers.map(\.function))
        let kept = (0..<UInt32(count)).filter { index in
            let row = row(Int(index), false)
            if part.part(of: row.total, row.offCPU) >= filter.minCost { return true }
            switch row.subject {
            case .function(let id): return isKept(id)
            case .path(let path): return paths.map { isKept($0[path].function) } ?? false
            case .place, .thread, .process: return false
            }
        }
        var result = self
        result.count = kept.count
        result.row = { [row] in row(Int(kept[$0]), $1) }
        return result
    }

    /// All of them, with their percentiles.
    public var all: [AggregateRow] { (0..<count).map { row($0, true) } }

    /// Whether there is nothing at all to show.
    public var isEmpty: Bool { count == 0 && dropped.calls == 0 }

    /// The paths of `tree`. Each row is made when it is asked for.
    public init(pathsOf tree: CallPathTree) {
        let rows = PathRows(tree)
        kind = .paths
        functions = tree.functions
        cost = tree.cost
        dropped = tree.dropped
        paths = tree.paths
        count = tree.paths.count
        row = { rows.row($0, percentiles: $1) }
    }
}
