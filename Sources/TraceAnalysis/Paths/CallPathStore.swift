/// Call paths in memory: 76 bytes a path, besides histograms.
final class CallPathStore {
    let count: Int
    let rares: RareSumsArena
    let histograms: HistogramStore
    /// Node 0 stands for no path.
    private let nodes: GrowingMemory<PathNode>
    private let depths: GrowingMemory<UInt32>

    init(
        count: Int, nodes: GrowingMemory<PathNode>, depths: GrowingMemory<UInt32>, rares: RareSumsArena,
        histograms: HistogramStore
    ) {
        self.count = count
        self.nodes = nodes
        self.depths = depths
        self.rares = rares
        self.histograms = histograms
    }

    deinit {
        nodes.free()
        depths.free()
        rares.free()
    }

    @inline(__always)
    func node(_ path: Int) -> UnsafeMutablePointer<PathNode> { nodes.start + (path + 1) }

    @inline(__always)
    func depth(_ path: Int) -> UInt32 { depths.start[path] }

    /// Whether any path may have sums that few have.
    var hasRareSums: Bool { rares.isUsed }

    /// A copy of the paths, with sums that `change` may change. Callees come before callers.
    func copy(_ change: (Int, inout CallPathSums) -> Void) -> CallPathStore {
        let copy = GrowingMemory<PathNode>(capacity: count + 1)
        copy.start.update(from: nodes.start, count: count + 1)
        let sameDepths = GrowingMemory<UInt32>(capacity: max(count, 1))
        sameDepths.start.update(from: depths.start, count: count)
        var rares = rares.copy()
        for path in (0..<count).reversed() {
            var sums = copy.start[path + 1].sums(rares)
            change(path, &sums)
            copy.start[path + 1].set(sums, &rares)
        }
        return CallPathStore(count: count, nodes: copy, depths: sameDepths, rares: rares, histograms: histograms)
    }
}
