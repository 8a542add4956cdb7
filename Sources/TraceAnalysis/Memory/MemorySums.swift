/// What memory calls have allocated.
public struct MemorySums: BitwiseCopyable, Sendable, Equatable {
    /// Blocks that were allocated. One that was resized counts once more.
    public var allocations: UInt64 = 0
    /// Their bytes, as the program asked for them.
    public var bytes: UInt64 = 0
    /// Blocks of these that were not freed when the recording ended, and their bytes.
    public var liveBlocks: UInt64 = 0
    public var live: UInt64 = 0

    public init() {}

    public var isZero: Bool { allocations == 0 }

    mutating func add(_ other: MemorySums) {
        allocations &+= other.allocations
        bytes &+= other.bytes
        liveBlocks &+= other.liveBlocks
        live &+= other.live
    }

    /// Which of its numbers a view shows.
    public enum Measure: Sendable {
        case bytes, live
    }

    func value(_ measure: Measure) -> UInt64 { measure == .bytes ? bytes : live }
}
