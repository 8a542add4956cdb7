internal import TraceFile

/// The outlines of one thread's chunks: those that are made already, and others ahead of whoever reads the chunks one after another, on all
/// cores.
final class ChunkOutlines {
    private let thread: TracedThread
    private let clock: Clock
    private let store: OutlineStore
    private let workers: Int
    /// The block that was asked for last, and its outlines.
    private var last: (block: Int, outlines: [ChunkOutline?]) = (-1, [])
    /// Blocks before this one have been made, or are not going to be.
    private var limit = 0

    /// - Returns: nil where the chunks do not tell enough.
    /// - Complexity: O(chunks), of which the headers alone are read.
    init?(_ thread: TracedThread, clock: Clock, store: OutlineStore, workers: Int = WorkerPool.processors) {
        guard OutlineStore.isEligible(thread) else { return nil }
        self.thread = thread
        self.clock = clock
        self.store = store
        self.workers = workers
    }

    /// Whether one core alone would have to make most of them, which is no faster than to read the chunks.
    var takesOneCore: Bool { workers == 1 && !store.has(0, of: thread) }

    /// Whether the first chunks can be told by their outlines, if they have no long calls, and it takes less time than to read them.
    var isWorthwhile: Bool {
        if takesOneCore { return false }
        turn(to: 0, .max)
        return last.outlines.count { $0?.isPlain ?? false } > last.outlines.count / 2
    }

    /// The outline of a chunk; nil where it is not made. Chunks are asked for in their order.
    ///
    /// - Parameters:
    ///   - makes: whether it is to be made, and those behind it.
    ///   - least: it is of use where all calls are shorter, in ns. Where few are, those behind it are not made.
    func outline(of index: Int, makes: Bool = true, least: UInt64 = .max) -> ChunkOutline? {
        let block = index / OutlineStore.blockChunks
        if block != last.block {
            guard makes || store.has(block, of: thread) else { return nil }
            turn(to: block, least)
        }
        let place = index % OutlineStore.blockChunks
        return place < last.outlines.count ? last.outlines[place] : nil
    }

    private func turn(to block: Int, _ least: UInt64) {
        if !store.has(block, of: thread), block >= limit { lookAhead(from: block, least) }
        last = (block, store.outlines(block, of: thread) ?? [])
    }

    /// Makes blocks that are not there yet.
    private func lookAhead(from first: Int, _ least: UInt64) {
        // A few at first, to see whether it helps.
        limit = min(first + workers * (first == 0 ? 1 : 8), OutlineStore.blockCount(thread))
        let blocks = (first..<limit).filter { !store.has($0, of: thread) }
        var useful = 0
        let pool = WorkerPool(jobs: blocks.count) { [self] job, pool in
            let made = ChunkOutlines.make(blocks[job], of: thread, clock: clock)
            store.put(made, as: blocks[job], of: thread)
            let count = made.count { $0?.canStand(least: least) ?? false }
            pool.exclusively { useful += count }
        }
        pool.run(workers: min(workers, blocks.count))
        // Where most chunks have to be read all the same, looking ahead only costs.
        if useful < blocks.count * OutlineStore.blockChunks / 2 { limit = OutlineStore.blockCount(thread) }
    }

    /// Makes all blocks that are not there yet.
    ///
    /// - Returns: the longest calls of the chunks, in ns, each of which begins and ends in one.
    /// - Complexity: O(records), over all cores, the first time.
    func all() -> [UInt64] {
        let blocks = 0..<OutlineStore.blockCount(thread)
        var longest: [UInt64] = []
        let pool = WorkerPool(jobs: blocks.count) { [self] block, pool in
            var known = store.outlines(block, of: thread)
            if known == nil {
                known = ChunkOutlines.make(block, of: thread, clock: clock)
                store.put(known!, as: block, of: thread)
            }
            pool.exclusively { longest += known!.compactMap { $0?.longest } }
        }
        pool.run(workers: min(workers, blocks.count))
        return longest
    }

    private static func make(_ block: Int, of thread: TracedThread, clock: Clock) -> [ChunkOutline?] {
        let chunks = OutlineStore.chunks(block, of: thread)
        // The chunk behind the last one says what is open then.
        let part = thread.part(
            chunks.lowerBound..<min(chunks.upperBound + 1, thread.chunks.count), damage: DamageLog())
        var sink = ChunkOutlineSink(part, chunks: 0..<chunks.count)
        StackReplay.run(part, clock: clock, into: &sink)
        part.release(chunk: part.chunks.count - 1)
        return sink.outlines
    }

    /// The outline of one chunk.
    static func one(_ index: Int, of thread: TracedThread, clock: Clock) -> ChunkOutline? {
        var sink = ChunkOutlineSink(thread, chunks: index..<index + 1)
        StackReplay.run(thread, clock: clock, chunks: index..<index + 1, into: &sink)
        return sink.outlines[0]
    }
}

extension ChunkOutline {
    /// Whether it tells all that a tree does with the chunk that hides calls shorter than `least`, in ns.
    func canStand(least: UInt64) -> Bool { isPlain && longest < least }
}
