/// What is added up over the calls of one call path. Times in ns.
public struct CallPathSums: BitwiseCopyable, Sendable, Equatable {
    /// Calls that were entered in the recording; those entered before a fork count where they were entered.
    public var calls: UInt64 = 0
    /// Inclusive time.
    public var total: UInt64 = 0
    /// Exclusive time, without that of callees that were left out.
    public var selfTime: UInt64 = 0
    /// Shortest and longest call; `.max` and 0 when there is none.
    public var minimum: UInt64 = .max
    public var maximum: UInt64 = 0
    /// When the first began and the last ended, since the session's start.
    public var firstStart: UInt64 = .max
    public var lastEnd: UInt64 = 0
    /// The part of `total` that belongs to calls entered before a fork.
    public var inherited: UInt64 = 0
    /// Callees that the record options left out.
    public var dropped = CallSum()
    /// What a correction took off `total`.
    public var taken: UInt64 = 0

    public init() {}

    /// Whether its times say more of the function than of the hooks.
    public var isReliable: Bool {
        calls == 0 || (total &- inherited &+ calls / 2) / calls >= AggregateRow.reliableAverage
    }

    mutating func add(_ other: CallPathSums) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        firstStart = min(firstStart, other.firstStart)
        lastEnd = max(lastEnd, other.lastEnd)
        inherited &+= other.inherited
        dropped.add(other.dropped)
        taken &+= other.taken
    }
}

/// Call paths while they are being added up: each known by its caller's path and a function, callers before callees.
///
/// Node 0 is no call; the roots hang from it. Memory is freed by hand: this is passed about in hot loops.
struct CallPathTable {
    struct Node: BitwiseCopyable {
        /// The function: an address in memory or a dense id, as the owner has it.
        var key: UInt64
        /// Tells apart what an address means at different times.
        var epoch: UInt32
        var parent: UInt32
        /// The callee looked up last: most likely the next one too.
        var recent: UInt32 = 0
        var histogram: UInt32 = 0
        var sums = CallPathSums()
    }

    private(set) var nodes: UnsafeMutablePointer<Node>
    private(set) var count = 1
    private var capacity = 256
    /// Node numbers by hash of parent, key and epoch, with linear probing; 0 is empty. Twice as many as nodes.
    private var slots: UnsafeMutablePointer<UInt32>
    var histograms = HistogramArena()

    init() {
        nodes = .allocate(capacity: capacity)
        nodes.initialize(to: Node(key: .max, epoch: .max, parent: 0))
        slots = .allocate(capacity: capacity * 2)
        slots.initialize(repeating: 0, count: capacity * 2)
    }

    func free() {
        freeNodes()
        histograms.free()
    }

    /// Frees all but the histograms.
    func freeNodes() {
        nodes.deallocate()
        slots.deallocate()
    }

    /// The node of `key` called by `parent`.
    ///
    /// - Complexity: O(1), amortised.
    @inline(__always)
    mutating func callee(of parent: UInt32, key: UInt64, epoch: UInt32) -> UInt32 {
        let recent = nodes[Int(parent)].recent
        if nodes[Int(recent)].key == key, nodes[Int(recent)].epoch == epoch, recent != 0 { return recent }
        return lookUp(parent, key, epoch)
    }

    @inline(never)
    private mutating func lookUp(_ parent: UInt32, _ key: UInt64, _ epoch: UInt32) -> UInt32 {
        var slot = self.slot(parent, key, epoch)
        while slots[slot] != 0 {
            let index = slots[slot]
            let node = nodes + Int(index)
            if node.pointee.parent == parent, node.pointee.key == key, node.pointee.epoch == epoch {
                nodes[Int(parent)].recent = index
                return index
            }
            slot = (slot + 1) & (capacity * 2 - 1)
        }
        let index = UInt32(count)
        (nodes + count).initialize(to: Node(key: key, epoch: epoch, parent: parent))
        slots[slot] = index
        count += 1
        nodes[Int(parent)].recent = index
        if count == capacity { grow() }
        return index
    }

    private func slot(_ parent: UInt32, _ key: UInt64, _ epoch: UInt32) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4), once for each half of the key.
        let mixed = (key ^ UInt64(epoch) << 48) &* 0x9e37_79b9_7f4a_7c15
        let hash = (mixed ^ mixed >> 32 ^ UInt64(parent)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: hash >> 32) & (capacity * 2 - 1)
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: nodes, count: count)
        freeNodes()
        nodes = larger
        capacity *= 2
        slots = .allocate(capacity: capacity * 2)
        slots.initialize(repeating: 0, count: capacity * 2)
        for index in 1..<count {
            var slot = self.slot(nodes[index].parent, nodes[index].key, nodes[index].epoch)
            while slots[slot] != 0 { slot = (slot + 1) & (capacity * 2 - 1) }
            slots[slot] = UInt32(index)
        }
    }

    /// Adds a path's sums and its histogram, which lies in `arena`, to `node`.
    mutating func add(_ sums: CallPathSums, _ histogram: UInt32, in arena: HistogramArena, to node: UInt32) {
        nodes[Int(node)].sums.add(sums)
        histograms.add(arena, histogram, to: &nodes[Int(node)].histogram)
    }
}
