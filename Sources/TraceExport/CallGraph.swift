internal import TraceAnalysis

/// Functions and who calls whom, from call paths: what is left when context is forgotten.
///
/// Recursion counts no time twice: a call within another of the same function adds to the calls of an edge, not to its
/// time. So the times of the edges that lead to a function add up to its total exactly, those without a caller included.
/// Functions of one name in one file are one here, as for those who read the formats.
struct CallGraph {
    struct Node {
        var calls: UInt64 = 0
        /// ns, of the outermost calls only.
        var total: UInt64 = 0
        var selfTime: UInt64 = 0
        /// ns in callees that were not recorded.
        var dropped: UInt64 = 0
        /// Calls without a caller, and their ns.
        var roots = CallSum()
        var isUsed = false
        /// Some edge leads here.
        var isCalled = false
    }

    struct Edge {
        var caller: UInt32
        var callee: UInt32
        var calls: UInt64
        /// ns.
        var time: UInt64
    }

    /// By function id; of functions that are one, the first has all.
    private(set) var nodes: [Node]
    /// By caller, then callee.
    private(set) var edges: [Edge]
    /// Self time and time in callees that were not recorded, of all functions.
    private(set) var total: UInt64 = 0

    /// - Parameter minTotal: paths that took less, in ns, are left out with what is below them.
    /// - Complexity: O(paths), and O(edges log edges).
    init(_ tree: CallPathTree, minTotal: UInt64 = 0) {
        nodes = Array(repeating: Node(), count: tree.functions.functions.count)
        edges = []
        let first = CallGraph.firstOfEach(tree.functions)
        var indices: [UInt64: Int] = [:]
        var stack: [UInt32] = []
        /// By function: how often it is on the stack.
        var levels = [UInt32](repeating: 0, count: nodes.count)
        tree.forEachPath(minTotal: minTotal) { _, path in
            while stack.count > Int(path.depth) { levels[Int(stack.removeLast())] -= 1 }
            let function = first[Int(path.function)]
            let index = Int(function)
            let time = levels[index] == 0 ? path.sums.total : 0
            nodes[index].isUsed = true
            nodes[index].calls &+= path.sums.calls
            nodes[index].total &+= time
            nodes[index].selfTime &+= path.sums.selfTime
            nodes[index].dropped &+= path.sums.dropped.time
            total &+= path.sums.selfTime &+ path.sums.dropped.time
            if let caller = stack.last {
                let key = UInt64(caller) << 32 | UInt64(function)
                let edge = indices[key] ?? edges.count
                if edge == edges.count {
                    indices[key] = edge
                    edges.append(Edge(caller: caller, callee: function, calls: 0, time: 0))
                    nodes[index].isCalled = true
                }
                edges[edge].calls &+= path.sums.calls
                edges[edge].time &+= time
            } else {
                nodes[index].roots.calls &+= path.sums.calls
                nodes[index].roots.time &+= time
            }
            levels[index] += 1
            stack.append(function)
        }
        edges.sort { ($0.caller, $0.callee) < ($1.caller, $1.callee) }
    }

    /// By function: the first one of its name in its file.
    private static func firstOfEach(_ functions: FunctionTable) -> [UInt32] {
        var known: [String: UInt32] = [:]
        return functions.functions.indices.map { index in
            let id = UInt32(index)
            let key = "\(functions[id].file ?? "")\0\(functions[id].name)"
            if let first = known[key] { return first }
            known[key] = id
            return id
        }
    }
}

extension CallPathTree {
    /// Calls `body` with index and path of each that took `minTotal` ns at least, callers before callees.
    func forEachPath(minTotal: UInt64, _ body: (Int, CallPath) -> Void) {
        var index = 0
        while index < paths.count {
            let path = paths[index]
            if path.sums.total >= minTotal {
                body(index, path)
                index += 1
            } else {
                index = Int(path.end)
            }
        }
    }
}
