public import TraceFile

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
    private let bySite: Bool
    private let onProgress: ((Double) -> Void)?

    /// - Parameters:
    ///   - filter: its stretch of time limits the calls that count, its names and depth limit the paths. Its cost is
    ///     not used here, because it is for what the calls add up to.
    ///   - cost: what to take out of all times.
    ///   - workers: the number of threads to work with; 0 for one a core.
    ///   - partSize: a part of a thread's recording gets a worker of its own when it has this many bytes.
    ///   - bySite: whether each function counts by the lines that it is called at: see ``FunctionTable/line(ofCallsOf:)``.
    ///   - onProgress: told at every chunk what part of the recording was read, 0...1, and 1 at the end. It is never
    ///     called twice at once.
    public init(
        of session: Session, resolver: FunctionResolver, filter: TreeFilter, cost: TracingCost? = nil, workers: Int = 0,
        partSize: Int = 4 << 20, bySite: Bool = false, onProgress: ((Double) -> Void)? = nil
    ) {
        self.session = session
        self.resolver = resolver
        self.filter = filter
        self.cost = cost
        self.partSize = partSize
        self.bySite = bySite
        self.onProgress = onProgress
        self.workers = workers > 0 ? workers : WorkerPool.processors
    }

    /// The call paths of all of `threads` together.
    ///
    /// - Complexity: O(records) over all cores, then O(n log n) in the number of paths.
    public func tree(of threads: [TracedThread]) -> CallPathTree {
        var sum = CallPathTable()
        forEach(threads) { _, sinks, space in
            for sink in sinks { add(sink, space, to: &sum) }
        }
        return shown(sum)
    }

    /// The call paths of all of `threads` together, as they were recorded, and what those of each thread add up to, as `rows`
    /// says, in one pass.
    ///
    /// - Complexity: that of ``tree(of:)``; with a filter or a cost, O(n log n) in the number of each thread's paths as well.
    public func sums(of threads: [TracedThread], rows: RowSettings) -> (tree: CallPathTree, threads: [ThreadSums]) {
        var sum = CallPathTable()
        var known = [ThreadSums?](repeating: nil, count: threads.count)
        forEach(threads) { index, sinks, space in
            if rows.isAsRecorded {
                known[index] = ThreadSums(threads[index], sinks)
            } else if threads.count > 1 {
                var own = CallPathTable()
                for sink in sinks { Aggregation.add(sink.table, sink.keys, sink.sites, space, to: &own).free() }
                if session.followsMemory { own.addUpMemory() }
                known[index] = ThreadSums(threads[index], rows.shown(CallPathTree(own, functions: resolver.functions)))
            }
            for sink in sinks { add(sink, space, to: &sum) }
        }
        if session.followsMemory { sum.addUpMemory() }
        let tree = CallPathTree(sum, functions: resolver.functions)
        if threads.count == 1, !rows.isAsRecorded { known[0] = ThreadSums(threads[0], rows.shown(tree)) }
        return (tree, known.compactMap { $0 })
    }

    /// What the call paths of each of `threads` add up to; threads without any are left out.
    public func threadSums(of threads: [TracedThread]) -> [ThreadSums] {
        var known = [ThreadSums?](repeating: nil, count: threads.count)
        forEach(threads) { index, sinks, space in
            var own = CallPathTable()
            for sink in sinks { add(sink, space, to: &own) }
            known[index] = ThreadSums(threads[index], shown(own))
        }
        return known.compactMap { $0 }
    }

    /// The paths are corrected before they are filtered, because calls that are not shown cost as well.
    private func shown(_ table: consuming CallPathTable) -> CallPathTree {
        if session.followsMemory { table.addUpMemory() }
        let tree = CallPathTree(table, functions: resolver.functions)
        return (cost.map(tree.corrected) ?? tree).filtered(filter)
    }

    /// Adds the paths of a thread, or of a part of one, to the sum, by function ids. This uses up what is in `sink`.
    private func add(_ sink: CallPathSink, _ space: AddressSpace, to sum: inout CallPathTable) {
        if sum.count == 1, let functions = functions(of: sink, space) {
            sum.free()
            sum = sink.table
            sum.translate(functions)
        } else {
            var table = sink.table
            table.close()
            Aggregation.add(table, sink.keys, sink.sites, space, to: &sum, isLastUse: true).free()
            table.free()
        }
        sink.freeKeys()
    }

    /// The functions of a sink's keys, if replacing keys by functions is all that makes its table one of function ids.
    private func functions(of sink: CallPathSink, _ space: AddressSpace) -> [UInt32]? {
        var functions = [UInt32](repeating: .max, count: sink.keys.count)
        var seen: Set<UInt32> = []
        for index in 1..<max(sink.table.count, 1) {
            let node = sink.table.nodes + index
            if node.pointee.firstStart == .max { return nil }
            let number = Int(node.pointee.function)
            if functions[number] != .max { continue }
            functions[number] = space.function(of: sink.keys[node.pointee.function].pointee, sites: sink.sites)
            // Two keys are versions of one function, so paths must become one.
            guard seen.insert(functions[number]).inserted else { return nil }
        }
        return functions
    }

    /// Nodes that are added before the memory of those that have been added is given back. So a part's paths and their sum
    /// are not in memory together.
    private static let stretch = 1 << 16

    /// Adds the paths of a table by functions' addresses to one by functions' ids.
    ///
    /// - Returns: for each node the one that it was added to, 0 for none. The caller frees it.
    static func add(
        _ table: CallPathTable, _ keys: FunctionKeys, _ sites: FunctionKeys?, _ space: AddressSpace,
        to sum: inout CallPathTable,
        isLastUse: Bool = false
    ) -> GrowingMemory<UInt32> {
        var functions = [UInt32](repeating: .max, count: keys.count)
        let places = GrowingMemory<UInt32>(capacity: table.count)
        for index in 1..<max(table.count, 1) {
            if isLastUse, index % Aggregation.stretch == 0 { table.forgetNodes(below: index) }
            let node = table.nodes[index]
            // No call of the path is in the stretch of time asked for, so none below it is.
            if node.firstStart == .max { continue }
            let number = Int(node.function)
            if functions[number] == .max {
                functions[number] = space.function(of: keys[node.function].pointee, sites: sites)
            }
            let place = sum.callee(of: places.start[Int(node.parent)], function: functions[number])
            places.start[index] = place
            sum.add(table.sums(UInt32(index)), node.histogram, in: table.histograms, to: place)
        }
        return places
    }

    /// Passes the paths of each of `threads`, in one sink or several, as soon as they are known. `take` uses them up.
    private func forEach(_ threads: [TracedThread], _ take: (Int, [CallPathSink], AddressSpace) -> Void) {
        let spaces = threads.map { resolver.space(of: $0.process) }
        // The longest threads come first, so that none is left for last.
        let sizes = threads.map(\.bytes)
        let order = threads.indices.sorted { (sizes[$0], $1) > (sizes[$1], $0) }
        let memories = memories(of: threads)
        let works = order.map {
            let seek =
                threads[$0].keepsPaths
                ? nil
                : CallPathSeek(
                    threads[$0], clock: session.clock, from: filter.from, to: filter.to, part: 0.5 / Double(workers))
            return ThreadWork(
                $0, threads[$0], spaces[$0], seek, memories[ObjectIdentifier(threads[$0].process)],
                boundaries: seek == nil ? boundaries(of: threads[$0], sizes[$0]) : [])
        }
        let jobs = works.flatMap { work in work.parts.indices.map { (work, $0) } }
        withoutActuallyEscaping(take) { take in
            var bytesRead = 0
            let bytes = Double(max(1, sizes.reduce(0, +)))
            let pool = WorkerPool(jobs: jobs.count) { job, pool in
                let (work, part) = jobs[job]
                let sink = replay(work, part) { chunk in
                    guard let onProgress else { return }
                    pool.exclusively {
                        bytesRead += work.parts[part].chunks[chunk].size
                        onProgress(Double(bytesRead) / bytes)
                    }
                }
                let isComplete = pool.exclusively { work.finish(part, sink) }
                guard isComplete else { return }
                let sinks = joined(work)
                pool.exclusively { take(work.index, sinks, work.space) }
            }
            pool.run(workers: min(workers, jobs.count))
            onProgress?(1)
        }
    }

    /// What became of the blocks of each process, if that was recorded.
    private func memories(of threads: [TracedThread]) -> [ObjectIdentifier: LiveMemory] {
        guard session.tellsMemory else { return [:] }
        var memories: [ObjectIdentifier: LiveMemory] = [:]
        for thread in threads where memories[ObjectIdentifier(thread.process)] == nil {
            memories[ObjectIdentifier(thread.process)] = LiveMemory(of: thread.process)
        }
        return memories
    }

    /// Where a thread is split: the first chunks of its parts, except that of the first part.
    private func boundaries(of thread: TracedThread, _ size: Int) -> [Int] {
        let parts = min(workers, size / max(partSize, 1))
        guard parts > 1, !thread.isJoined, !thread.keepsPaths else { return [] }
        var boundaries: [Int] = []
        var bytes = 0
        for (index, chunk) in thread.chunks.enumerated() {
            if bytes >= size / parts * (boundaries.count + 1), index > 0, thread.canBeSplit(at: index) {
                boundaries.append(index)
            }
            bytes += chunk.size
        }
        return Array(boundaries.prefix(parts - 1))
    }

    private func replay(_ work: ThreadWork, _ part: Int, onChunk: @escaping (Int) -> Void) -> CallPathSink {
        let thread = work.parts[part]
        if thread.keepsPaths {
            var sink = CallPathSink(work.space, from: 0, to: .max, onChunk: onChunk)
            sink.add(recordedPathsOf: thread, clock: session.clock, onChunk: onChunk)
            return sink
        }
        if let seek = work.seek {
            var sink = CallPathSink(
                work.space, from: filter.from, to: filter.to, clips: filter.clips, offCPU: work.offCPU,
                memory: work.memory, seek: seek, bySite: bySite, onChunk: onChunk)
            let chunks = seek.chunks.lowerBound..<thread.chunks.count
            StackReplay.runWithFaults(thread, clock: session.clock, chunks: chunks, into: &sink)
            if sink.isSelfContained, sink.isThrough { return sink }
            sink.free()
        }
        var sink = CallPathSink(
            work.space, from: filter.from, to: filter.to, clips: filter.clips, offCPU: work.offCPU, memory: work.memory,
            carriedIn: part == 0 ? 0 : thread.chunks[0].depth,
            lastChunk: part == work.parts.count - 1 ? nil : thread.chunks.count - 1, bySite: bySite, onChunk: onChunk)
        StackReplay.runWithFaults(thread, clock: session.clock, into: &sink)
        return sink
    }

    /// Joins the parts of a thread that was replayed.
    private func joined(_ work: ThreadWork) -> [CallPathSink] {
        var sinks = work.takeSinks()
        for part in sinks.indices.dropFirst() {
            let boundary = work.thread.own(ticks: work.parts[part].chunks[0].beginTicks, session.clock)
            if sinks[part].join(sinks[part - 1], boundary: boundary) { continue }
            for sink in sinks { sink.free() }
            var whole = CallPathSink(
                work.space, from: filter.from, to: filter.to, clips: filter.clips, offCPU: work.offCPU,
                memory: work.memory, bySite: bySite)
            StackReplay.runWithFaults(work.thread, clock: session.clock, into: &whole)
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
    let seek: CallPathSeek?
    /// When the thread had no CPU; nil when that is not known.
    let offCPU: OffCPU?
    /// Which blocks of its process were not freed; nil when that was not recorded.
    let memory: LiveMemory?
    private let damage = DamageLog()
    private var sinks: [CallPathSink?]

    init(
        _ index: Int, _ thread: TracedThread, _ space: AddressSpace, _ seek: CallPathSeek?, _ memory: LiveMemory?,
        boundaries: [Int]
    ) {
        self.seek = seek
        self.memory = memory
        offCPU = thread.offCPU()
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

    /// Notes the outcome of a part, and returns whether it was the last one missing.
    func finish(_ part: Int, _ sink: CallPathSink) -> Bool {
        sinks[part] = sink
        return sinks.allSatisfy { $0 != nil }
    }

    func takeSinks() -> [CallPathSink] {
        defer { sinks = [] }
        return sinks.compactMap { $0 }
    }

    /// Reports the damage that was found, where the parts fit together. Where they do not, the beginning of a part may
    /// look like damage.
    func reportDamage() { thread.report(damage) }
}
