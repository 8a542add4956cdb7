public import TraceAnalysis

/// What the calls of one function or path add up to in one run. Times in ns; 0 where they were not kept.
public struct SubjectSums: Sendable, Equatable {
    public var calls: UInt64 = 0
    /// Inclusive time; a call within another call of the same subject is part of that one.
    public var total: UInt64 = 0
    /// Exclusive time.
    public var selfTime: UInt64 = 0
    /// The shortest and the longest call; 0 when there is none.
    public var minimum: UInt64 = 0
    public var maximum: UInt64 = 0
    /// ``CallPathSums/shortestEnded``, which a run that has ended, and so a history, does not have.
    var shortestEnded: UInt64?
    /// The part of `total` in which threads had no CPU, if that was recorded.
    public var blocked: UInt64 = 0
    public var runnable: UInt64 = 0
    /// How long the calls took; empty for up to two calls, because the shortest and the longest are all there are.
    public var durations = DurationCounts()

    public init() {}

    /// Adds how long the calls took to `reader`.
    func addDurations(to reader: inout DurationReader) {
        guard calls > 0 else { return }
        if !durations.isEmpty { return reader.add(durations, within: minimum...maximum) }
        reader.add(minimum)
        if calls > 1 { reader.add(maximum) }
    }
}
