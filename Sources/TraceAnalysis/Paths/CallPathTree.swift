/// The call paths of any number of threads, each with the exact sums of its calls: a calling-context tree (G. Ammons,
/// T. Ball, J. R. Larus, Exploiting Hardware Performance Counters with Flow and Context Sensitive Profiling, 1997).
///
/// Paths are in pre-order, and the callees of one caller are in the order in which their first calls began. So the
/// paths below path `i` are `i + 1 ..< paths[i].end`, and the same threads give the same order every time. Over all
/// paths, self time and left-out time add up to the total of the roots exactly, unless the filter leaves paths or calls
/// out.
public struct CallPathTree {
    public let functions: FunctionTable
    public let paths: CallPaths
    /// The cost of tracing that was taken out of all times; nil when they are as they were recorded.
    public let cost: TracingCost?
    /// The times that triggers say by path; see ``isLong(_:least:)``. Empty: none do.
    var least: [UInt64] = []

    var histograms: HistogramStore { paths.store.histograms }

    init(_ store: CallPathStore, functions: FunctionTable, cost: TracingCost? = nil) {
        paths = CallPaths(store: store)
        self.functions = functions
        self.cost = cost
    }

    /// Makes a tree of the paths of a table whose functions are ids in `functions`. The table is used up.
    ///
    /// - Parameter cost: what the table's times were corrected by.
    /// - Complexity: O(n), and O(n log n) where callees of one caller are not in order yet.
    init(_ table: consuming CallPathTable, functions: FunctionTable, cost: TracingCost? = nil) {
        let count = table.count
        var (nodes, rares, histograms) = table.finish()
        let depths = PathOrder.bringIntoOrder(&nodes, count: count, functions)
        self.init(
            CallPathStore(
                count: count - 1, nodes: nodes, depths: depths, rares: rares, histograms: HistogramStore(histograms)),
            functions: functions, cost: cost)
    }

    /// Indices of the paths without a caller.
    public var roots: Siblings { Siblings(store: paths.store, index: 0, end: Int32(paths.count)) }

    /// Indices of the paths called directly by path `index`.
    public func callees(of index: Int) -> Siblings {
        Siblings(store: paths.store, index: Int32(index + 1), end: paths[index].end)
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
        fileprivate let store: CallPathStore
        fileprivate var index: Int32
        fileprivate let end: Int32

        public mutating func next() -> Int? {
            guard index < end else { return nil }
            defer { index = Int32(bitPattern: store.node(Int(index)).pointee.link) }
            return Int(index)
        }
    }
}

/// Brings the nodes of a ``CallPathTable`` into the order of a ``CallPathTree``, in place.
private enum PathOrder {
    /// - Returns: the depth of every path.
    static func bringIntoOrder(
        _ nodes: inout GrowingMemory<PathNode>, count: Int, _ functions: FunctionTable
    ) -> GrowingMemory<UInt32> {
        let first = linkSiblings(nodes.start, count, functions)
        var places = GrowingMemory<UInt32>(capacity: count)
        let depths = number(nodes.start, first, &places, count)
        first.free()
        for index in 1..<max(count, 1) {
            nodes.start[index].parent = places.start[Int(nodes.start[index].parent)] &- 1
        }
        move(nodes.start, places.start, count)
        places.free()
        nodes.resize(to: count)
        return depths
    }

    /// Makes each node's link the next callee of its caller: by first start, then by something that does not depend on
    /// which node was made first.
    ///
    /// - Returns: the first callee of every node; 0 where there is none.
    private static func linkSiblings(
        _ nodes: UnsafeMutablePointer<PathNode>, _ count: Int, _ functions: FunctionTable
    ) -> GrowingMemory<UInt32> {
        let first = GrowingMemory<UInt32>(capacity: count)
        // The nodes are taken in the order of their creation, which is nearly the right one: a caller's first callee
        // comes first.
        for index in (1..<max(count, 1)).reversed() {
            let parent = Int(nodes[index].parent)
            nodes[index].link = first.start[parent]
            first.start[parent] = UInt32(index)
        }
        func isBefore(_ left: UInt32, _ right: UInt32) -> Bool {
            let (a, b) = (nodes + Int(left), nodes + Int(right))
            if a.pointee.firstStart != b.pointee.firstStart { return a.pointee.firstStart < b.pointee.firstStart }
            let (f, g) = (
                functions.functions[Int(a.pointee.function)], functions.functions[Int(b.pointee.function)]
            )
            return (f.module, f.address) < (g.module, g.address)
        }
        var siblings: [UInt32] = []
        for parent in 0..<count {
            var isSorted = true
            var index = first.start[parent]
            while index != 0, isSorted {
                let next = nodes[Int(index)].link
                isSorted = next == 0 || isBefore(index, next)
                index = next
            }
            if isSorted { continue }
            siblings.removeAll(keepingCapacity: true)
            index = first.start[parent]
            while index != 0 {
                siblings.append(index)
                index = nodes[Int(index)].link
            }
            siblings.sort(by: isBefore)
            first.start[parent] = siblings[0]
            for (sibling, next) in zip(siblings, siblings.dropFirst() + [0]) { nodes[Int(sibling)].link = next }
        }
        return first
    }

    /// Gives every node its place, and makes its link the end of its subtree.
    private static func number(
        _ nodes: UnsafeMutablePointer<PathNode>, _ first: GrowingMemory<UInt32>, _ places: inout GrowingMemory<UInt32>,
        _ count: Int
    ) -> GrowingMemory<UInt32> {
        let depths = GrowingMemory<UInt32>(capacity: count)
        var paths: UInt32 = 0
        var open: [UInt32] = []
        var node = first.start[0]
        while true {
            while node != 0 {
                depths.start[Int(paths)] = UInt32(open.count)
                paths += 1
                places.start[Int(node)] = paths
                open.append(node)
                node = first.start[Int(node)]
            }
            guard let ended = open.popLast() else { return depths }
            node = nodes[Int(ended)].link
            nodes[Int(ended)].link = paths
        }
    }

    /// Moves every node to its place. Each swap brings one node there.
    private static func move(
        _ nodes: UnsafeMutablePointer<PathNode>, _ places: UnsafeMutablePointer<UInt32>, _ count: Int
    ) {
        for index in 1..<max(count, 1) {
            while Int(places[index]) != index {
                let place = Int(places[index])
                swap(&nodes[index], &nodes[place])
                swap(&places[index], &places[place])
            }
        }
    }
}
