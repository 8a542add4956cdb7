internal import TraceFile

/// A call of the tree while its place in the output is not yet settled. It takes only 64 bytes, because a tree that is sorted
/// by time has all its calls in memory. What few calls have is kept elsewhere, in ``RareTimes``.
struct TreeNode: BitwiseCopyable {
    var address: UInt64
    var callSite: UInt64
    var enterTicks: UInt64
    var start: UInt64
    var total: UInt64
    var selfTime: UInt64
    var depth: UInt32
    var calls: UInt32
    /// Number of its rare times in the owner's list; 0 when all of them are 0. Until the call has ended, it is the number of
    /// rare times that there were when it was entered.
    var rare: UInt32
    var state: CallState
    var isInherited: Bool
    /// Whether this is not a call, but something that happened at `start` and that `address` names.
    var isEvent: Bool
    /// Whether the filter hides it, which became known only after its place was taken.
    var isSkipped: Bool
}

/// What few calls of a tree have.
struct RareTimes: BitwiseCopyable {
    var suspended: UInt64 = 0
    var hidden = CallSum()
    var dropped = CallSum()
    var offCPU = OffCPUTimes()
    /// The value of a counter, if this is one.
    var value: Double?
}
