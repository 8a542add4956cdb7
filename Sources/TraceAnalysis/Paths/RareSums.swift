internal import TraceFile

/// Sums that few paths have.
struct RareSums: BitwiseCopyable, Equatable {
    /// The part of the number of calls that does not fit into 32 bits.
    var calls: UInt64 = 0
    var shortestEnded: UInt64?
    var inherited: UInt64 = 0
    var inheritedCalls: UInt64 = 0
    var dropped = CallSum()
    var taken: UInt64 = 0
    var offCPU = OffCPUTimes()
    var selfMemory = MemorySums()
    var memory = MemorySums()
}
