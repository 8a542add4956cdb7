internal import TraceFile

/// Turns tree nodes in pre-order into a visitor's enters and leaves, and folds neighbouring leaf calls that repeat.
struct TreeEmitter<Visitor: TreeVisitor> {
    private(set) var visitor: Visitor
    private let folds: Bool
    private let space: AddressSpace
    /// Whether it is known when the thread had no CPU.
    var splits = false
    /// Whether it is known what calls did with memory.
    var tellsMemory = false {
        didSet { leaves.tellsMemory = tellsMemory }
    }
    /// Calls that were entered and not left.
    private var ancestors: [TreeCall] = []
    /// The latest leaf calls, which may still become one line with the next.
    private var leaves: LeafFold
    /// The call that was added last. Only the next one shows whether it is a leaf.
    private var latest: TreeCall?
    /// What it did with memory.
    private var latestMemory = MemorySums()

    init(_ visitor: Visitor, layout: TreeLayout, space: AddressSpace) {
        self.visitor = visitor
        self.folds = layout.folds
        self.space = space
        leaves = LeafFold(findsTurns: layout.order == .time)
    }

    /// Adds the nodes of `arena`; false when the visitor wants no more.
    mutating func add(_ arena: NodeArena) -> Bool {
        for index in 0..<arena.count where !add(arena, index) { return false }
        return true
    }

    /// Adds a node of `arena`; false when the visitor wants no more.
    @inline(__always)
    mutating func add(_ arena: NodeArena, _ index: Int) -> Bool {
        guard visitor.wantsMore else { return false }
        let node = arena.nodes[index]
        if node.isSkipped { return true }
        let rare = arena.rareTimes(index)
        if node.isEvent {
            show(node, value: rare.value)
            return true
        }
        let call = TreeCall(
            function: space.function(at: node.address, ticks: node.enterTicks), callSite: node.callSite,
            enterTicks: node.enterTicks, start: node.start, total: node.total, selfTime: node.selfTime,
            suspended: rare.suspended, offCPU: splits ? rare.offCPU : nil,
            calls: UInt64(node.calls), depth: node.depth,
            state: node.state, isInherited: node.isInherited, isByTurns: false, hidden: rare.hidden,
            dropped: rare.dropped,
            arguments: arena.arguments(index), result: arena.result(index))
        moveOn(to: call.depth)
        latest = call
        if tellsMemory { latestMemory = arena.memory(index) }
        return true
    }

    private mutating func show(_ event: TreeNode, value: Double?) {
        moveOn(to: event.depth)
        latest = nil
        showLeaves()
        guard visitor.wantsMore else { return }
        visitor.show(
            TreeEvent(
                name: space.name(UInt32(truncatingIfNeeded: event.address)), value: value, moment: event.start,
                depth: event.depth))
    }

    /// The next line is at `depth`: either below the latest call, or after it and after all calls that are at least as
    /// deep.
    private mutating func moveOn(to depth: UInt32) {
        guard let latest, depth > latest.depth else {
            if let latest { settle(latest) }
            leave(downTo: depth)
            return
        }
        showLeaves()
        if tellsMemory { visitor.tell(latestMemory) }
        visitor.enter(latest)
        ancestors.append(latest)
    }

    mutating func finish() {
        if let latest { settle(latest) }
        latest = nil
        leave(downTo: 0)
        showLeaves()
    }

    mutating func pause() { visitor.pause() }
    mutating func beginThread(_ thread: TracedThread) { visitor.begin(thread, in: space) }
    mutating func begin(lane: UInt32) { visitor.begin(lane: lane) }
    mutating func endLane(hidden: CallSum) { visitor.endLane(hidden: hidden) }
    mutating func endThread() { visitor.endThread() }

    private mutating func settle(_ leaf: TreeCall) {
        if folds, leaf.calls == 1, leaf.state == .complete {
            return leaves.add(leaf, latestMemory, showingTo: &visitor)
        }
        showLeaves()
        guard visitor.wantsMore else { return }
        if tellsMemory { visitor.tell(latestMemory) }
        visitor.enter(leaf)
        visitor.leave(leaf)
    }

    private mutating func leave(downTo depth: UInt32) {
        while let last = ancestors.last, last.depth >= depth {
            showLeaves()
            visitor.leave(last)
            ancestors.removeLast()
        }
    }

    private mutating func showLeaves() { leaves.finish(showingTo: &visitor) }
}
