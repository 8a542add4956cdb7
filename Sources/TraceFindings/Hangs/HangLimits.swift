/// The limits of `fathom watch`: what takes too long, and how often it looks. Times are in ns.
public struct HangLimits: Sendable, Equatable {
    /// A call that takes longer is a hang.
    public var timeout: UInt64 = 2_000_000_000
    /// The time between two samples of the stacks.
    public var sample: UInt64 = 50_000_000
    /// In percent of each core.
    public var processorPercent = 80.0
    public var processorTime: UInt64 = 60_000_000_000
    /// Of a process with more threads, no paths are taken.
    public var threads = 64

    public init() {}

    /// The time between two looks at a hang that goes on, at first.
    public var interval: UInt64 { max(timeout / 2, sample) }
    /// How many sampled stacks are kept of a thread.
    public var ring: Int { Int(clamping: max(interval / max(sample, 1), 4)) }
    /// When so much time has passed between two looks, the watching process was stopped, too.
    public var longestPause: UInt64 { max(10_000_000_000, 20 * sample) }
}
