internal import TraceFile

/// Tree nodes in pre-order. The memory is freed by hand.
struct NodeArena {
    private var memory = GrowingMemory<TreeNode>(capacity: 64)
    private(set) var count = 0
    private var rares = GrowingMemory<RareTimes>(capacity: 1)
    /// By node, of those that have ended, where that is asked for: what its calls did with memory.
    private var memories = GrowingMemory<MemorySums>(capacity: 1)
    /// The nodes with arguments, in their order.
    private var recorded: [(node: Int, arguments: RecordedArguments)] = []
    /// The nodes with results, in the order in which their calls ended.
    private var results: [(node: Int, result: RecordedArguments)] = []
    private var resultPlaces: [Int: Int] = [:]
    /// Number 0 is none.
    private var usedRares: UInt32 = 1

    init() { rares.start.initialize(to: RareTimes()) }

    func free() {
        memory.free()
        rares.free()
        memories.free()
    }

    @inline(__always)
    var nodes: UnsafeMutablePointer<TreeNode> { memory.start }

    /// Returns what node `index`, which has ended, has besides its times.
    func rareTimes(_ index: Int) -> RareTimes {
        let number = nodes[index].rare
        return number < usedRares ? rares.start[Int(number)] : RareTimes()
    }

    /// What the call of node `index`, which has ended, did with memory.
    func memory(_ index: Int) -> MemorySums { memories.start[index] }

    /// The call of node `index`, which has ended, did this with memory.
    mutating func set(_ sums: MemorySums, of index: Int) {
        memories.reserve(index)
        (memories.start + index).initialize(to: sums)
    }

    /// The last node is of a call with these arguments.
    mutating func add(_ arguments: RecordedArguments) { recorded.append((count - 1, arguments)) }

    /// Node `index` is of a call that returns this.
    mutating func add(_ result: RecordedArguments, of index: Int) {
        resultPlaces[index] = results.count
        results.append((index, result))
    }

    /// O(1).
    func result(_ index: Int) -> RecordedArguments {
        results.isEmpty ? RecordedArguments() : resultPlaces[index].map { results[$0].result } ?? RecordedArguments()
    }

    /// Whether the calls of two nodes have the same arguments and results.
    func haveEqualValues(_ one: Int, _ other: Int) -> Bool {
        arguments(one).equals(arguments(other)) && result(one).equals(result(other))
    }

    /// O(log calls with arguments).
    func arguments(_ index: Int) -> RecordedArguments {
        if recorded.isEmpty { return RecordedArguments() }
        let place = recorded.partitioningIndex { $0.node >= index }
        return place < recorded.count && recorded[place].node == index ? recorded[place].arguments : RecordedArguments()
    }

    /// Takes a place for `call`. Its times follow when it ends.
    @inline(__always)
    mutating func append<Payload>(_ call: UnsafeMutablePointer<OpenCall<Payload>>, depth: UInt32) -> Int32 {
        memory.reserve(count)
        let node = nodes + count
        node.pointee.address = call.pointee.function
        node.pointee.callSite = call.pointee.callSite
        node.pointee.enterTicks = call.pointee.enterTicks
        node.pointee.start = call.pointee.start
        node.pointee.calls = call.pointee.isInherited ? 0 : 1
        node.pointee.depth = depth
        node.pointee.rare = usedRares
        node.pointee.isInherited = call.pointee.isInherited
        node.pointee.isSkipped = false
        node.pointee.isEvent = false
        count += 1
        return Int32(truncatingIfNeeded: count - 1)
    }

    @inline(never)
    mutating func append(_ event: ThreadEvent, depth: UInt32) {
        memory.reserve(count)
        let rare = event.value.map { add(RareTimes(value: $0)) } ?? 0
        (nodes + count).initialize(
            to: TreeNode(
                address: UInt64(event.name), callSite: 0, enterTicks: event.ticks, start: event.moment, total: 0,
                selfTime: 0, depth: depth, calls: 0, rare: rare, state: .complete, isInherited: false, isEvent: true,
                isSkipped: false))
        count += 1
    }

    /// Gives node `index` what became of its call.
    @inline(__always)
    mutating func end(_ index: Int, _ outcome: TreeBuilder.Outcome) {
        let node = nodes + index
        node.pointee.total = outcome.total
        node.pointee.selfTime = outcome.selfTime
        node.pointee.state = outcome.state
        node.pointee.isSkipped = !outcome.isShown
        let some =
            outcome.suspended | outcome.hidden.calls | outcome.hidden.time | outcome.dropped.calls
            | outcome.dropped.time | outcome.offCPU.blocked | outcome.offCPU.runnable
        node.pointee.rare = some == 0 ? 0 : addRare(outcome)
    }

    @inline(never)
    private mutating func addRare(_ outcome: TreeBuilder.Outcome) -> UInt32 {
        add(
            RareTimes(
                suspended: outcome.suspended, hidden: outcome.hidden, dropped: outcome.dropped, offCPU: outcome.offCPU))
    }

    private mutating func add(_ rare: RareTimes) -> UInt32 {
        precondition(usedRares < .max, "more calls with rare times than can be told apart")
        rares.reserve(Int(usedRares))
        (rares.start + Int(usedRares)).initialize(to: rare)
        usedRares += 1
        return usedRares - 1
    }

    /// Forgets node `index`, which has not ended or is the first one, and all after it.
    @inline(__always)
    mutating func truncate(to index: Int32) {
        usedRares = index == 0 ? 1 : nodes[Int(index)].rare
        count = Int(index)
        if !recorded.isEmpty { forgetArguments() }
        if !results.isEmpty { forgetResults() }
    }

    @inline(never)
    private mutating func forgetArguments() {
        while let last = recorded.last, last.node >= count { recorded.removeLast() }
    }

    /// All that ended since the node began belong to it, or to those after it.
    @inline(never)
    private mutating func forgetResults() {
        while let last = results.last, last.node >= count {
            resultPlaces[last.node] = nil
            results.removeLast()
        }
    }

    // MARK: Sorting

    /// Passes node indices in pre-order, with siblings ordered by time, the longest first, and equal leaf siblings folded into
    /// the first of them, until `body` returns false.
    ///
    /// - Complexity: O(n log n).
    mutating func forEachByTime(
        folding: Bool, measure: TimeKind = .total, tellsMemory: Bool = false, _ body: (NodeArena, Int) -> Bool
    ) {
        // Folding adds rare times, for which the memory may move, and whoever else has this arena frees what that has.
        let shared = rares
        rares = GrowingMemory<RareTimes>(capacity: Int(usedRares))
        rares.start.update(from: shared.start, count: Int(usedRares))
        defer {
            rares.free()
            rares = shared
        }
        // By node: the index after the last node below it.
        let ends = GrowingMemory<UInt32>(capacity: max(count, 1))
        defer { ends.free() }
        var ancestors: [Int] = []
        for index in 0..<count {
            while let last = ancestors.last, nodes[last].depth >= nodes[index].depth {
                ends.start[last] = UInt32(index)
                ancestors.removeLast()
            }
            ancestors.append(index)
        }
        for index in ancestors { ends.start[index] = UInt32(count) }
        // Siblings that are still to be passed, the shortest first.
        var pending: [UInt32] = []
        addSiblings(0..<count, ends.start, folding, measure, tellsMemory, to: &pending)
        while let next = pending.popLast() {
            if !body(self, Int(next)) { return }
            let below = Int(next) + 1..<Int(ends.start[Int(next)])
            addSiblings(below, ends.start, folding, measure, tellsMemory, to: &pending)
        }
    }

    /// Adds the outermost calls of `range`, shortest first.
    private mutating func addSiblings(
        _ range: Range<Int>, _ ends: UnsafeMutablePointer<UInt32>, _ folds: Bool, _ measure: TimeKind,
        _ tellsMemory: Bool, to pending: inout [UInt32]
    ) {
        let before = pending.count
        var leaves: [UInt64: Int] = [:]
        var index = range.lowerBound
        while index < range.upperBound {
            defer { index = Int(ends[index]) }
            let node = nodes[index]
            let isFoldable =
                folds && Int(ends[index]) == index + 1 && node.state == .complete && !node.isInherited
                && !node.isEvent
            if isFoldable, let first = leaves[node.address], haveEqualValues(first, index) {
                fold(index, into: first)
                if tellsMemory { memories.start[first].add(memories.start[index]) }
                continue
            }
            if isFoldable { leaves[node.address] = index }
            pending.append(UInt32(index))
        }
        if measure == .total {
            pending[before...].sort { (nodes[Int($0)].total, $1) < (nodes[Int($1)].total, $0) }
        } else {
            pending[before...].sort { (cost($0, measure), $1) < (cost($1, measure), $0) }
        }
    }

    private func cost(_ index: UInt32, _ measure: TimeKind) -> UInt64 {
        let node = nodes[Int(index)]
        return node.isEvent ? 0 : measure.part(of: node.total, rareTimes(Int(index)).offCPU)
    }

    private mutating func fold(_ index: Int, into first: Int) {
        let node = nodes[index]
        nodes[first].calls &+= node.calls
        nodes[first].total &+= node.total
        nodes[first].selfTime &+= node.selfTime
        guard node.rare != 0 else { return }
        if nodes[first].rare == 0 { nodes[first].rare = add(RareTimes()) }
        let sum = rares.start + Int(nodes[first].rare)
        sum.pointee.offCPU.add(rareTimes(index).offCPU)
        sum.pointee.hidden.add(rareTimes(index).hidden)
        sum.pointee.dropped.add(rareTimes(index).dropped)
    }
}
