public import TraceFormat

/// One line of a call tree: a call, or equal neighbouring leaf calls folded into one.
public struct TreeCall {
    /// Id in the ``FunctionTable``.
    public var function: UInt32
    /// Address the call was made from, in memory; 0 when unknown.
    public var callSite: UInt64
    /// When the first call was entered, by the session's clock.
    public var enterTicks: UInt64
    /// ns since the session's start, of the first call, in the thread's own time: without what the tracer took of it.
    public var start: UInt64
    /// Inclusive time in ns, of all calls on the line.
    public var total: UInt64
    /// Exclusive time in ns.
    public var selfTime: UInt64
    /// The part of `total` in which a Swift task did not run, in ns; 0 for what stands for such time itself.
    public var suspended: UInt64
    /// 1, or how many calls were folded; 0 for one that was entered before a fork.
    public var calls: UInt64
    /// As shown: roots are depth 0.
    public var depth: UInt32
    public var state: CallState
    public var isInherited: Bool
    /// Calls below this one that the filter's depth or cost hides: how many, and the time of the outermost of them.
    public var hidden: CallSum
    /// Callees that the record options left out.
    public var dropped: CallSum
}

/// A number of calls and their time in ns.
public struct CallSum: BitwiseCopyable, Sendable, Equatable {
    public var calls: UInt64 = 0
    public var time: UInt64 = 0

    public init(calls: UInt64 = 0, time: UInt64 = 0) {
        self.calls = calls
        self.time = time
    }

    @inline(__always)
    public mutating func add(_ other: CallSum) {
        calls &+= other.calls
        time &+= other.time
    }
}

/// A moment between the lines of a call tree: a mark, or a counter's value.
public struct TreeEvent {
    public var name: String
    /// Of a counter; nil: a mark.
    public var value: Double?
    /// ns since the session's start, in the thread's own time.
    public var moment: UInt64
    /// Of the calls it stands between.
    public var depth: UInt32
}

/// Receives a call tree in pre-order.
public protocol TreeVisitor {
    /// Whether more is to be shown; asked before every call.
    var wantsMore: Bool { get }
    mutating func begin(_ process: TracedProcess)
    mutating func begin(_ thread: TracedThread, in space: AddressSpace)
    /// The roots that follow are of `lane`.
    mutating func begin(lane: UInt32)
    mutating func enter(_ call: TreeCall)
    /// Something happened between the calls.
    mutating func show(_ event: TreeEvent)
    /// The callees of `call` are through.
    mutating func leave(_ call: TreeCall)
    /// The lane's roots are through; `hidden` are those that the filter left out.
    mutating func endLane(hidden: CallSum)
    mutating func endThread()
    mutating func endProcess()
}

extension TreeVisitor {
    public mutating func show(_ event: TreeEvent) {}
}
