/// Tree nodes in pre-order.
struct NodeArena {
    private(set) var nodes: UnsafeMutablePointer<TreeNode>
    private(set) var count = 0
    private var capacity = 64

    init() { nodes = .allocate(capacity: capacity) }

    func free() { nodes.deallocate() }

    /// Takes a place for `call`. Its times follow when it ends.
    @inline(__always)
    mutating func append<Payload>(_ call: UnsafeMutablePointer<OpenCall<Payload>>, depth: UInt32) -> Int32 {
        if count == capacity { grow() }
        let node = nodes + count
        node.pointee.address = call.pointee.function
        node.pointee.callSite = call.pointee.callSite
        node.pointee.enterTicks = call.pointee.enterTicks
        node.pointee.start = call.pointee.start
        node.pointee.calls = call.pointee.isInherited ? 0 : 1
        node.pointee.depth = depth
        node.pointee.isInherited = call.pointee.isInherited
        node.pointee.isSkipped = false
        node.pointee.isEvent = false
        count += 1
        return Int32(truncatingIfNeeded: count - 1)
    }

    @inline(never)
    mutating func append(_ event: ThreadEvent, depth: UInt32) {
        if count == capacity { grow() }
        (nodes + count).initialize(
            to: TreeNode(
                address: UInt64(event.name), callSite: 0, enterTicks: event.ticks, start: event.moment, total: 0,
                selfTime: 0, suspended: 0, hidden: CallSum(), dropped: CallSum(), calls: 0, depth: depth,
                state: .complete,
                isInherited: false, isEvent: true, value: event.value, isSkipped: false))
        count += 1
    }

    /// Forgets node `index` and all after it.
    @inline(__always)
    mutating func truncate(to index: Int32) { count = Int(index) }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<TreeNode>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: nodes, count: count)
        nodes.deallocate()
        nodes = larger
        capacity *= 2
    }

    /// Node indices in pre-order, with siblings ordered by time, the longest first, and equal leaf siblings folded into
    /// the first of them.
    ///
    /// - Complexity: O(n log n).
    mutating func sortedByTime(folding: Bool) -> [Int] {
        // subtree[i]: index after the last node below i.
        var subtree = [Int](repeating: count, count: count)
        var ancestors: [Int] = []
        for index in 0..<count {
            while let last = ancestors.last, nodes[last].depth >= nodes[index].depth {
                subtree[last] = index
                ancestors.removeLast()
            }
            ancestors.append(index)
        }
        var order: [Int] = []
        var pending = siblings(from: 0, to: count, subtree, folding: folding)
        while let next = pending.popLast() {
            order.append(next)
            pending.append(contentsOf: siblings(from: next + 1, to: subtree[next], subtree, folding: folding))
        }
        return order
    }

    /// The siblings in `start..<end`, shortest first.
    private func siblings(from start: Int, to end: Int, _ subtree: [Int], folding: Bool) -> [Int] {
        var found: [Int] = []
        var leaves: [UInt64: Int] = [:]
        var index = start
        while index < end {
            defer { index = subtree[index] }
            let node = nodes[index]
            let isFoldable =
                folding && subtree[index] == index + 1 && node.state == .complete && !node.isInherited
                && !node.isEvent
            if isFoldable, let first = leaves[node.address] {
                nodes[first].fold(node)
                continue
            }
            if isFoldable { leaves[node.address] = index }
            found.append(index)
        }
        return found.sorted { (nodes[$0].total, $1) < (nodes[$1].total, $0) }
    }
}
