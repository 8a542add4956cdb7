/// The call paths of several trees of the same functions, each path once, callers before callees.
public final class PathUnion {
    private var table = CallPathTable()

    public init() {}

    deinit { table.free() }

    /// Adds the paths of a tree.
    ///
    /// - Returns: of each of its paths, the index here.
    /// - Complexity: O(n) in the number of paths.
    public func add(_ tree: CallPathTree) -> [Int] {
        var nodes: [UInt32] = []
        nodes.reserveCapacity(tree.paths.count)
        for path in tree.paths {
            let parent = path.parent < 0 ? 0 : nodes[Int(path.parent)]
            nodes.append(table.callee(of: parent, function: path.function))
        }
        return nodes.map { Int($0) - 1 }
    }

    public var count: Int { table.count - 1 }

    /// Of each path its last function, and the index of its caller; -1 for a root.
    public var paths: [(function: UInt32, parent: Int)] {
        (1..<table.count).map { (table.nodes[$0].function, Int(table.nodes[$0].parent) - 1) }
    }
}
