/// How many calls took how long, to the ns.
///
/// Memory follows the number of different durations, not that of calls. Calls that do not overlap and take `t` ns together
/// have at most `√(2t)` different durations, because `d` different ones add up to at least `d²/2`: in an hour of a thread
/// that is 43 MB at worst, whatever it calls. Most of its calls repeat a few thousand. So ranks are exact, which those of
/// logarithmic buckets are not.
///
/// Open addressing with linear probing. The memory is freed by hand, because this is passed about in hot loops.
struct ExactDurations {
    private struct Entry: BitwiseCopyable {
        var duration: UInt64
        /// 0 marks an entry that is not used.
        var calls: UInt64
    }

    private var entries = GrowingMemory<Entry>(capacity: 64)
    private var used = 0

    func free() { entries.free() }

    /// - Complexity: O(1), amortised.
    @inline(__always)
    mutating func add(_ duration: UInt64, calls: UInt64 = 1) {
        let entry = entries.start + slot(of: duration)
        guard entry.pointee.calls == 0 else { return entry.pointee.calls &+= calls }
        insert(duration, calls: calls, at: entry)
    }

    @inline(never)
    private mutating func insert(_ duration: UInt64, calls: UInt64, at entry: UnsafeMutablePointer<Entry>) {
        entry.pointee = Entry(duration: duration, calls: calls)
        used += 1
        if used * 2 > entries.capacity { grow() }
    }

    mutating func add(_ other: ExactDurations) {
        for (duration, calls) in other.counts { add(duration, calls: calls) }
    }

    /// How many calls took exactly this long.
    func calls(of duration: UInt64) -> UInt64 { entries.start[slot(of: duration)].calls }

    /// The durations, in no order.
    var counts: some Sequence<(duration: UInt64, calls: UInt64)> {
        (0..<entries.capacity).lazy.map { entries.start[$0] }.filter { $0.calls > 0 }
            .map { ($0.duration, $0.calls) }
    }

    /// Where `duration` is, or is to be.
    @inline(__always)
    private func slot(of duration: UInt64) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
        let hash = duration &* 0x9e37_79b9_7f4a_7c15
        var slot = Int(truncatingIfNeeded: hash &>> 32) & (entries.capacity &- 1)
        while entries.start[slot].calls != 0, entries.start[slot].duration != duration {
            slot = (slot &+ 1) & (entries.capacity &- 1)
        }
        return slot
    }

    private mutating func grow() {
        let old = entries
        entries = GrowingMemory(capacity: old.capacity * 2)
        for index in 0..<old.capacity where old.start[index].calls > 0 {
            (entries.start + slot(of: old.start[index].duration)).pointee = old.start[index]
        }
        old.free()
    }
}
