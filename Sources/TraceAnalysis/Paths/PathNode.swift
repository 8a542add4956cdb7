/// A call path and its sums, as they lie in memory: 72 bytes, because there are many.
///
/// What few paths have stands apart, in ``RareSums``.
struct PathNode: BitwiseCopyable {
    /// Whatever the owner takes for functions: ids of addresses, or ids in a ``FunctionTable``.
    var function: UInt32
    /// Number of the caller's node. Of a ``CallPathTree``, index of the caller's path as `Int32`.
    var parent: UInt32
    /// The callee looked up last: most likely the next one too. Of a ``CallPathTree``, the path's end.
    var link: UInt32 = 0
    /// Where the owner's histograms have it; 0 when it has none.
    var histogram: UInt32 = 0
    /// The number of calls without what is in `rare`.
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

    /// What is added up over its calls.
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
            sums.inherited = rest.inherited
            sums.inheritedCalls = rest.inheritedCalls
            sums.dropped = rest.dropped
            sums.taken = rest.taken
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
            calls: sums.calls &- UInt64(lowCalls), inherited: sums.inherited, inheritedCalls: sums.inheritedCalls,
            dropped: sums.dropped, taken: sums.taken)
        if rare != 0 || rest != RareSums() { rares.change(&rare) { $0.pointee = rest } }
    }
}
