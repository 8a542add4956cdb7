/// How many of some durations are in each bucket.
public struct DurationCounts: Sendable, Equatable {
    /// The buckets that are not empty, in order.
    fileprivate(set) var buckets: [(index: UInt16, count: UInt64)] = []

    public static func == (left: DurationCounts, right: DurationCounts) -> Bool {
        left.buckets.elementsEqual(right.buckets, by: ==)
    }

    public init() {}

    /// - Parameter buckets: not empty, in order.
    init(_ buckets: [(index: UInt16, count: UInt64)]) { self.buckets = buckets }

    /// - Parameter pairs: numbers of buckets and how many durations are in each.
    /// - Returns: nil unless the buckets are in order, and all of them exist and are not empty.
    public init?(pairs: [(bucket: UInt16, count: UInt64)]) {
        guard zip(pairs, pairs.dropFirst()).allSatisfy({ $0.bucket < $1.bucket }),
            pairs.allSatisfy({ $0.bucket < Bucket.count && $0.count > 0 })
        else { return nil }
        buckets = pairs.map { ($0.bucket, $0.count) }
    }

    /// The buckets by number, in order, and how many durations are in each.
    public var pairs: [(bucket: UInt16, count: UInt64)] { buckets.map { ($0.index, $0.count) } }

    public var isEmpty: Bool { buckets.isEmpty }

    /// The least duration of a bucket, in ns: exact below 64 ns, and from there on 32 buckets to each doubling.
    public static func start(of bucket: UInt16) -> UInt64 {
        let index = UInt64(bucket)
        return index < 64 ? index : (32 + (index - 64) % 32) << ((index - 64) / 32 + 1)
    }
    /// The greatest duration of a bucket, in ns.
    public static func end(of bucket: UInt16) -> UInt64 {
        Int(bucket) + 1 < Bucket.count ? start(of: bucket + 1) - 1 : .max
    }

    /// The middle of a bucket, in ns, which is within 1.6 % of everything in it, and exact below 64 ns.
    public static func middle(of bucket: UInt16) -> UInt64 { Bucket.middle(of: Int(bucket)) }
}
