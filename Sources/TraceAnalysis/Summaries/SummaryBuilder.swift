internal import TraceFile

/// Makes the summaries of a session's threads, in one pass over the recording, on all cores.
final class SummaryBuilder {
    private let threads: [TracedThread]
    private let clock: Clock
    private let spaces: [AddressSpace]
    private let storage: any SummaryStorage
    private let functions: SummaryFunctions
    private let onProgress: (Double) -> Void
    /// What is known of each thread's first leaves.
    private let begun: [SummaryTree]
    private var stretches: [Int: [Int: Stretch]] = [:]
    private var hasFailed = false
    private var read = 0

    /// A worker's share: so many leaves that it makes two levels of nodes above them.
    private static let shareLeaves = SummaryTree.fanout * SummaryTree.fanout

    /// The part of the log's bytes that the nodes above leaves may take; those above them half of it, and so on.
    private static let part = 0.004

    /// Some of a thread's nodes: leaves, and those above.
    private struct Stretch {
        var levels: [[SummaryNode]]
        var spines: [SummaryPiece]
        var rowCount: UInt32
        var hasLanes: Bool
    }

    private struct Share {
        var thread: Int
        var leaves: Range<Int>
    }

    /// - Parameter begun: the trees of threads as they were when they had fewer chunks, in the same storage, with the same functions.
    init(
        _ threads: [TracedThread], begun: [SummaryTree]? = nil, clock: Clock, spaces: [AddressSpace],
        functions: SummaryFunctions, storage: any SummaryStorage, onProgress: @escaping (Double) -> Void
    ) {
        // Others may read the threads meanwhile. What was put together in memory is read by one at a time.
        self.threads = threads.map { $0.isJoined ? $0 : $0.part(0..<$0.chunks.count, damage: DamageLog()) }
        self.begun = threads.indices.map { index in
            begun?[index].beginning(of: threads[index], clock: clock) ?? SummaryTree()
        }
        self.clock = clock
        self.spaces = spaces
        self.functions = functions
        self.storage = storage
        self.onProgress = onProgress
    }

    /// - Returns: a tree for each thread; nil where the storage did not keep them.
    /// - Complexity: O(records) over all cores; memory follows the calls that are open at once.
    func run(workers: Int = WorkerPool.processors) -> [SummaryTree]? {
        let shares = threads.indices.flatMap(shares).sorted { $0.leaves.count > $1.leaves.count }
        let bytes = Double(max(1, threads.reduce(0) { $0 + $1.bytes }))
        let pool = WorkerPool(jobs: shares.count) { job, pool in
            if pool.exclusively({ self.hasFailed }) { return }
            let share = shares[job]
            let stretch = self.stretch(share, pool) { chunkBytes in
                pool.exclusively {
                    self.read += chunkBytes
                    self.onProgress(Double(self.read) / bytes)
                }
            }
            pool.exclusively {
                guard let stretch else { return self.hasFailed = true }
                self.stretches[share.thread, default: [:]][share.leaves.lowerBound] = stretch
            }
        }
        pool.run(workers: min(workers, shares.count))
        if hasFailed { return nil }
        var trees: [SummaryTree] = []
        for thread in threads.indices {
            guard let tree = tree(of: thread) else { return nil }
            trees.append(tree)
        }
        return trees
    }

    /// How a thread is split: at multiples of a worker's share where the chunk there lists all open calls.
    private func shares(of thread: Int) -> [Share] {
        let chunks = threads[thread].chunks.count
        if threads[thread].keepsPaths || chunks == 0 { return [] }
        let leaves = (chunks + SummaryTree.leafChunks - 1) / SummaryTree.leafChunks
        if begun[thread].leafCount == leaves { return [] }
        guard !threads[thread].isJoined else { return [Share(thread: thread, leaves: 0..<leaves)] }
        var shares: [Share] = []
        var begin = begun[thread].leafCount
        for leaf in stride(from: SummaryBuilder.shareLeaves, to: leaves, by: SummaryBuilder.shareLeaves)
        where leaf > begin && threads[thread].canBeSplit(at: leaf * SummaryTree.leafChunks) {
            shares.append(Share(thread: thread, leaves: begin..<leaf))
            begin = leaf
        }
        return shares + [Share(thread: thread, leaves: begin..<leaves)]
    }

    private func stretch(_ share: Share, _ pool: WorkerPool?, _ onChunk: @escaping (Int) -> Void) -> Stretch? {
        func exclusively<Result>(_ body: () -> Result) -> Result { pool?.exclusively(body) ?? body() }
        let whole = threads[share.thread]
        let first = share.leaves.lowerBound * SummaryTree.leafChunks
        let limit = min(share.leaves.upperBound * SummaryTree.leafChunks, whole.chunks.count)
        let isWhole = first == 0 && limit == whole.chunks.count
        // With the chunk behind them, which is not read, calls that are open at the end stay open.
        let thread =
            whole.isJoined ? whole : whole.part(first..<min(limit + 1, whole.chunks.count), damage: DamageLog())
        let last = limit - first - 1
        let leaves = LeafWriter(
            thread, from: exclusively { self.moments(of: whole, share.leaves) },
            KnownNumbers(functions, process: whole.process.index),
            keep: { bytes in exclusively { SummaryPiece(bytes, in: self.storage) } })
        var sink = SummarySink(
            spaces[share.thread], shift: leaves.shift(0), carriedIn: first == 0 ? 0 : thread.chunks[0].depth,
            // Chunks at the end may be damaged.
            isLast: { ($0 + 1) % SummaryTree.leafChunks == 0 || $0 > last - SummaryTree.leafChunks },
            onBegin: { leaves.begin(chunk: $1, &$0) })
        defer { sink.free() }
        StackReplay.run(
            thread, clock: clock, chunks: 0..<limit - first, onChunk: { onChunk(thread.chunks[$0].size) }, into: &sink)
        leaves.finish(&sink, isEnd: limit == whole.chunks.count)
        guard !leaves.hasFailed else { return nil }
        var stretch = Stretch(
            levels: [leaves.nodes], spines: leaves.spines, rowCount: leaves.rowCount,
            hasLanes: sink.hasLanes)
        let levels =
            begun[share.thread].leafCount > 0
            ? 1 : share.leaves.count > SummaryTree.fanout || !isWhole ? 2 : share.leaves.count > 1 ? 1 : 0
        for _ in 0..<levels {
            guard addLevel(to: &stretch, pool) else { return nil }
        }
        return stretch
    }

    /// The thread's own time where leaves begin, and where the last one ends, in ns.
    private func moments(of thread: TracedThread, _ leaves: Range<Int>) -> [UInt64] {
        let span = thread.span(clock)
        var moments: [UInt64] = []
        for leaf in leaves.lowerBound...leaves.upperBound {
            let chunk = leaf * SummaryTree.leafChunks
            var moment = leaf == 0 ? span.lowerBound : span.upperBound
            if leaf > 0, chunk < thread.chunks.count {
                moment = thread.own(ticks: thread.chunks[chunk].beginTicks, clock)
            }
            moments.append(max(moment, moments.last ?? 0))
        }
        return moments
    }

    /// Makes the nodes above the highest ones of a stretch.
    ///
    /// - Parameter begun: the first of them, which are there.
    private func addLevel(to stretch: inout Stretch, begun: [SummaryNode] = [], _ pool: WorkerPool?) -> Bool {
        func exclusively<Result>(_ body: () -> Result) -> Result { pool?.exclusively(body) ?? body() }
        let below = stretch.levels[stretch.levels.count - 1]
        var nodes = begun
        var rows = SummaryRows()
        defer { rows.free() }
        let part = SummaryBuilder.part / Double(1 << (stretch.levels.count - 1))
        for begin in Swift.stride(from: begun.count * SummaryTree.fanout, to: below.count, by: SummaryTree.fanout) {
            let children = begin..<min(begin + SummaryTree.fanout, below.count)
            rows.begin(shift: 0)
            var shifts: [UInt8] = []
            for child in children {
                let node = below[child]
                for (band, shift) in node.shifts.enumerated() {
                    if band == shifts.count { shifts.append(0) }
                    shifts[band] = max(shifts[band], shift)
                }
                guard let bytes = exclusively({ node.piece.read(from: self.storage) }),
                    bytes.withUnsafeBytes({
                        node.decode($0, rows: 0..<(.max), wants: { _ in true }) { rows.append($0) }
                    })
                else { return false }
            }
            let (from, to) = (below[children.lowerBound].begin, below[children.upperBound - 1].end)
            let shift = SummaryNode.shift(of: to - from)
            let bytes = children.reduce(0) { $0 + below[$1].logBytes }
            let encoded = SummaryNode.encode(
                &rows, begin: from, shifts: shifts.map { max($0, shift) },
                budget: max(2048, Int(Double(bytes) * part)), number: { $0 })
            guard let piece = exclusively({ SummaryPiece(encoded.bytes, in: self.storage) }) else { return false }
            nodes.append(SummaryNode(begin: from, end: to, shifts: encoded.shifts, logBytes: bytes, piece: piece))
        }
        stretch.levels.append(nodes)
        return true
    }

    /// Puts a thread's stretches together, and makes the nodes above them.
    private func tree(of thread: Int) -> SummaryTree? {
        var parts = (stretches.removeValue(forKey: thread) ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        var begun = begun[thread]
        if parts.count + begun.levels.count > 1, parts.contains(where: \.hasLanes) {
            let leaves = 0..<parts.reduce(begun.leafCount) { $0 + $1.levels[0].count }
            begun = SummaryTree()
            guard let whole = stretch(Share(thread: thread, leaves: leaves), nil, { _ in }) else { return nil }
            parts = [whole]
        }
        if begun.leafCount > 0 {
            parts.insert(
                Stretch(
                    levels: Array(begun.levels.prefix(2)), spines: begun.spines, rowCount: begun.rowCount,
                    hasLanes: false), at: 0)
        }
        guard var all = parts.first else { return SummaryTree() }
        for part in parts.dropFirst() {
            for level in part.levels.indices { all.levels[level] += part.levels[level] }
            all.spines += part.spines
            all.rowCount = max(all.rowCount, part.rowCount)
        }
        while all.levels.last!.count > 1 {
            let known = all.levels.count < begun.levels.count ? begun.levels[all.levels.count] : []
            guard addLevel(to: &all, begun: known, nil) else { return nil }
        }
        return SummaryTree(levels: all.levels, spines: all.spines, rowCount: all.rowCount)
    }
}
