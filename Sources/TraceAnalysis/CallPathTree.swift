/// One call path: a function, called by its caller's path.
public struct CallPath: BitwiseCopyable, Sendable {
    /// Id in the ``FunctionTable``.
    public var function: UInt32
    /// Index of the caller's path, or -1 for a root.
    public var parent: Int32
    /// Index behind the last path below this one.
    public var end: Int32
    /// Roots are depth 0.
    public var depth: UInt32
    public var sums: CallPathSums
    /// First block of its histogram.
    var histogram: UInt32
}

/// The call paths of any number of threads, each with the exact sums of its calls: a calling-context tree (G. Ammons,
/// T. Ball, J. R. Larus, Exploiting Hardware Performance Counters with Flow and Context Sensitive Profiling, 1997).
///
/// Paths are in pre-order, a caller's callees by the start of their first call, so those below path `i` are
/// `i + 1 ..< paths[i].end`. The same threads give the same order every time. Over all paths, self time and left-out time
/// add up to the total of the roots exactly, unless the filter leaves paths or calls out.
public struct CallPathTree {
    public let functions: FunctionTable
    public let paths: [CallPath]
    /// What was taken out of all times; nil when they are as they were recorded.
    public let cost: TracingCost?
    private let store: HistogramStore

    private final class HistogramStore {
        let arena: HistogramArena
        init(_ arena: HistogramArena) { self.arena = arena }
        deinit { arena.free() }
    }

    var histograms: HistogramArena { store.arena }

    /// Paths of a table whose keys are function ids. The table is used up.
    ///
    /// - Parameter cost: what the table's times were corrected by.
    /// - Complexity: O(n log n) in the number of paths.
    init(_ table: consuming CallPathTable, functions: FunctionTable, cost: TracingCost? = nil) {
        self.functions = functions
        self.cost = cost
        store = HistogramStore(table.histograms)
        paths = CallPathTree.preorder(table, functions)
        table.freeNodes()
    }

    /// The paths of `tree` with other times.
    init(_ tree: CallPathTree, paths: [CallPath], cost: TracingCost) {
        functions = tree.functions
        store = tree.store
        self.paths = paths
        self.cost = cost
    }

    /// Indices of the paths without a caller.
    public var roots: Siblings { Siblings(paths: paths, index: 0, end: Int32(paths.count)) }

    /// Indices of the paths called directly by path `index`.
    public func callees(of index: Int) -> Siblings {
        Siblings(paths: paths, index: Int32(index + 1), end: paths[index].end)
    }

    /// The sum of the roots' totals, in ns.
    public var total: UInt64 { roots.reduce(0) { $0 &+ paths[$1].sums.total } }

    /// Callees that the record options left out, of all paths.
    public var dropped: CallSum {
        var sum = CallSum()
        for path in paths { sum.add(path.sums.dropped) }
        return sum
    }

    /// Paths with the same caller.
    public struct Siblings: Sequence, IteratorProtocol {
        fileprivate let paths: [CallPath]
        fileprivate var index: Int32
        fileprivate let end: Int32

        public mutating func next() -> Int? {
            guard index < end else { return nil }
            defer { index = paths[Int(index)].end }
            return Int(index)
        }
    }

    private static func preorder(_ table: CallPathTable, _ functions: FunctionTable) -> [CallPath] {
        let count = table.count
        /// Nodes by caller, then as callees are ordered: by first start, then by what does not depend on who came first.
        let order = (1..<count).sorted { left, right in
            let (a, b) = (table.nodes[left], table.nodes[right])
            if a.parent != b.parent { return a.parent < b.parent }
            if a.sums.firstStart != b.sums.firstStart { return a.sums.firstStart < b.sums.firstStart }
            let (f, g) = (functions.functions[Int(a.key)], functions.functions[Int(b.key)])
            return (f.module, f.address) < (g.module, g.address)
        }
        var callees = [Range<Int>](repeating: 0..<0, count: count)
        var first = 0
        while first < order.count {
            let parent = table.nodes[order[first]].parent
            var last = first + 1
            while last < order.count, table.nodes[order[last]].parent == parent { last += 1 }
            callees[Int(parent)] = first..<last
            first = last
        }
        var paths: [CallPath] = []
        paths.reserveCapacity(count - 1)
        /// Callees still to be visited, and the path they are called by.
        var open: [(rest: Range<Int>, path: Int32)] = [(callees[0], -1)]
        while let (rest, parent) = open.last {
            guard let next = rest.first else {
                if parent >= 0 { paths[Int(parent)].end = Int32(paths.count) }
                open.removeLast()
                continue
            }
            open[open.count - 1].rest = rest.dropFirst()
            let node = table.nodes[order[next]]
            let depth = UInt32(open.count - 1)
            open.append((callees[order[next]], Int32(paths.count)))
            paths.append(
                CallPath(
                    function: UInt32(node.key), parent: parent, end: 0, depth: depth, sums: node.sums,
                    histogram: node.histogram))
        }
        return paths
    }
}
