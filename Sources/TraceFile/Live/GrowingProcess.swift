/// What a process tells of itself, as far as it was read.
final class GrowingProcess {
    let index: UInt32
    private(set) var process: TracedProcess
    private var metadata: [UInt64: OwnedChunk] = [:]
    private var isChanged = false

    init(index: UInt32, pid: UInt32) {
        self.index = index
        process = TracedProcess(index: index, pid: pid)
    }

    /// Takes a chunk of metadata, or more of one.
    func add(_ chunk: Chunk) {
        if let known = metadata[chunk.sequence], known.chunk.payload.count >= chunk.payload.count { return }
        metadata[chunk.sequence] = OwnedChunk(chunk)
        isChanged = true
    }

    /// Reads what was added; the process is another object then.
    ///
    /// - Parameter parent: finds a process by its index.
    /// - Returns: whether anything was.
    func settle(damage: DamageLog, parent: (UInt32) -> TracedProcess?) -> Bool {
        guard isChanged else { return false }
        isChanged = false
        let chunks = metadata.values.map(\.chunk).sorted { $0.sequence < $1.sequence }
        process = TracedProcess(index: index, pid: chunks.first?.pid ?? process.pid)
        var reader = MetadataReader(process: process, damage: damage)
        reader.read(ChunkList(chunks, chunks.indices)) { $0 < index ? parent($0) : nil }
        return true
    }
}
