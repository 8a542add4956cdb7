internal import TraceFile

/// The chunks that the log had no room for, as when the disk is full. They stay in their slots until the log has room
/// again. The slots have room on the disk, because the threads took it before they wrote there. Readers look for chunks
/// in both places.
struct KeptChunks {
    /// What was counted of each chunk, by its slot.
    private var counted: [Int: Drain.Counted] = [:]

    var isEmpty: Bool { counted.isEmpty }

    /// The indices of the slots that hold the chunks.
    var slots: Set<Int> { Set(counted.keys) }

    func contains(_ slot: SharedBuffers.Slot) -> Bool { counted[slot.index] != nil }

    /// Forgets a slot's chunk, because it is written now or lost.
    ///
    /// - Returns: What was counted of the chunk; nil when it was not kept.
    mutating func remove(_ slot: SharedBuffers.Slot) -> Drain.Counted? { counted.removeValue(forKey: slot.index) }

    /// Keeps the first of the chunks that are to be written, because the log has no room for it. The next one may be smaller
    /// and fit, unless it was kept before: such chunks are kept again, and wait for more room.
    ///
    /// - Parameter chunks: is left with those that are to be tried now.
    mutating func keepFirst(of chunks: inout ArraySlice<Drain.Pending>) {
        guard let first = chunks.popFirst() else { return }
        for chunk in [first] + chunks.filter(\.wasKept) { counted[chunk.slot.index] = chunk.counted }
        chunks = chunks.filter { !$0.wasKept }[...]
    }
}
