internal import TraceAnalysis

/// One tree of a view that may show several below each other, in the order that it is shown in.
struct TreePart {
    /// What stands above it; nil for nothing.
    let heading: String?
    let tree: CallPathTree
    let rows: PathRows
    let order: TreeOrder
    let numbers: ScreenNumbers

    init(_ heading: String? = nil, _ tree: CallPathTree, _ order: TreeOrder, _ numbers: ScreenNumbers) {
        self.heading = heading
        self.tree = tree
        self.order = order
        self.numbers = numbers
        rows = PathRows(tree)
    }

    /// The callees of a path, or the roots for -1.
    func callees(of path: Int) -> [Int] {
        let callees = path < 0 ? Array(tree.roots) : Array(tree.callees(of: path))
        return order.sorted(callees.filter(isShown), of: tree, rows, numbers)
    }

    func function(_ path: Int) -> UInt32 { tree.paths[path].function }

    func parent(_ path: Int) -> Int { Int(tree.paths[path].parent) }

    /// Whether anything lies below a path.
    func hasCallees(_ path: Int) -> Bool {
        Int(tree.paths[path].end) > path + 1
            && (numbers.minCost == 0 || tree.callees(of: path).contains(where: isShown))
    }

    private func isShown(_ path: Int) -> Bool { tree.isLong(path, least: numbers.minCost) }

    /// The functions of a path, the root's first.
    func functions(_ path: Int) -> [UInt32] {
        var functions: [UInt32] = []
        var path = path
        while path >= 0 {
            functions.append(function(path))
            path = parent(path)
        }
        return functions.reversed()
    }

    /// The path that has these functions, or as many of the first of them as there are; nil when there is not even the first.
    func path(_ functions: [UInt32]) -> Int? {
        var found: Int?
        for function in functions {
            let callees = found.map(tree.callees(of:)) ?? tree.roots
            guard let next = callees.first(where: { self.function($0) == function }) else { break }
            found = next
        }
        return found
    }
}
