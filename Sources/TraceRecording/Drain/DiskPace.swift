/// Whether the disk takes finished chunks as fast as programs fill them.
///
/// The page cache takes what a slow disk does not take yet, and buffers are not to be its stand-in: fresh ones cost the
/// traced threads time. So when much is waiting because of the disk, chunks go through the page cache for a while, and
/// longer each time.
struct DiskPace {
    private var looked: UInt64
    private var resumption: UInt64 = 0
    private var rest = DiskPace.rests.lowerBound

    /// The most bytes that may wait.
    static let most: UInt64 = 16 << 20
    /// How long the disk is left to the page cache. Nanoseconds.
    static let rests: ClosedRange<UInt64> = 250_000_000...64_000_000_000

    /// - Parameter now: in nanoseconds.
    init(at now: UInt64) { looked = now }

    /// - Parameters:
    ///   - waiting: the bytes of the finished chunks.
    ///   - waited: the nanoseconds since the last look that were spent waiting for the disk. When they are less than half
    ///     of the time, something else keeps chunks waiting.
    ///   - now: in nanoseconds.
    mutating func keepsUp(waiting: UInt64, waited: UInt64, at now: UInt64) -> Bool {
        defer { looked = now }
        if now < resumption { return false }
        if waiting <= Self.most || waited < (now - looked) / 2 { return true }
        resumption = now + rest
        rest = min(rest * 2, Self.rests.upperBound)
        return false
    }
}
