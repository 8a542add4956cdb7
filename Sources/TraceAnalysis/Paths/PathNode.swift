/// A call path and its sums, as they lie in memory. A node takes only 72 bytes, because there are many.
///
/// Sums that few paths have are kept elsewhere, in ``RareSums``.
struct PathNode: BitwiseCopyable {
    /// The function's number. The owner decides whether that numbers addresses or is an id in a ``FunctionTable``.
    var function: UInt32
    /// Number of the caller's node. In a ``CallPathTree``, it is the index of the caller's path as `Int32`.
    var parent: UInt32
    /// The callee that was looked up last, which is most likely the next one too. In a ``CallPathTree``, it is the
    /// path's end.
    var link: UInt32 = 0
    /// Number of its histogram in the owner's histograms; 0 when it has none.
    var histogram: UInt32 = 0
    /// The number of calls, without the part that is in `rare`.
    var lowCalls: UInt32 = 0
    /// Number of its rare sums; 0 when all of them are 0.
    var rare: UInt32 = 0
    var total: UInt64 = 0
    var selfTime: UInt64 = 0
    var minimum: UInt64 = .max
    var maximum: UInt64 = 0
    var firstStart: UInt64 = .max
    var lastEnd: UInt64 = 0

    init(function: UInt32, parent: UInt32) {
        self.function = function
        self.parent = parent
    }

    /// Returns the sums of the path's calls.
    @inline(__always)
    func sums(_ rares: RareSumsArena) -> CallPathSums {
        var sums = CallPathSums()
        sums.calls = UInt64(lowCalls)
        sums.total = total
        sums.selfTime = selfTime
        sums.minimum = minimum
        sums.maximum = maximum
        sums.firstStart = firstStart
        sums.lastEnd = lastEnd
        if rare != 0 {
            let rest = rares[rare].pointee
            sums.calls &+= rest.calls
            sums.shortestEnded = rest.shortestEnded
            sums.inherited = rest.inherited
            sums.inheritedCalls = rest.inheritedCalls
            sums.dropped = rest.dropped
            sums.taken = rest.taken
            sums.offCPU = rest.offCPU
            sums.selfMemory = rest.selfMemory
            sums.memory = rest.memory
        }
        return sums
    }

    mutating func set(_ sums: CallPathSums, _ rares: inout RareSumsArena) {
        lowCalls = UInt32(truncatingIfNeeded: sums.calls)
        total = sums.total
        selfTime = sums.selfTime
        minimum = sums.minimum
        maximum = sums.maximum
        firstStart = sums.firstStart
        lastEnd = sums.lastEnd
        let rest = RareSums(
            calls: sums.calls &- UInt64(lowCalls), shortestEnded: sums.shortestEnded, inherited: sums.inherited,
            inheritedCalls: sums.inheritedCalls, dropped: sums.dropped, taken: sums.taken, offCPU: sums.offCPU,
            selfMemory: sums.selfMemory, memory: sums.memory)
        if rare != 0 || rest != RareSums() { rares.change(&rare) { $0.pointee = rest } }
    }
}
