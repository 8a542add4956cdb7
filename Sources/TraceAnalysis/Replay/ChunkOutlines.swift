internal import TraceFile

/// Makes outlines of a thread's chunks ahead of whoever reads them one after another, on all cores.
final class ChunkOutlines {
    private let thread: TracedThread
    private let clock: Clock
    private let least: UInt64
    private let workers: Int
    private var outlines: [Int: ChunkOutline] = [:]
    /// The chunks before this one have been looked at.
    private var limit = 0

    /// Chunks that a worker looks at in one go.
    private static let stretch = 64

    /// - Parameter least: calls that are shorter, in ns, are not to be shown.
    /// - Returns: nil where the chunks do not tell enough, or one core can read them about as fast.
    /// - Complexity: O(chunks), of which the headers alone are read.
    init?(_ thread: TracedThread, clock: Clock, least: UInt64, workers: Int = WorkerPool.processors) {
        guard !thread.isJoined, workers > 1, thread.chunks.count > ChunkOutlines.stretch, thread.hasWholePaths else {
            return nil
        }
        self.thread = thread
        self.clock = clock
        self.least = least
        self.workers = workers
    }

    /// The outline of a chunk; nil where the chunk is to be read. Chunks are asked for in their order, each once.
    func take(_ index: Int) -> ChunkOutline? {
        if index >= limit, limit < thread.chunks.count { lookAhead(from: index) }
        return outlines.removeValue(forKey: index)
    }

    private func lookAhead(from first: Int) {
        // A few at first, to see whether it helps.
        limit = min(first + workers * ChunkOutlines.stretch * (first == 0 ? 1 : 8), thread.chunks.count)
        let stretches = Swift.stride(from: first, to: limit, by: ChunkOutlines.stretch).map {
            $0..<min($0 + ChunkOutlines.stretch, limit)
        }
        let pool = WorkerPool(jobs: stretches.count) { [self] job, pool in
            let found = outlines(of: stretches[job])
            pool.exclusively { outlines.merge(found) { first, _ in first } }
        }
        pool.run(workers: min(workers, stretches.count))
        // Where most chunks have to be read all the same, looking ahead only costs.
        if outlines.count < (limit - first) * 3 / 4 { limit = thread.chunks.count }
    }

    private func outlines(of chunks: Range<Int>) -> [Int: ChunkOutline] {
        // The chunk behind the last one says what is open then.
        let whole = chunks.lowerBound..<min(chunks.upperBound + 1, thread.chunks.count)
        let part = thread.part(whole, damage: DamageLog())
        var sink = ChunkOutlineSink(part, least: least, chunks: 0..<chunks.count)
        StackReplay.run(part, clock: clock, into: &sink)
        part.release(chunk: part.chunks.count - 1)
        return Dictionary(uniqueKeysWithValues: sink.outlines.map { ($0.key + chunks.lowerBound, $0.value) })
    }
}
