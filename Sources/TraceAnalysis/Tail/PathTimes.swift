/// What some calls of one call path add up to, times in ns.
struct PathTimes: BitwiseCopyable {
    var calls: UInt64 = 0
    var total: UInt64 = 0
    /// Time that is in no callee, with that of callees which the record options left out.
    var own: UInt64 = 0

    @inline(__always)
    mutating func add(_ other: PathTimes) {
        calls &+= other.calls
        total &+= other.total
        own &+= other.own
    }
}

/// Times by the number of a path's node. The memory is freed by hand.
struct PathTimesList {
    private var memory = GrowingMemory<PathTimes>(capacity: 16)
    /// Nodes below this have a value.
    private var count = 0

    func free() { memory.free() }

    subscript(node: UInt32) -> PathTimes { Int(node) < count ? memory.start[Int(node)] : PathTimes() }

    /// The times of a node, to be changed before anything else is done to the list.
    @inline(__always)
    mutating func place(_ node: UInt32) -> UnsafeMutablePointer<PathTimes> {
        if Int(node) >= count { grow(Int(node)) }
        return memory.start + Int(node)
    }

    @inline(never)
    private mutating func grow(_ node: Int) {
        memory.reserve(node)
        (memory.start + count).initialize(repeating: PathTimes(), count: memory.capacity - count)
        count = memory.capacity
    }
}
