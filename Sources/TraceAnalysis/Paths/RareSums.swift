/// Sums that few paths have.
struct RareSums: BitwiseCopyable, Equatable {
    /// Of the number of calls, what does not fit into 32 bits.
    var calls: UInt64 = 0
    var inherited: UInt64 = 0
    var inheritedCalls: UInt64 = 0
    var dropped = CallSum()
    var taken: UInt64 = 0
}
