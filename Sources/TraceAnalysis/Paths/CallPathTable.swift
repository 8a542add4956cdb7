/// Call paths while they are being added up. Each is known by its caller's path and a function, and callers come before
/// callees.
///
/// The callees of a caller are a list, the latest one first: most callers have few, and those lie close to each other in
/// memory, where a hash table has each of them somewhere else. Only the callees of callers that have many are in one.
///
/// Node 0 is no call; the roots hang from it. The memory is freed by hand, because this is passed about in hot loops.
struct CallPathTable {
    private var memory = GrowingMemory<PathNode>(capacity: 64)
    private(set) var count = 1
    /// By node: the callee that follows in its caller's list, 0 at the end; and, in the highest bit, whether its own callees
    /// are many, and so in no list.
    private var siblings = GrowingMemory<UInt32>(capacity: 64)
    /// The numbers of the callees of callers with many, by hash of parent and function, with linear probing; 0 is empty.
    private var slots = GrowingMemory<UInt32>(capacity: 1)
    private var usedSlots = 0
    var rares = RareSumsArena()
    var histograms = HistogramArena()

    private static var many: UInt32 { 1 << 31 }
    /// The most callees that are a list.
    private static var mostListed: Int { 8 }

    init() { memory.start.initialize(to: PathNode(function: 0, parent: 0)) }

    @inline(__always)
    var nodes: UnsafeMutablePointer<PathNode> { memory.start }

    func free() {
        memory.free()
        siblings.free()
        slots.free()
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

    /// Does the same where the latest callee is most likely another one.
    @inline(never)
    mutating func lookUp(_ parent: UInt32, _ function: UInt32) -> UInt32 {
        if siblings.start[Int(parent)] & CallPathTable.many != 0 { return lookUpAmongMany(parent, function) }
        var previous: UInt32 = 0, callees = 0
        var node = nodes[Int(parent)].link
        while node != 0 {
            if nodes[Int(node)].function == function {
                if previous != 0 { bringToFront(node, of: parent, behind: previous) }
                return node
            }
            previous = node
            node = siblings.start[Int(node)] & ~CallPathTable.many
            callees += 1
        }
        if callees == CallPathTable.mostListed {
            moveToSlots(calleesOf: parent)
            return lookUpAmongMany(parent, function)
        }
        let made = make(function, parent)
        siblings.start[Int(made)] = nodes[Int(parent)].link
        nodes[Int(parent)].link = made
        return made
    }

    private mutating func bringToFront(_ node: UInt32, of parent: UInt32, behind previous: UInt32) {
        let following = siblings.start[Int(node)] & ~CallPathTable.many
        siblings.start[Int(previous)] = siblings.start[Int(previous)] & CallPathTable.many | following
        siblings.start[Int(node)] = siblings.start[Int(node)] & CallPathTable.many | nodes[Int(parent)].link
        nodes[Int(parent)].link = node
    }

    private mutating func make(_ function: UInt32, _ parent: UInt32) -> UInt32 {
        precondition(count < CallPathTable.many, "more call paths than can be told apart")
        let node = UInt32(count)
        memory.reserve(count)
        siblings.reserve(count)
        (nodes + count).initialize(to: PathNode(function: function, parent: parent))
        siblings.start[count] = 0
        count += 1
        return node
    }

    // MARK: Callers with many callees

    private mutating func lookUpAmongMany(_ parent: UInt32, _ function: UInt32) -> UInt32 {
        var slot = slot(parent, function)
        while slots.start[slot] != 0 {
            let index = slots.start[slot]
            let node = nodes + Int(index)
            if node.pointee.parent == parent, node.pointee.function == function {
                nodes[Int(parent)].link = index
                return index
            }
            slot = slot &+ 1 == slots.capacity ? 0 : slot &+ 1
        }
        let made = make(function, parent)
        nodes[Int(parent)].link = made
        slots.start[slot] = made
        usedSlots += 1
        reserveSlots(for: usedSlots + 1)
        return made
    }

    private func slot(_ parent: UInt32, _ function: UInt32) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4), once for each half of the key.
        let mixed = UInt64(function) &* 0x9e37_79b9_7f4a_7c15
        let hash = (mixed ^ mixed >> 32 ^ UInt64(parent)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(slots.capacity)) >> 32)
    }

    private mutating func moveToSlots(calleesOf parent: UInt32) {
        reserveSlots(for: usedSlots + CallPathTable.mostListed + 1)
        siblings.start[Int(parent)] |= CallPathTable.many
        var node = nodes[Int(parent)].link
        while node != 0 {
            let following = siblings.start[Int(node)] & ~CallPathTable.many
            siblings.start[Int(node)] &= CallPathTable.many
            insert(node)
            usedSlots += 1
            node = following
        }
    }

    private func insert(_ node: UInt32) {
        var slot = slot(nodes[Int(node)].parent, nodes[Int(node)].function)
        while slots.start[slot] != 0 { slot = slot &+ 1 == slots.capacity ? 0 : slot &+ 1 }
        slots.start[slot] = node
    }

    /// Makes slots that `count` nodes fill to a third, unless they fill those that there are to less than half.
    private mutating func reserveSlots(for count: Int) {
        if count * 2 > slots.capacity { fillSlots(capacity: max(128, count * 3)) }
    }

    /// Puts the nodes that are in slots into new ones.
    private mutating func fillSlots(capacity: Int) {
        let old = slots
        slots = GrowingMemory<UInt32>(capacity: capacity)
        for slot in 0..<old.capacity where old.start[slot] != 0 { insert(old.start[slot]) }
        old.free()
    }

    // MARK: Sums

    /// Replaces the function of every node by its entry in `functions`. No two nodes of one caller become equal by
    /// this.
    mutating func translate(_ functions: [UInt32]) {
        for index in 1..<max(count, 1) { nodes[index].function = functions[Int(nodes[index].function)] }
        if usedSlots > 0 { fillSlots(capacity: slots.capacity) }
    }

    /// Frees what it takes to look something up. Nothing will be looked up any more.
    mutating func close() {
        slots.free()
        siblings.free()
        slots = GrowingMemory<UInt32>(capacity: 1)
        siblings = GrowingMemory<UInt32>(capacity: 1)
    }

    /// Gives the memory of the nodes below `index` back to the system. They will not be read any more.
    func forgetNodes(below index: Int) { memory.giveBack(below: index) }

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
        sums.selfMemory.add(callee.selfMemory)
        set(sums, of: node)
    }

    /// Makes the memory of each path that of its callees as well. Until then it is what the path's function allocated itself.
    ///
    /// - Complexity: O(n) in the number of paths.
    mutating func addUpMemory() {
        for node in (1..<UInt32(max(count, 1))).reversed() {
            var own = sums(node)
            own.memory.add(own.selfMemory)
            if own.memory.isZero { continue }
            set(own, of: node)
            let parent = nodes[Int(node)].parent
            if parent == 0 { continue }
            var caller = sums(parent)
            caller.memory.add(own.memory)
            set(caller, of: parent)
        }
    }

    /// Ends the adding up. Hands out the nodes, node 0 first, the rare sums and the histograms.
    consuming func finish() -> (nodes: GrowingMemory<PathNode>, rares: RareSumsArena, histograms: HistogramArena) {
        siblings.free()
        slots.free()
        return (memory, rares, histograms)
    }
}
