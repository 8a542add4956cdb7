internal import TraceFile
internal import TraceText

/// The summaries of one thread: a leaf of 32 chunks each, and a node of 8 of those each, up to one of the whole thread.
///
/// A call is told in the nodes where it ends. So a stretch of time needs the nodes that overlap it, and the calls that are open at the
/// end of the last of them.
struct SummaryTree {
    /// Leaves first.
    var levels: [[SummaryNode]] = []
    /// The calls that are open where leaves end, of ``fanout`` leaves each.
    var spines: [SummaryPiece] = []
    /// The depth of the deepest calls, and 1.
    var rowCount: UInt32 = 0

    init() {}

    init(levels: [[SummaryNode]], spines: [SummaryPiece], rowCount: UInt32) {
        self.levels = levels
        self.spines = spines
        self.rowCount = rowCount
    }

    var leafCount: Int { levels.first?.count ?? 0 }
    /// Bytes that it has in the storage, before these are compressed.
    var byteCount: UInt64 {
        levels.joined().reduce(0) { $0 + UInt64($1.piece.size) } + spines.reduce(0) { $0 + UInt64($1.size) }
    }

    /// What stays as it is when the thread goes on, whose present state is `thread`: nodes whose chunks all were complete. Nothing where the
    /// thread cannot be split behind them.
    ///
    /// - Complexity: O(chunks).
    func beginning(of thread: TracedThread, clock: Clock) -> SummaryTree {
        // Of a thread that has ended, all stays.
        if thread.hasEnded, leafCount == (thread.chunks.count + SummaryTree.leafChunks - 1) / SummaryTree.leafChunks,
            leafCount > 0, !thread.isJoined, levels[0].indices.allSatisfy({ isSame($0, in: thread, clock) })
        {
            return self
        }
        // The last leaf's chunks may have grown. What is open at the ends of leaves is kept for as many as a node has.
        var count = max(leafCount - 1, 0) / SummaryTree.fanout * SummaryTree.fanout
        guard count > 0, !thread.isJoined, count * SummaryTree.leafChunks < thread.chunks.count,
            levels[0][..<count].indices.allSatisfy({ isSame($0, in: thread, clock) })
        else { return SummaryTree() }
        while count > 0, !thread.canBeSplit(at: count * SummaryTree.leafChunks) { count -= SummaryTree.fanout }
        if count == 0 { return SummaryTree() }
        var kept: [[SummaryNode]] = []
        var nodes = count
        for level in levels where nodes > 0 {
            kept.append(Array(level[..<nodes]))
            nodes /= SummaryTree.fanout
        }
        return SummaryTree(levels: kept, spines: Array(spines[..<(count / SummaryTree.fanout)]), rowCount: rowCount)
    }

    /// Whether a leaf's chunks are what they were.
    private func isSame(_ leaf: Int, in thread: TracedThread, _ clock: Clock) -> Bool {
        let first = leaf * SummaryTree.leafChunks
        let chunks = first..<min(first + SummaryTree.leafChunks, thread.chunks.count)
        let size = chunks.reduce(0) { $0 + thread.chunks[$1].size }
        let begin = leaf == 0 ? nil : thread.own(ticks: thread.chunks[first].beginTicks, clock)
        return levels[0][leaf].logBytes == size && (begin.map { $0 == levels[0][leaf].begin } ?? true)
    }

    static let leafChunks = 32
    static let fanout = 8

    /// The leaf that holds a moment; the last one that begins before it.
    func leaf(at moment: UInt64) -> Int {
        max(0, levels[0].partitioningIndex { $0.begin > moment } - 1)
    }

    /// The calls that are open where leaf `index` ends, by the numbers of their functions; nil where that is damaged.
    func open(after index: Int, in storage: any SummaryStorage) -> [SummarySink.Open]? {
        guard let bytes = spines[index / SummaryTree.fanout].read(from: storage) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            var open: [SummarySink.Open] = []
            for _ in 0...index % SummaryTree.fanout {
                let kept = reader.take(below: open.count + 1)
                open.removeLast(open.count - kept)
                var last = open.last?.begin ?? 0
                for _ in 0..<reader.takeCount() {
                    let function = reader.take()
                    last = last &+ UInt64(bitPattern: reader.takeZigzag())
                    open.append(SummarySink.Open(function: function, begin: last))
                }
            }
            return reader.hasFailed ? nil : open
        }
    }

    /// Writes what is open at the ends of leaves, each as what it does not share with the one before.
    static func encode(_ spines: some Collection<[SummarySink.Open]>) -> [UInt8] {
        var bytes: [UInt8] = []
        var before: [SummarySink.Open] = []
        for open in spines {
            let kept = zip(before, open).prefix { $0 == $1 }.count
            bytes.append(leb128: UInt64(kept))
            bytes.append(leb128: UInt64(open.count - kept))
            var last = kept > 0 ? open[kept - 1].begin : 0
            for call in open[kept...] {
                bytes.append(leb128: call.function)
                bytes.append(zigzag: Int64(bitPattern: call.begin &- last))
                last = call.begin
            }
            before = open
        }
        return bytes
    }
}
