public import TraceFile
internal import TraceText

/// Summaries of the calls of a session's threads, from which pictures of any stretch of time are made without reading all of it.
///
/// They take at most 3 % of the log. Their bytes are in a storage; what is in memory is where each of them is.
public final class Summaries {
    private let threads: [TracedThread]
    private let clock: Clock
    private let storage: any SummaryStorage
    private let functions: SummaryFunctions
    private let trees: [SummaryTree]
    private let makers: [PictureMaker]

    /// Makes the summaries of `threads`.
    ///
    /// - Parameters:
    ///   - workers: the number of threads to work with; 0 for one a core.
    ///   - onProgress: told what part of the recording was read, 0...1. It is never called twice at once.
    /// - Returns: nil where the storage does not keep them.
    /// - Complexity: O(records) over all cores.
    public convenience init?(
        of threads: [TracedThread], clock: Clock, resolver: FunctionResolver, in storage: any SummaryStorage,
        workers: Int = 0, onProgress: @escaping (Double) -> Void = { _ in }
    ) {
        let functions = SummaryFunctions()
        let builder = SummaryBuilder(
            threads, clock: clock, spaces: threads.map { resolver.space(of: $0.process) }, functions: functions,
            storage: storage, onProgress: onProgress)
        guard let trees = builder.run(workers: workers > 0 ? workers : WorkerPool.processors) else { return nil }
        self.init(threads, clock, resolver, storage, functions, trees)
    }

    /// Makes the summaries of `threads`, of which some were there before, at the same places in `before`, when they had fewer calls: what was
    /// summarized then is not read again. Both have the same storage; either can be asked for pictures.
    ///
    /// - Returns: nil where the storage does not keep them.
    /// - Complexity: O(records that are new) over all cores.
    public convenience init?(
        of threads: [TracedThread], after before: Summaries, clock: Clock, resolver: FunctionResolver,
        onProgress: @escaping (Double) -> Void = { _ in }
    ) {
        let begun = threads.indices.map { $0 < before.trees.count ? before.trees[$0] : SummaryTree() }
        let builder = SummaryBuilder(
            threads, begun: begun, clock: clock, spaces: threads.map { resolver.space(of: $0.process) },
            functions: before.functions, storage: before.storage, onProgress: onProgress)
        guard let trees = builder.run() else { return nil }
        self.init(threads, clock, resolver, before.storage, before.functions, trees)
    }

    /// Whether most of the storage is of what was made anew since, as ``init(of:after:clock:resolver:onProgress:)`` does.
    public var isWasteful: Bool {
        storage.byteCount > 4 * trees.reduce(0) { $0 + $1.byteCount } + Summaries.littleWaste
    }

    /// In bytes.
    private static let littleWaste: UInt64 = 16 << 20

    /// No summaries: pictures are made of chunks, and coarse where that would take too long.
    public convenience init(withoutAny threads: [TracedThread], clock: Clock, resolver: FunctionResolver) {
        self.init(threads, clock, resolver, SummaryMemory(), SummaryFunctions(), threads.map { _ in SummaryTree() })
    }

    private init(
        _ threads: [TracedThread], _ clock: Clock, _ resolver: FunctionResolver, _ storage: any SummaryStorage,
        _ functions: SummaryFunctions, _ trees: [SummaryTree]
    ) {
        self.threads = threads
        self.clock = clock
        self.storage = storage
        self.functions = functions
        self.trees = trees
        makers = zip(threads, trees).map { thread, tree in
            PictureMaker(
                thread, tree.levels.isEmpty ? nil : (tree, functions, storage), clock: clock,
                space: resolver.space(of: thread.process))
        }
    }

    /// The calls of some depths of the thread at `index` that have a part between two moments, in ns since the session's start, in
    /// the thread's own time.
    ///
    /// - Parameter step: of calls that are shorter, in ns, those that follow each other are told together. It is rounded down to a
    ///   power of two.
    /// - Complexity: O(steps · depths); it does not follow the number of calls.
    public func picture(ofThread index: Int, from: UInt64, to: UInt64, step: UInt64, rows: Range<UInt32>) -> Picture {
        let shift = UInt8(63 - max(step, 1).leadingZeroBitCount)
        return makers[index].picture(from: from, to: to, shift: shift, rows: rows)
    }

    /// How many rows the thread at `index` has: its deepest calls' depth, and 1; nil where that is not known.
    public func rowCount(ofThread index: Int) -> UInt32? { trees[index].levels.isEmpty ? nil : trees[index].rowCount }

    // MARK: Keeping

    /// What tells where all is in the storage.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(functions.keys.count))
        for key in functions.keys {
            for number in [UInt64(key.process), key.address, UInt64(key.epoch)] { bytes.append(leb128: number) }
        }
        bytes.append(leb128: UInt64(threads.count))
        for (thread, tree) in zip(threads, trees) {
            for number in Summaries.identity(of: thread) { bytes.append(leb128: number) }
            tree.encode(to: &bytes)
        }
        return KeptChecksum.sealed(bytes)
    }

    /// The summaries that are in `storage`, as ``encoded()`` told; nil where these are of other threads, or damaged.
    public convenience init?(
        _ encoded: [UInt8], of threads: [TracedThread], clock: Clock, resolver: FunctionResolver,
        in storage: any SummaryStorage
    ) {
        var keys: [SummaryFunctions.Key] = []
        var trees: [SummaryTree] = []
        guard let bytes = KeptChecksum.opened(encoded) else { return nil }
        let isRead = bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            for _ in 0..<reader.takeCount() {
                keys.append(
                    SummaryFunctions.Key(
                        process: UInt32(truncatingIfNeeded: reader.take()), address: reader.take(),
                        epoch: UInt32(truncatingIfNeeded: reader.take())))
            }
            guard reader.takeCount() == threads.count else { return false }
            for thread in threads {
                guard Summaries.identity(of: thread).allSatisfy({ reader.take() == $0 }),
                    let tree = SummaryTree(from: &reader, chunks: thread.chunks.count)
                else { return false }
                trees.append(tree)
            }
            return reader.isAtEnd
        }
        guard isRead else { return nil }
        self.init(threads, clock, resolver, storage, SummaryFunctions(keys), trees)
    }

    private static func identity(of thread: TracedThread) -> [UInt64] {
        [
            UInt64(thread.process.index), UInt64(thread.serial), UInt64(thread.task.map { UInt64($0) + 1 } ?? 0),
            UInt64(thread.chunks.count), UInt64(thread.bytes),
        ]
    }
}
