/// Call paths while they are being added up. Each is known by its caller's path and a function, and callers come before
/// callees.
///
/// Node 0 is no call; the roots hang from it. The memory is freed by hand, because this is passed about in hot loops.
struct CallPathTable {
    private var memory = GrowingMemory<PathNode>(capacity: 64)
    private(set) var count = 1
    /// Node numbers by hash of parent and function, with linear probing; 0 is empty. Nil until something is looked up.
    private var slots: GrowingMemory<UInt32>?
    var rares = RareSumsArena()
    var histograms = HistogramArena()

    init() { memory.start.initialize(to: PathNode(function: 0, parent: 0)) }

    @inline(__always)
    var nodes: UnsafeMutablePointer<PathNode> { memory.start }

    func free() {
        memory.free()
        slots?.free()
        rares.free()
        histograms.free()
    }

    /// The node of `function` called by `parent`.
    ///
    /// - Complexity: O(1), amortised.
    @inline(__always)
    mutating func callee(of parent: UInt32, function: UInt32) -> UInt32 {
        let recent = nodes[Int(parent)].link
        if nodes[Int(recent)].function == function, recent != 0 { return recent }
        return lookUp(parent, function)
    }

    @inline(never)
    mutating func lookUp(_ parent: UInt32, _ function: UInt32) -> UInt32 {
        if slots == nil { makeSlots(for: count) }
        let slots = self.slots!
        var slot = CallPathTable.slot(parent, function, of: slots.capacity)
        while slots.start[slot] != 0 {
            let index = slots.start[slot]
            let node = nodes + Int(index)
            if node.pointee.parent == parent, node.pointee.function == function {
                nodes[Int(parent)].link = index
                return index
            }
            slot = slot &+ 1 == slots.capacity ? 0 : slot &+ 1
        }
        let index = UInt32(count)
        memory.reserve(count)
        (nodes + count).initialize(to: PathNode(function: function, parent: parent))
        slots.start[slot] = index
        count += 1
        nodes[Int(parent)].link = index
        if count * 2 > slots.capacity { makeSlots(for: count) }
        return index
    }

    private static func slot(_ parent: UInt32, _ function: UInt32, of capacity: Int) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4), once for each half of the key.
        let mixed = UInt64(function) &* 0x9e37_79b9_7f4a_7c15
        let hash = (mixed ^ mixed >> 32 ^ UInt64(parent)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(capacity)) >> 32)
    }

    /// Makes slots that `count` nodes fill to a third. When half of them are full, more are made.
    private mutating func makeSlots(for count: Int) {
        slots?.free()
        let slots = GrowingMemory<UInt32>(capacity: max(128, count * 3))
        for index in 1..<max(self.count, 1) {
            var slot = CallPathTable.slot(nodes[index].parent, nodes[index].function, of: slots.capacity)
            while slots.start[slot] != 0 { slot = slot &+ 1 == slots.capacity ? 0 : slot &+ 1 }
            slots.start[slot] = UInt32(index)
        }
        self.slots = slots
    }

    /// Replaces the function of every node by its entry in `functions`. No two nodes of one caller become equal by
    /// this.
    mutating func translate(_ functions: [UInt32]) {
        for index in 1..<max(count, 1) { nodes[index].function = functions[Int(nodes[index].function)] }
        slots?.free()
        slots = nil
    }

    /// What is added up over the calls of a node.
    func sums(_ node: UInt32) -> CallPathSums { nodes[Int(node)].sums(rares) }

    mutating func set(_ sums: CallPathSums, of node: UInt32) { nodes[Int(node)].set(sums, &rares) }

    /// Adds to the sums of `node` those of other calls, whose histogram is at `histogram` in `source`.
    mutating func add(_ added: CallPathSums, _ histogram: UInt32, in source: some HistogramSource, to node: UInt32) {
        var sums = sums(node)
        histograms.add(added, histogram, in: source, to: &nodes[Int(node)].histogram, of: sums)
        sums.add(added)
        set(sums, of: node)
    }

    /// Adds to `node`, the caller, what it takes over of a callee's times when the callee is hidden.
    mutating func addHidden(_ callee: CallPathSums, to node: UInt32) {
        var sums = sums(node)
        sums.selfTime &+= callee.selfTime
        sums.dropped.add(callee.dropped)
        set(sums, of: node)
    }

    /// Ends the adding up. Hands out the nodes, node 0 first, the rare sums and the histograms.
    consuming func finish() -> (nodes: GrowingMemory<PathNode>, rares: RareSumsArena, histograms: HistogramArena) {
        slots?.free()
        return (memory, rares, histograms)
    }
}
