internal import TraceAnalysis

/// Functions and who calls whom. It is made from call paths by forgetting the context of each call.
///
/// Recursion counts no time twice: a call within another one of the same function adds to the calls of an edge, but not
/// to its time. So the times of the edges that lead to a function, and of its calls without a caller, add up to exactly
/// its total. Functions of the same name in the same file are one here, as readers of the formats take them.
struct CallGraph {
    struct Node {
        var calls: UInt64 = 0
        /// The ns of the outermost calls only.
        var total: UInt64 = 0
        var selfTime: UInt64 = 0
        /// The number of calls without a caller, and their ns.
        var roots = CallSum()
        var isUsed = false
        /// Whether an edge leads here.
        var isCalled = false
    }

    struct Edge {
        var caller: UInt32
        var callee: UInt32
        var calls: UInt64
        /// ns.
        var time: UInt64
    }

    private let functions: FunctionTable
    /// The nodes by function id and, behind the functions, those that stand for remainders. Of functions that count as
    /// one, the first has the sums of all.
    private(set) var nodes: [Node]
    /// The edges, by caller and then by callee.
    private(set) var edges: [Edge]
    /// The self time of all nodes together.
    private(set) var total: UInt64 = 0

    /// - Parameter minTotal: paths that took less, in ns, are left out, with those below them.
    /// - Complexity: O(paths), and O(edges log edges).
    init(_ tree: CallPathTree, minTotal: UInt64 = 0) {
        functions = tree.functions
        nodes = Array(repeating: Node(), count: tree.functions.functions.count + PathRemainder.allCases.count)
        edges = []
        let first = CallGraph.firstOfEach(tree.functions)
        var indices: [UInt64: Int] = [:]
        var stack: [UInt32] = []
        /// How often a function is on the stack, by function.
        var levels = [UInt32](repeating: 0, count: nodes.count)
        tree.forEachPath(minTotal: minTotal) { exported in
            let path = exported.path
            while stack.count > Int(path.depth) { levels[Int(stack.removeLast())] -= 1 }
            let function = first[Int(path.function)]
            let index = Int(function)
            let time = levels[index] == 0 ? path.sums.total : 0
            nodes[index].isUsed = true
            nodes[index].calls &+= path.sums.calls
            nodes[index].total &+= time
            nodes[index].selfTime &+= path.sums.selfTime
            total &+= path.sums.selfTime
            if let caller = stack.last {
                addEdge(caller, function, CallSum(calls: path.sums.calls, time: time), &indices)
            } else {
                nodes[index].roots.calls &+= path.sums.calls
                nodes[index].roots.time &+= time
            }
            for (kind, sum) in exported.remainders {
                let rest = kind.id(beside: functions)
                nodes[rest].isUsed = true
                nodes[rest].calls &+= sum.calls
                nodes[rest].total &+= sum.time
                nodes[rest].selfTime &+= sum.time
                total &+= sum.time
                addEdge(function, UInt32(rest), sum, &indices)
            }
            levels[index] += 1
            stack.append(function)
        }
        edges.sort { ($0.caller, $0.callee) < ($1.caller, $1.callee) }
    }

    /// The function of node `index`, or the one that stands for a remainder.
    func function(_ index: Int) -> ResolvedFunction {
        for kind in PathRemainder.allCases where kind.id(beside: functions) == index {
            return ResolvedFunction(name: kind.name, module: nil, file: nil, line: 0)
        }
        return functions[UInt32(index)]
    }

    private mutating func addEdge(
        _ caller: UInt32, _ callee: UInt32, _ sum: CallSum, _ indices: inout [UInt64: Int]
    ) {
        let key = UInt64(caller) << 32 | UInt64(callee)
        let edge = indices[key] ?? edges.count
        if edge == edges.count {
            indices[key] = edge
            edges.append(Edge(caller: caller, callee: callee, calls: 0, time: 0))
            nodes[Int(callee)].isCalled = true
        }
        edges[edge].calls &+= sum.calls
        edges[edge].time &+= sum.time
    }

    /// The first function of the same name in the same file, by function.
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
