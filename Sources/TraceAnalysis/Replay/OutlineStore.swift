internal import Synchronization
public import TraceFile
internal import TraceText

/// The outlines of a session's chunks, as far as they have been made: in a storage, block by block.
///
/// Several threads may ask at once.
public final class OutlineStore {
    private let storage: any SummaryStorage
    /// For each thread, its blocks.
    private let blocks: Mutex<[TracedThread.Key: [SummaryPiece?]]>
    /// Called once all that were missing have been made.
    private let whenWhole: (OutlineStore) -> Void

    /// Chunks of a block.
    static let blockChunks = 64

    /// - Parameter whenWhole: called once all have been made.
    public init(
        _ threads: [TracedThread], in storage: any SummaryStorage,
        whenWhole: @escaping (OutlineStore) -> Void = { _ in }
    ) {
        self.storage = storage
        self.whenWhole = whenWhole
        let all = threads.filter(OutlineStore.isEligible).map { thread -> (TracedThread.Key, [SummaryPiece?]) in
            (thread.key, Array(repeating: nil, count: OutlineStore.blockCount(thread)))
        }
        blocks = Mutex(Dictionary(all, uniquingKeysWith: { first, _ in first }))
    }

    static func blockCount(_ thread: TracedThread) -> Int {
        (thread.chunks.count + blockChunks - 1) / blockChunks
    }

    /// Whether a thread's chunks tell enough.
    ///
    /// - Complexity: O(chunks), of which the headers alone are read.
    static func isEligible(_ thread: TracedThread) -> Bool {
        !thread.isJoined && thread.chunks.count > blockChunks && thread.hasWholePaths
    }

    /// The chunks of a block of a thread.
    static func chunks(_ block: Int, of thread: TracedThread) -> Range<Int> {
        block * blockChunks..<min((block + 1) * blockChunks, thread.chunks.count)
    }

    func has(_ block: Int, of thread: TracedThread) -> Bool {
        blocks.withLock { $0[thread.key]?[block] != nil }
    }

    /// The outlines of a block; nil where they are not made, or damaged.
    func outlines(_ block: Int, of thread: TracedThread) -> [ChunkOutline?]? {
        guard let piece = blocks.withLock({ $0[thread.key]?[block] }), let bytes = piece.read(from: storage) else {
            return nil
        }
        return ChunkOutline.decode(bytes, count: OutlineStore.chunks(block, of: thread).count)
    }

    /// Keeps the outlines of a block.
    func put(_ outlines: [ChunkOutline?], as block: Int, of thread: TracedThread) {
        let bytes = ChunkOutline.encode(outlines)
        let isWhole = blocks.withLock { blocks in
            guard blocks[thread.key]?[block] == nil else { return false }
            blocks[thread.key]?[block] = SummaryPiece(bytes, in: storage)
            return blocks.values.allSatisfy { !$0.contains { $0 == nil } }
        }
        if isWhole { whenWhole(self) }
    }

    // MARK: Keeping

    /// What tells where all is in the storage.
    public func encoded(_ threads: [TracedThread]) -> [UInt8] {
        blocks.withLock { blocks in
            var bytes: [UInt8] = []
            let known = threads.filter { blocks[$0.key] != nil }
            bytes.append(leb128: UInt64(known.count))
            for thread in known {
                for number in OutlineStore.identity(of: thread) { bytes.append(leb128: number) }
                for case let piece? in blocks[thread.key]! { bytes.append(piece) }
            }
            return KeptChecksum.sealed(bytes)
        }
    }

    /// The outlines that are in `storage`, as ``encoded(_:)`` told; nil where these are of other threads, or damaged.
    public init?(_ encoded: [UInt8], of threads: [TracedThread], in storage: any SummaryStorage) {
        self.storage = storage
        whenWhole = { _ in }
        guard let bytes = KeptChecksum.opened(encoded) else { return nil }
        var blocks: [TracedThread.Key: [SummaryPiece?]] = [:]
        let isRead = bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            let known = threads.filter(OutlineStore.isEligible)
            guard reader.take(below: known.count + 1) == known.count else { return false }
            for thread in known {
                guard OutlineStore.identity(of: thread).allSatisfy({ reader.take() == $0 }) else { return false }
                blocks[thread.key] = (0..<OutlineStore.blockCount(thread)).map { _ in reader.takePiece() }
            }
            return reader.isAtEnd
        }
        guard isRead else { return nil }
        self.blocks = Mutex(blocks)
    }

    private static func identity(of thread: TracedThread) -> [UInt64] {
        [UInt64(thread.process.index), UInt64(thread.serial), UInt64(thread.chunks.count), UInt64(thread.bytes)]
    }
}
