public import TraceFile

/// The part of each path's time in which nothing ran, as far as that is known.
public struct PathWaits {
    /// By path, in ns: how much of its own time threads had no CPU. Empty when none is known.
    private var own: [OffCPUTimes] = []
    /// By path, in ns: how long it and its callees waited for a task to go on. Empty when none did.
    private var suspended: [UInt64] = []

    /// - Complexity: O(n) in the number of paths.
    public init(of tree: CallPathTree) {
        let paths = tree.paths
        if paths.store.hasRareSums {
            own = [OffCPUTimes](repeating: OffCPUTimes(), count: paths.count)
            var isKnown = false
            for index in paths.indices.reversed() {
                let path = paths[index], all = path.sums.offCPU
                // By now there is what its callees have.
                own[index] = all.without(own[index]).within(path.sums.selfTime)
                isKnown = isKnown || !all.isZero
                if path.parent >= 0 { own[Int(path.parent)].add(all) }
            }
            if !isKnown { own = [] }
        }
        guard let function = tree.functions.suspended else { return }
        suspended = [UInt64](repeating: 0, count: paths.count)
        for (index, path) in paths.enumerated().reversed() {
            if path.function == function { suspended[index] = path.sums.total }
            if path.parent >= 0 { suspended[Int(path.parent)] &+= suspended[index] }
        }
    }

    /// How much of the own time of path `index` threads had no CPU.
    public func own(_ index: Int) -> OffCPUTimes { own.isEmpty ? OffCPUTimes() : own[index] }

    /// How long path `index` and its callees waited for a task to go on, in ns.
    public func suspended(_ index: Int) -> UInt64 { suspended.isEmpty ? 0 : suspended[index] }
}
