/// One call path: a function, called by its caller's path.
public struct CallPath: BitwiseCopyable, Sendable {
    /// Id in the ``FunctionTable``.
    public let function: UInt32
    /// Index of the caller's path, or -1 for a root.
    public let parent: Int32
    /// Index behind the last path below this one.
    public let end: Int32
    /// Roots are depth 0.
    public let depth: UInt32
    public let sums: CallPathSums
    /// Where its histogram is; 0 when it has none.
    let histogram: UInt32
}

/// The paths of a ``CallPathTree``, callers before callees, each put together when it is asked for.
public struct CallPaths: RandomAccessCollection {
    let store: CallPathStore

    public var startIndex: Int { 0 }
    public var endIndex: Int { store.count }

    public subscript(index: Int) -> CallPath {
        precondition(index >= 0 && index < store.count, "no such path")
        let node = store.node(index)
        return CallPath(
            function: node.pointee.function, parent: Int32(bitPattern: node.pointee.parent),
            end: Int32(bitPattern: node.pointee.link), depth: store.depth(index),
            sums: node.pointee.sums(store.rares), histogram: node.pointee.histogram)
    }
}

/// Call paths in memory: 76 bytes a path, besides histograms.
final class CallPathStore {
    let count: Int
    let rares: RareSumsArena
    let histograms: HistogramStore
    /// Node 0 is no path.
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

    /// The same paths with sums that `change` may change, callees before callers.
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

/// The histograms of a tree's paths, which several trees may share.
final class HistogramStore: HistogramSource {
    private enum Place {
        case memory(HistogramArena)
        case kept(KeptHistograms)
    }

    private let place: Place

    init(_ arena: HistogramArena) { place = .memory(arena) }

    init(_ kept: KeptHistograms) { place = .kept(kept) }

    deinit {
        if case .memory(let arena) = place { arena.free() }
    }

    func forEachBucket(_ head: UInt32, _ body: (_ bucket: Int, _ count: UInt64) -> Void) {
        switch place {
        case .memory(let arena): arena.forEachBucket(head, body)
        case .kept(let kept): kept.forEachBucket(head, body)
        }
    }
}
