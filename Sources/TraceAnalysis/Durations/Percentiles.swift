/// Durations in ns that a share of calls does not exceed.
public struct Percentiles: Sendable, Equatable {
    public var p50: UInt64 = 0
    public var p90: UInt64 = 0
    public var p99: UInt64 = 0
}
