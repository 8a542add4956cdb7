/// How many of some durations are in each bucket.
public struct DurationCounts: Sendable, Equatable {
    /// The buckets that are not empty, in order.
    fileprivate(set) var buckets: [(index: UInt16, count: UInt64)] = []

    public static func == (left: DurationCounts, right: DurationCounts) -> Bool {
        left.buckets.elementsEqual(right.buckets, by: ==)
    }

    init() {}

    /// - Parameter buckets: not empty, in order.
    init(_ buckets: [(index: UInt16, count: UInt64)]) { self.buckets = buckets }
}
