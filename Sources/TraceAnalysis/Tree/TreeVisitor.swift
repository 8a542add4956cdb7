public import TraceFile

/// Receives a call tree in pre-order.
public protocol TreeVisitor {
    /// Whether more is to be shown. This is asked before every call.
    var wantsMore: Bool { get }
    mutating func begin(_ process: TracedProcess)
    mutating func begin(_ thread: TracedThread, in space: AddressSpace)
    /// The roots that follow are of `lane`.
    mutating func begin(lane: UInt32)
    /// What the calls of the line that is entered next, and their callees, did with memory. It is told where it is asked for
    /// (``TreeLayout/tellsMemory``) and was recorded, without which blocks are live. It is no part of ``TreeCall``, whose size
    /// counts where lines are many.
    mutating func tell(_ memory: MemorySums)
    mutating func enter(_ call: TreeCall)
    /// Something happened between the calls.
    mutating func show(_ event: TreeEvent)
    /// All callees of `call` were shown.
    mutating func leave(_ call: TreeCall)
    /// What was shown is final, and what follows may take a while, because more of the recording is to be read for it.
    mutating func pause()
    /// All roots of the lane were shown. `hidden` are those that the filter left out.
    mutating func endLane(hidden: CallSum)
    mutating func endThread()
    mutating func endProcess()
}

extension TreeVisitor {
    public mutating func show(_ event: TreeEvent) {}
    public mutating func tell(_ memory: MemorySums) {}
    public mutating func pause() {}
}

/// A tree as somebody reads it.
public protocol TreePage: TreeVisitor {
    /// Whether no call was to be shown, once all has been.
    var isEmpty: Bool { get }
    /// Writes what stands below the tree.
    mutating func finish()
}
