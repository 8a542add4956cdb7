/// What lies below a call of a function, path by path, until the call ends and it is known what to do with it.
///
/// The memory is used again for the next call, and freed by hand.
struct PendingCall {
    private(set) var times = PathTimesList()
    /// The nodes that have times.
    private var touched = GrowingMemory<UInt32>(capacity: 16)
    private var count = 0
    /// Callees that the record options left out.
    var dropped = CallSum()
    /// The last mark before the call, and when that was; nil when there was none.
    var mark: (name: UInt32, moment: UInt64)?

    func free() {
        times.free()
        touched.free()
    }

    @inline(__always)
    mutating func add(total: UInt64, own: UInt64, to node: UInt32) {
        let place = times.place(node)
        if place.pointee.calls == 0 { touch(node) }
        place.pointee.calls &+= 1
        place.pointee.total &+= total
        place.pointee.own &+= own
    }

    @inline(__always)
    private mutating func touch(_ node: UInt32) {
        touched.reserve(count)
        touched.start[count] = node
        count += 1
    }

    /// The nodes that have times.
    var nodes: UnsafeBufferPointer<UInt32> { UnsafeBufferPointer(start: touched.start, count: count) }

    mutating func clear() {
        for node in nodes { times.place(node).pointee = PathTimes() }
        count = 0
        dropped = CallSum()
        mark = nil
    }
}
