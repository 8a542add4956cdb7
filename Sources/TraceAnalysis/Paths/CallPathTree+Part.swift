internal import TraceFile

extension CallPathTree {
    /// The same paths with one part of their times in place of the whole. A path's own part is what its callees do not have, so
    /// these add up to the roots' parts exactly. Durations of single calls stay as they were.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func only(_ part: TimeKind) -> CallPathTree {
        if part == .total { return self }
        /// By path: what its callees have.
        var below = [UInt64](repeating: 0, count: paths.count)
        let store = paths.store.copy { index, sums in
            let time = max(part.part(of: sums.total, sums.offCPU.within(sums.total)), below[index])
            sums.selfTime = time &- below[index]
            sums.total = time
            sums.inherited = min(sums.inherited, time)
            sums.dropped.time = 0
            sums.offCPU = OffCPUTimes()
            let parent = Int(Int32(bitPattern: paths.store.node(index).pointee.parent))
            if parent >= 0 { below[parent] &+= time }
        }
        var result = CallPathTree(store, functions: functions, cost: cost)
        result.least = least
        return result
    }

    /// The same paths with the bytes that they allocated, or their page faults, in place of their times.
    ///
    /// - Complexity: O(n) in the number of paths.
    public func only(_ measure: MemorySums.Measure) -> CallPathTree {
        let store = paths.store.copy { _, sums in
            sums.total = sums.memory.value(measure)
            sums.selfTime = sums.selfMemory.value(measure)
            sums.inherited = 0
            sums.dropped.time = 0
            sums.offCPU = OffCPUTimes()
        }
        return CallPathTree(store, functions: functions)
    }
}
