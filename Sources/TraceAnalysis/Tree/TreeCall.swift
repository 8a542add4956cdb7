public import TraceFile

/// One line of a call tree: a call, or leaf calls of one function that repeat beside each other.
public struct TreeCall {
    /// Id in the ``FunctionTable``.
    public var function: UInt32
    /// Address the call was made from, in memory; 0 when unknown.
    public var callSite: UInt64
    /// When the first call was entered, by the session's clock.
    public var enterTicks: UInt64
    /// When the first call began, in ns since the session's start, in the thread's own time, which leaves out the
    /// tracer's time.
    public var start: UInt64
    /// Inclusive time in ns, of all calls on the line.
    public var total: UInt64
    /// Exclusive time in ns.
    public var selfTime: UInt64
    /// The part of `total` in which a Swift task did not run, in ns; 0 for a line that stands for such time itself.
    public var suspended: UInt64
    /// The part of `total` in which the thread had no CPU; nil when that was not recorded.
    public var offCPU: OffCPUTimes?
    /// The number of calls: 1, or how many were folded; 0 for a call that was entered before a fork.
    public var calls: UInt64
    /// The depth in the tree that is shown. Roots are depth 0.
    public var depth: UInt32
    public var state: CallState
    public var isInherited: Bool
    /// Whether the line's calls were made by turns with those of the lines beside it.
    public var isByTurns: Bool
    /// The calls below this one that the filter's depth or cost hides: their number, and the time of the outermost of
    /// them.
    public var hidden: CallSum
    /// Callees that the record options left out.
    public var dropped: CallSum
    /// Calls with different arguments or results are never folded.
    public var arguments = RecordedArguments()
    public var result = RecordedArguments()
}
