/// What a row adds up of the paths that belong to it. Times in ns.
public struct RowSums: BitwiseCopyable, Sendable, Equatable {
    /// Those that were entered in the recording: a call counts in the process that made it, not again in a fork's child.
    public var calls: UInt64 = 0
    /// Inclusive time. A call within another of the same row is part of that one's time already.
    public var total: UInt64 = 0
    /// Exclusive time.
    public var selfTime: UInt64 = 0
    /// The part of `total` in calls that were open already when their process was forked or recording was started. They are in
    /// neither `calls` nor `durations`: without recursion, those are `total` less this.
    public var inherited: UInt64 = 0
    /// How many calls those are, calls within calls included.
    public var inheritedCalls: UInt64 = 0
    /// The part of `total` in which Swift's tasks did not run.
    public var suspended: UInt64 = 0
    /// `.max` and 0 when there is no call.
    public var minimum: UInt64 = .max
    public var maximum: UInt64 = 0
    /// Time of the calls that count, calls within calls included, and what a correction took off it.
    public var durations: UInt64 = 0
    public var taken: UInt64 = 0
    /// Callees that the record options left out.
    public var dropped = CallSum()

    public init() {}

    /// Adds a path.
    ///
    /// - Parameter isOutermost: no path above it belongs to the row; then its time is not part of theirs.
    mutating func add(_ path: CallPathSums, isOutermost: Bool, suspended: UInt64) {
        calls &+= path.calls
        selfTime &+= path.selfTime
        inheritedCalls &+= path.inheritedCalls
        minimum = min(minimum, path.minimum)
        maximum = max(maximum, path.maximum)
        durations &+= path.total &- path.inherited
        taken &+= path.taken
        dropped.add(path.dropped)
        guard isOutermost else { return }
        total &+= path.total
        inherited &+= path.inherited
        self.suspended &+= suspended
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
    }
}
