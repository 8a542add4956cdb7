public import TraceFile

/// What is added up over the calls of one call path. Times in ns.
public struct CallPathSums: BitwiseCopyable, Sendable, Equatable {
    /// Calls that were entered in the recording. Calls that were entered before a fork count where they were entered.
    public var calls: UInt64 = 0
    /// Inclusive time.
    public var total: UInt64 = 0
    /// Exclusive time, without the time of callees that were left out.
    public var selfTime: UInt64 = 0
    /// Shortest and longest call; `.max` and 0 when there is none.
    public var minimum: UInt64 = .max
    public var maximum: UInt64 = 0
    /// The shortest call that has ended, where others still go on and count as long as they have been open: `.max` for none. nil where
    /// all have ended, so that it is `minimum`.
    public var shortestEnded: UInt64?
    /// When the first call began and the last one ended, in ns since the session's start.
    public var firstStart: UInt64 = .max
    public var lastEnd: UInt64 = 0
    /// The part of `total` that belongs to calls entered before a fork, or before recording was started, ...
    public var inherited: UInt64 = 0
    /// ... and the number of those calls.
    public var inheritedCalls: UInt64 = 0
    /// Callees that the record options left out.
    public var dropped = CallSum()
    /// What a correction took off `total`.
    public var taken: UInt64 = 0
    /// The part of `total` in which threads had no CPU; 0 where that was not recorded.
    public var offCPU = OffCPUTimes()
    /// How long its calls waited, in ns.
    public var blocked: UInt64 { offCPU.within(total).blocked }
    /// What the path's function itself did with memory, and what it and its callees did; 0 where that was not recorded.
    public var selfMemory = MemorySums()
    public var memory = MemorySums()

    public init() {}

    /// Whether its times tell more about the function than about the hooks.
    public var isReliable: Bool {
        calls == 0 || (total &- inherited &+ calls / 2) / calls >= AggregateRow.reliableAverage
    }

    mutating func add(_ other: CallPathSums) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        if shortestEnded != nil || other.shortestEnded != nil {
            shortestEnded = min(shortestEnded ?? minimum, other.shortestEnded ?? other.minimum)
        }
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        firstStart = min(firstStart, other.firstStart)
        lastEnd = max(lastEnd, other.lastEnd)
        inherited &+= other.inherited
        inheritedCalls &+= other.inheritedCalls
        dropped.add(other.dropped)
        taken &+= other.taken
        offCPU.add(other.offCPU)
        selfMemory.add(other.selfMemory)
        memory.add(other.memory)
    }
}
