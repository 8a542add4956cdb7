public import TraceFormat

/// Adds up the calls of threads by call path, in one pass over the recording, on all cores.
///
/// Memory follows the number of call paths and of threads at work at once, not the number of calls.
public struct Aggregation {
    private let session: Session
    private let resolver: FunctionResolver
    private let filter: TreeFilter
    private let cost: TracingCost?
    private let workers: Int
    private let partSize: Int
    private let onProgress: ((Double) -> Void)?

    /// - Parameters:
    ///   - filter: its stretch of time limits the calls that count, its names and depth the paths; its cost does not
    ///     count here: it is for what the calls add up to.
    ///   - cost: what to take out of all times.
    ///   - workers: threads to work with; 0 for one a core.
    ///   - partSize: bytes of a thread's recording that are worth a worker of their own.
    ///   - onProgress: told at every chunk what part of the recording was read, 0...1, and 1 at the end. Not called twice at
    ///     once.
    public init(
        of session: Session, resolver: FunctionResolver, filter: TreeFilter, cost: TracingCost? = nil, workers: Int = 0,
        partSize: Int = 4 << 20, onProgress: ((Double) -> Void)? = nil
    ) {
        self.session = session
        self.resolver = resolver
        self.filter = filter
        self.cost = cost
        self.partSize = partSize
        self.onProgress = onProgress
        self.workers = workers > 0 ? workers : WorkerPool.processors
    }

    /// The call paths of all of `threads` together.
    ///
    /// - Complexity: O(records) over all cores, then O(n log n) in the number of paths.
    public func tree(of threads: [TracedThread]) -> CallPathTree {
        var sum = CallPathTable()
        forEach(threads) { _, tables, space in
            for table in tables { add(table, space, to: &sum) }
        }
        return shown(sum)
    }

    /// The call paths of each of `threads`, handed out in no order. `body` is not called twice at once.
    public func forEachTree(of threads: [TracedThread], _ body: (Int, CallPathTree) -> Void) {
        forEach(threads) { index, tables, space in
            var own = CallPathTable()
            for table in tables { add(table, space, to: &own) }
            body(index, shown(own))
        }
    }

    /// Corrected before it is filtered: calls that are not shown cost as well.
    private func shown(_ table: CallPathTable) -> CallPathTree {
        let tree = CallPathTree(table, functions: resolver.functions)
        return (cost.map(tree.corrected) ?? tree).filtered(filter)
    }

    /// Adds a thread's paths, known by addresses, to those known by function ids.
    private func add(_ table: CallPathTable, _ space: AddressSpace, to sum: inout CallPathTable) {
        var places = [UInt32](repeating: 0, count: table.count)
        for index in 1..<table.count {
            let node = table.nodes[index]
            // No call of it is in the stretch of time asked for, so none below it is.
            if node.sums.firstStart == .max { continue }
            let function = space.function(at: node.key, epoch: node.epoch)
            places[index] = sum.callee(of: places[Int(node.parent)], key: UInt64(function), epoch: 0)
            sum.add(node.sums, node.histogram, in: table.histograms, to: places[index])
        }
    }

    /// Passes the paths of each of `threads`, in one table or several, when they are known.
    private func forEach(_ threads: [TracedThread], _ take: (Int, [CallPathTable], AddressSpace) -> Void) {
        let spaces = threads.map { resolver.space(of: $0.process) }
        // The longest first, so that none is left for last.
        let order = threads.indices.sorted { (threads[$0].bytes, $1) > (threads[$1].bytes, $0) }
        let works = order.map { ThreadWork($0, threads[$0], spaces[$0], boundaries: boundaries(of: threads[$0])) }
        let jobs = works.flatMap { work in work.parts.indices.map { (work, $0) } }
        withoutActuallyEscaping(take) { take in
            var bytesRead = 0
            let bytes = Double(max(1, threads.reduce(0) { $0 + $1.bytes }))
            let pool = WorkerPool(jobs: jobs.count) { job, pool in
                let (work, part) = jobs[job]
                let sink = replay(work, part) { chunk in
                    guard let onProgress else { return }
                    pool.exclusively {
                        bytesRead += Chunk.headerSize + work.parts[part].chunks[chunk].payload.count
                        onProgress(Double(bytesRead) / bytes)
                    }
                }
                let isComplete = pool.exclusively { work.finish(part, sink) }
                guard isComplete else { return }
                let sinks = joined(work)
                pool.exclusively { take(work.index, sinks.map(\.table), work.space) }
                for sink in sinks { sink.table.free() }
            }
            pool.run(workers: min(workers, jobs.count))
            onProgress?(1)
        }
    }

    /// Where a thread is split: the first chunks of its parts, that of the first part left out.
    private func boundaries(of thread: TracedThread) -> [Int] {
        let parts = min(workers, thread.bytes / max(partSize, 1))
        guard parts > 1, !thread.isJoined else { return [] }
        var boundaries: [Int] = []
        var bytes = 0
        for (index, chunk) in thread.chunks.enumerated() {
            if bytes >= thread.bytes / parts * (boundaries.count + 1), index > 0, thread.canBeSplit(at: index) {
                boundaries.append(index)
            }
            bytes += Chunk.headerSize + chunk.payload.count
        }
        return Array(boundaries.prefix(parts - 1))
    }

    private func replay(_ work: ThreadWork, _ part: Int, onChunk: @escaping (Int) -> Void) -> CallPathSink {
        let thread = work.parts[part]
        var sink = CallPathSink(
            work.space, from: filter.from, to: filter.to, carriedIn: part == 0 ? 0 : thread.chunks[0].depth,
            lastChunk: part == work.parts.count - 1 ? nil : thread.chunks.count - 1, onChunk: onChunk)
        StackReplay.run(thread, clock: session.clock, into: &sink)
        return sink
    }

    /// The parts of a thread that was replayed, made whole.
    private func joined(_ work: ThreadWork) -> [CallPathSink] {
        var sinks = work.takeSinks()
        for part in sinks.indices.dropFirst() {
            let begin = work.parts[part].chunks[0].beginTicks
            let taken = work.thread.tracerTicks(upTo: begin)
            let boundary = session.clock.nanoseconds(at: begin > taken ? begin &- taken : 0)
            if sinks[part].join(sinks[part - 1], boundary: boundary) { continue }
            for sink in sinks { sink.table.free() }
            var whole = CallPathSink(work.space, from: filter.from, to: filter.to)
            StackReplay.run(work.thread, clock: session.clock, into: &whole)
            return [whole]
        }
        work.reportDamage()
        return sinks
    }
}

/// A thread that is replayed in parts.
private final class ThreadWork {
    let index: Int
    let thread: TracedThread
    let space: AddressSpace
    let parts: [TracedThread]
    private let damage = DamageLog()
    private var sinks: [CallPathSink?]

    init(_ index: Int, _ thread: TracedThread, _ space: AddressSpace, boundaries: [Int]) {
        self.index = index
        self.thread = thread
        self.space = space
        let damage = self.damage
        parts =
            boundaries.isEmpty
            ? [thread]
            : zip([0] + boundaries, boundaries + [thread.chunks.count]).map { thread.part($0..<$1, damage: damage) }
        sinks = Array(repeating: nil, count: parts.count)
    }

    /// Notes what came of a part; returns whether it was the last one missing.
    func finish(_ part: Int, _ sink: CallPathSink) -> Bool {
        sinks[part] = sink
        return sinks.allSatisfy { $0 != nil }
    }

    func takeSinks() -> [CallPathSink] {
        defer { sinks = [] }
        return sinks.compactMap { $0 }
    }

    /// Passes on what was found damaged in parts that fit together; in others, their beginning may look like damage.
    func reportDamage() { thread.report(damage) }
}
