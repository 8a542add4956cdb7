/// A call of the tree while its place in the output is not yet settled.
struct TreeNode: BitwiseCopyable {
    var address: UInt64
    var callSite: UInt64
    var enterTicks: UInt64
    var start: UInt64
    var total: UInt64
    var selfTime: UInt64
    var suspended: UInt64
    var hidden: CallSum
    var dropped: CallSum
    var calls: UInt64
    var depth: UInt32
    var state: CallState
    var isInherited: Bool
    /// Whether this is not a call, but something that happened at `start` and that `address` names.
    var isEvent: Bool
    /// The value of a counter, if this is one.
    var value: Double?
    /// Whether the filter hides it, which became known only after its place was taken.
    var isSkipped: Bool

    /// Takes over what became of the call.
    @inline(__always)
    mutating func end(_ outcome: TreeBuilder.Outcome) {
        total = outcome.total
        selfTime = outcome.selfTime
        suspended = outcome.suspended
        hidden = outcome.hidden
        dropped = outcome.dropped
        state = outcome.state
        isSkipped = !outcome.isShown
    }
}

extension TreeNode {
    mutating func fold(_ other: TreeNode) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        hidden.add(other.hidden)
        dropped.add(other.dropped)
    }
}
