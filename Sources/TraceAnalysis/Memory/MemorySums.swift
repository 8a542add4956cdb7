internal import TraceFile

/// What calls have done with memory: what they allocated, and their page faults.
public struct MemorySums: BitwiseCopyable, Sendable, Equatable {
    /// Blocks that were allocated. One that was resized counts once more.
    public var allocations: UInt64 = 0
    /// Their bytes, as the program asked for them.
    public var bytes: UInt64 = 0
    /// Blocks of these that were not freed when the recording ended, and their bytes.
    public var liveBlocks: UInt64 = 0
    public var live: UInt64 = 0
    /// Page faults: those for pages that were in memory or are new, and those for pages that were read.
    public var minorFaults: UInt64 = 0
    public var majorFaults: UInt64 = 0

    public init() {}

    public var isZero: Bool { allocations | minorFaults | majorFaults == 0 }

    mutating func add(_ other: MemorySums) {
        allocations &+= other.allocations
        bytes &+= other.bytes
        liveBlocks &+= other.liveBlocks
        live &+= other.live
        minorFaults &+= other.minorFaults
        majorFaults &+= other.majorFaults
    }

    /// Adds what happened to memory. What was freed takes nothing away.
    mutating func add(_ block: RecordedBlock) {
        switch block.kind {
        case .allocated, .mapped:
            allocations &+= 1
            bytes &+= block.size
        case .minorFault: minorFaults &+= 1
        case .majorFault: majorFaults &+= 1
        case .freed, .unmapped: break
        }
    }

    /// Which of its numbers a view shows.
    public enum Measure: Sendable {
        case bytes, live, minorFaults, majorFaults
    }

    func value(_ measure: Measure) -> UInt64 {
        switch measure {
        case .bytes: bytes
        case .live: live
        case .minorFaults: minorFaults
        case .majorFaults: majorFaults
        }
    }
}
