public import TraceFile

/// The sums of a row over the paths that belong to it. Times in ns.
public struct RowSums: BitwiseCopyable, Sendable, Equatable {
    /// Calls that were entered in the recording. A call counts in the process that made it, and not again in a fork's
    /// child.
    public var calls: UInt64 = 0
    /// Inclusive time. The time of a call within another call of the same row is already part of that call's time.
    public var total: UInt64 = 0
    /// Exclusive time.
    public var selfTime: UInt64 = 0
    /// The part of `total` in calls that were already open when their process was forked or recording was started. They
    /// are in neither `calls` nor `durations`: without recursion, `durations` is `total` less this.
    public var inherited: UInt64 = 0
    /// How many calls those are, including calls within calls.
    public var inheritedCalls: UInt64 = 0
    /// The part of `total` in which Swift's tasks did not run.
    public var suspended: UInt64 = 0
    /// The shortest call and, below, the longest; `.max` and 0 when there is no call.
    public var minimum: UInt64 = .max
    public var maximum: UInt64 = 0
    /// The time of the calls that count, including calls within calls, and what a correction took off it.
    public var durations: UInt64 = 0
    public var taken: UInt64 = 0
    /// Callees that the record options left out.
    public var dropped = CallSum()
    /// The parts of `total` and of `selfTime` in which threads had no CPU.
    public var offCPU = OffCPUTimes()
    public var selfOffCPU = OffCPUTimes()
    /// What was done with memory directly, and, below, in all: what a call within another call of the same row did is part of
    /// that call's.
    public var selfMemory = MemorySums()
    public var memory = MemorySums()

    public init() {}

    /// Adds path `index`, whose sums are `path`.
    ///
    /// - Parameters:
    ///   - isOutermost: no path above it belongs to the row. Otherwise its time is part of theirs.
    ///   - waits: of all paths.
    mutating func add(_ path: CallPathSums, isOutermost: Bool, _ waits: PathWaits, _ index: Int) {
        add(path, isOutermost: isOutermost)
        selfOffCPU.add(waits.own(index))
        if isOutermost { suspended &+= waits.suspended(index) }
    }

    /// Adds a path of which it is not known by itself how long it waited.
    mutating func add(_ path: CallPathSums, isOutermost: Bool) {
        calls &+= path.calls
        selfTime &+= path.selfTime
        inheritedCalls &+= path.inheritedCalls
        minimum = min(minimum, path.minimum)
        maximum = max(maximum, path.maximum)
        durations &+= path.total &- path.inherited
        taken &+= path.taken
        dropped.add(path.dropped)
        selfMemory.add(path.selfMemory)
        guard isOutermost else { return }
        memory.add(path.memory)
        total &+= path.total
        inherited &+= path.inherited
        offCPU.add(path.offCPU)
    }

    public mutating func add(_ other: RowSums) {
        calls &+= other.calls
        total &+= other.total
        selfTime &+= other.selfTime
        inherited &+= other.inherited
        inheritedCalls &+= other.inheritedCalls
        suspended &+= other.suspended
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        durations &+= other.durations
        taken &+= other.taken
        dropped.add(other.dropped)
        offCPU.add(other.offCPU)
        selfOffCPU.add(other.selfOffCPU)
        selfMemory.add(other.selfMemory)
        memory.add(other.memory)
    }
}
