/// Hands out the chunks of one thread in their order, each once; of the chunk that the thread is writing, what it has gained.
final class GrowingThread {
    let process: UInt32
    let serial: UInt32
    private(set) var pid: UInt32 = 0
    private(set) var tid: UInt32 = 0
    private(set) var name = ""
    /// The header of the chunk that was handed out last.
    private var last: Chunk?
    /// The bytes of its payload that were handed out.
    private var taken = 0
    private var tracer = TracerTime.none
    /// Chunks of the log that come behind one that is missing so far.
    private var waiting: [UInt64: OwnedChunk] = [:]
    private var waitedLooks = 0
    private(set) var lostCalls: UInt64 = 0
    /// Whether the thread was seen to end, and the log has all of it.
    private(set) var hasEnded = false
    /// Whether a chunk is missing so far.
    var isWaiting: Bool { !waiting.isEmpty }

    /// How often a missing chunk is waited for.
    private static let patience = 4
    /// The switches of chunks that are kept.
    private static let mostSwitches = 4096

    init(process: UInt32, serial: UInt32) {
        self.process = process
        self.serial = serial
    }

    /// The chunks that come next, among those that were found.
    ///
    /// - Parameters:
    ///   - found: those of the thread, in any order, with more or less of each.
    ///   - isWhole: whether all that there are were looked for, so that what is missing is lost.
    func next(_ found: [Chunk], isWhole: Bool) -> [Chunk] {
        var candidates = found + waiting.values.map(\.chunk)
        // Of the same chunk, the one that holds most comes first.
        candidates.sort { ($0.sequence, $1.payload.count) < ($1.sequence, $0.payload.count) }
        var next: [Chunk] = []
        var left: [Chunk] = []
        for chunk in candidates {
            if let last, chunk.sequence < last.sequence { continue }
            if let last, chunk.sequence == last.sequence {
                let hasGrown = chunk.payload.count > taken || last.endTicks == 0 && chunk.endTicks != 0
                if hasGrown, last.endTicks == 0 { take(chunk, into: &next) }
                if chunk.isLogged, chunk.isLast { hasEnded = true }
            } else if follows(chunk) || waitedLooks >= GrowingThread.patience {
                take(chunk, into: &next)
            } else {
                left.append(chunk)
            }
        }
        if left.isEmpty || !next.isEmpty { waitedLooks = 0 } else if isWhole { waitedLooks += 1 }
        // Those in the buffers are found again.
        waiting = Dictionary(
            left.filter(\.isLogged).compactMap { chunk in
                (waiting[chunk.sequence] ?? OwnedChunk(chunk)).map { (chunk.sequence, $0) }
            }, uniquingKeysWith: { first, _ in first })
        return next
    }

    /// Whether a chunk is the first one, or the one behind the last one, which is finished.
    private func follows(_ chunk: Chunk) -> Bool {
        guard let last else { return chunk.sequence == 0 }
        return chunk.sequence == last.sequence + 1 && last.endTicks != 0
    }

    private func take(_ chunk: Chunk, into next: inout [Chunk]) {
        if let last, last.sequence != chunk.sequence {
            tracer.add(last, chunk, keeping: GrowingThread.mostSwitches)
        }
        if last?.sequence != chunk.sequence { lostCalls &+= chunk.lostCalls }
        // What is left out of `next` is what it replaces: more of the same chunk.
        if let previous = next.last, previous.sequence == chunk.sequence { next.removeLast() }
        next.append(chunk)
        last = chunk
        taken = chunk.payload.count
        (pid, tid) = (chunk.pid, chunk.tid)
        if !chunk.name.isEmpty { name = chunk.name }
        if chunk.isLast, chunk.isLogged { hasEnded = true }
    }

    /// The chunks as a thread to be replayed.
    func traced(_ chunks: [Chunk], of process: TracedProcess, damage: DamageLog) -> TracedThread {
        TracedThread(
            process: process, serial: serial, chunks: ChunkList(chunks, chunks.indices), log: nil, damage: damage,
            tracer: tracer)
    }
}
