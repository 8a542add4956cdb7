internal import TraceFile

/// What the open calls of a thread, with their callees, have done with memory so far.
///
/// It is apart from the calls themselves, because few recordings have it, and those that have not should not pay for it.
struct OpenMemory {
    /// The calls of the lane that runs, outermost first, and of the others.
    private var open: [MemorySums] = []
    private var parked: [UInt32: [MemorySums]] = [:]
    private var lane: UInt32 = 0

    mutating func enter() { open.append(MemorySums()) }

    /// What the innermost call did, which ends.
    mutating func exit() -> MemorySums {
        guard let sums = open.popLast() else { return MemorySums() }
        if !open.isEmpty { open[open.count - 1].add(sums) }
        return sums
    }

    /// The innermost call did this. What happens outside all calls belongs to none.
    mutating func add(_ block: RecordedBlock) {
        if !open.isEmpty { open[open.count - 1].add(block) }
    }

    mutating func run(lane: UInt32) {
        guard lane != self.lane else { return }
        parked[self.lane] = open
        open = parked.removeValue(forKey: lane) ?? []
        self.lane = lane
    }
}
