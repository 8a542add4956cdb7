public import TraceFile

/// Joins the pieces of Swift's tasks, which run now on one thread and now on another, into one call tree a task.
///
/// A call of a function that may suspend lasts from the beginning of its first piece to the end of its last. While none
/// of its pieces runs, it has a callee `(suspended)`. The chain of contexts of a piece tells which calls the piece
/// belongs to, because a context stands for one call as long as that call lasts. What the threads did besides is left
/// to them.
///
/// Times are on the clock that all threads share, so they include what the tracer took at chunk switches. A task has no CPU
/// when the thread that it is on has none. While it is suspended, and while it waits for a thread to go on with it, it is
/// blocked.
public struct TaskJoin {
    private let session: Session
    private let resolver: FunctionResolver
    private let onProgress: (Double) -> Void

    /// - Parameter onProgress: told how far a process's tasks are joined, 0...1, and 1 at the end. It is never called twice at
    ///   once.
    public init(of session: Session, resolver: FunctionResolver, onProgress: @escaping (Double) -> Void = { _ in }) {
        self.session = session
        self.resolver = resolver
        self.onProgress = onProgress
    }

    /// The threads of `process`, without what they did for tasks, and its tasks in the order in which they began.
    ///
    /// - Complexity: O(records). Memory grows with the records of threads that ran tasks.
    public func threads(of process: TracedProcess) -> [TracedThread] {
        let runners = process.threads.filter { thread in thread.chunks.contains { $0.hasTasks } }
        guard !runners.isEmpty else { return process.threads }
        let sinks = replay(runners)
        let offCPU = runners.map { $0.onSharedClock.offCPU() }
        let end = max(sinks.map(\.end).max() ?? 0, process.endTicks)
        var rest = process.threads
        for (runner, (thread, sink)) in zip(runners, sinks).enumerated() {
            sink.rest.finish(at: sink.end, lost: thread.lostCalls)
            let index = rest.firstIndex { $0 === thread }!
            rest[index] = TracedThread(
                process, task: nil, thread: thread, chunks: sink.rest, offCPU: offCPU[runner])
        }
        defer { onProgress(1) }
        return rest + tasks(of: process, sinks, offCPU, end: end)
    }

    /// The part of the work that is done once the threads' records are read.
    private static let readingPart = 0.5

    /// Takes the pieces of tasks out of each of `threads`.
    private func replay(_ threads: [TracedThread]) -> [TaskPieceSink] {
        // Moments stay ticks until the joined records are read.
        let ticks = Clock(monotonicFrom: 0)
        var sinks = threads.indices.map { TaskPieceSink(threads[$0], index: $0) }
        let bytes = Double(max(1, threads.reduce(0) { $0 + $1.bytes }))
        var bytesRead = 0
        let pool = WorkerPool(jobs: threads.count) { [unready = sinks] job, pool in
            var sink = unready[job]
            let thread = threads[job].onSharedClock
            let onChunk = { (chunk: Int) in
                pool.exclusively {
                    bytesRead += thread.chunks[chunk].size
                    onProgress(TaskJoin.readingPart * min(1, Double(bytesRead) / bytes))
                }
            }
            StackReplay.runWithFaults(thread, clock: ticks, onChunk: onChunk, into: &sink)
            pool.exclusively { sinks[job] = sink }
        }
        pool.run(workers: min(WorkerPool.processors, threads.count))
        return sinks
    }

    /// Which run this is, and when it began.
    private struct RunPlace: BitwiseCopyable {
        var task: UInt32
        var thread: Int32
        var order: Int32
        var start: UInt64

        init(of run: TaskRun) {
            task = run.piece.task
            thread = Int32(run.thread)
            order = Int32(run.order)
            start = run.start
        }
    }

    private func tasks(
        of process: TracedProcess, _ sinks: [TaskPieceSink], _ offCPU: [OffCPU?], end: UInt64
    ) -> [TracedThread] {
        // The places are sorted, not the runs themselves, because runs are large and there are many.
        let places = sinks.flatMap { $0.runs.lazy.map { RunPlace(of: $0) } }.sorted {
            ($0.task, $0.start, $0.thread, $0.order) < ($1.task, $1.start, $1.thread, $1.order)
        }
        let starts = sinks.flatMap(\.starts).sorted()
        let space = resolver.space(of: process)
        var parts: [UInt64: AsyncPart] = [:]
        var tasks: [(start: UInt64, thread: TracedThread)] = []
        var first = 0
        while first < places.count {
            let task = places[first].task
            let next = places[first...].firstIndex { $0.task != task } ?? places.count
            var tree = TaskTree(
                task: task, clock: session.clock, starts: starts, splitsTimes: offCPU.allSatisfy { $0 != nil })
            for place in places[first..<next] {
                let sink = sinks[Int(place.thread)]
                let run = sink.runs[Int(place.order)]
                let known = space.addressesChange ? nil : parts[run.function]
                let part = known ?? space.part(at: run.function, ticks: run.start)
                parts[run.function] = part
                tree.add(run, part, sink.levels[run.level], offCPU[run.thread])
            }
            tree.finish(at: end)
            let thread = TracedThread(
                process, task: task, thread: nil, chunks: tree.chunks, offCPU: tree.offCPU?.times)
            tasks.append((places[first].start, thread))
            first = next
            onProgress(TaskJoin.readingPart + (1 - TaskJoin.readingPart) * Double(first) / Double(places.count))
        }
        return tasks.sorted { ($0.start, $0.thread.task!) < ($1.start, $1.thread.task!) }.map(\.thread)
    }
}

/// The call tree of one task, made of its pieces in order of time.
private struct TaskTree {
    /// A call of a function that may suspend, and that has not returned as far as is known.
    private struct Activation {
        var context: UInt64
        /// The number of contexts from its own to the task's first.
        var depth: Int
        var part: AsyncPart
        /// Whether it has a line in the tree. It has none when it is the rest of what its caller, a thunk, has begun.
        var isCall: Bool
    }

    /// 0.1 ms in ticks. When a thread goes on with the same task after less than this, with nothing recorded between
    /// and nothing else to tell, it only ran code that is not instrumented.
    private let leastSuspension: UInt64
    /// 1 us in ticks. No executor is quicker to go on with a task that was suspended.
    private let leastResumption: UInt64

    let chunks: JoinedChunks
    /// When the task had no CPU; nil when that is not known of its threads.
    private(set) var offCPU: JoinedOffCPU?
    private let clock: Clock
    /// When recording was started again, after the last piece.
    private var starts: ArraySlice<UInt64>
    private var stack: [Activation] = []
    private var last: Last?

    private struct Last {
        var run: TaskRun
        /// The context of the call that it is part of; nil for a call that cannot suspend.
        var context: UInt64?
    }

    init(task: UInt32, clock: Clock, starts: [UInt64], splitsTimes: Bool) {
        self.starts = starts[...]
        chunks = JoinedChunks(name: "task \(task)")
        self.clock = clock
        offCPU = splitsTimes ? JoinedOffCPU() : nil
        leastSuspension = clock.ticks(at: 100_000) &- clock.ticks(at: 0)
        leastResumption = clock.ticks(at: 1000) &- clock.ticks(at: 0)
    }

    /// - Parameters:
    ///   - records: the records that those of the run are among.
    ///   - thread: when the run's thread had no CPU.
    mutating func add(_ run: TaskRun, _ part: AsyncPart, _ records: JoinedChunks, _ thread: OffCPU?) {
        stopIfStopped(before: run)
        let chain = run.piece.chain
        let skipped = part.kind == .start || part.kind == .continuation ? 1 : 0
        if !chain.isEmpty {
            // Beyond some depth, chains are too long to be counted.
            let depth = run.piece.depth < TaskPiece.depthLimit ? Int(run.piece.depth) - skipped : nil
            returnTo(chain.dropFirst(skipped), depth: depth)
        }
        var start = last?.run.end ?? run.start
        if let last, !stack.isEmpty, isSuspended(between: last, run, part.kind) {
            chunks.enter(FunctionTable.suspended, callSite: 0, at: last.run.end)
            chunks.exit(at: run.start)
            wait(from: start, to: run.start)
            start = run.start
        }
        if let thread {
            offCPU?.ran(on: thread, from: clock.nanoseconds(at: start), to: clock.nanoseconds(at: run.end))
        }
        // The contexts where the piece belongs: its function's call, or one of its own.
        let own = chain.dropFirst(part.kind == .start ? 0 : skipped)
        let keeps = part.kind != .none && !own.isEmpty
        if part.kind == .none || part.kind == .start || own.isEmpty || own.first != stack.last?.context {
            let isRest =
                own.dropFirst().first == stack.last?.context && stack.last.map { begins($0.part, part) } == true
            if !isRest { chunks.enter(run.function, callSite: run.callSite, at: run.start) }
            if keeps {
                stack.append(
                    Activation(
                        context: own.first!, depth: depth(of: own, run.piece), part: part, isCall: !isRest))
            }
        }
        chunks.append(records, from: run.first, to: run.last)
        if run.isOpen {
            stop(at: run.end)
        } else if !keeps {
            if run.isUnwound { chunks.unwind(at: run.end) } else { chunks.exit(at: run.end) }
        }
        last = Last(run: run, context: keeps ? own.first : nil)
    }

    /// The task is on no thread.
    private mutating func wait(from start: UInt64, to end: UInt64) {
        offCPU?.waited(from: clock.nanoseconds(at: start), to: clock.nanoseconds(at: end))
    }

    /// Ends all open calls, because recording was stopped and it is unknown whether they went on.
    private mutating func stop(at time: UInt64) {
        chunks.stop(at: time)
        stack = []
    }

    private mutating func stopIfStopped(before run: TaskRun) {
        let passed = starts.prefix { $0 <= run.start }
        starts = starts.dropFirst(passed.count)
        guard let last, passed.contains(where: { $0 >= last.run.end }) else { return }
        stop(at: last.run.end)
        self.last = nil
    }

    /// Whether `thunk` contains the beginning of the function that `part` is of.
    private func begins(_ thunk: AsyncPart, _ part: AsyncPart) -> Bool {
        thunk.isThunk && thunk.function != nil && thunk.function == part.function
    }

    /// The number of contexts from the first of `own` to the task's first.
    private func depth(of own: ArraySlice<UInt64>, _ piece: TaskPiece) -> Int {
        if piece.depth < TaskPiece.depthLimit { return Int(piece.depth) - (piece.chain.count - own.count) }
        guard let caller = stack.last else { return Int(TaskPiece.depthLimit) }
        return caller.depth + ((own.firstIndex(of: caller.context) ?? own.startIndex + 1) - own.startIndex)
    }

    /// Ends the calls that have returned when one of `contexts`, or a call within one of them, goes on. The innermost
    /// context comes first.
    ///
    /// - Parameter depth: the number of contexts from the innermost to the task's first; nil when they are too many.
    private mutating func returnTo(_ contexts: ArraySlice<UInt64>, depth: Int?) {
        var kept = stack.count
        search: while kept > 0 {
            let activation = stack[kept - 1]
            for (index, context) in contexts.enumerated()
            where context == activation.context && (depth == nil || depth! - index == activation.depth) { break search }
            // Calls further out than the contexts that are known may still be there.
            if let depth, activation.depth < depth - contexts.count + 1 { break }
            kept -= 1
        }
        if kept == 0, depth == nil { return }
        end(stack.count - kept)
    }

    /// Ends the innermost `count` calls, which have returned.
    private mutating func end(_ count: Int) {
        for _ in 0..<count where stack.removeLast().isCall { chunks.exit(at: last?.run.end ?? 0) }
    }

    /// Whether the task did not run between two pieces of it.
    private func isSuspended(between last: Last, _ run: TaskRun, _ part: AsyncPart.Kind) -> Bool {
        guard run.start > last.run.end else { return false }
        if run.thread != last.run.thread || run.order != last.run.order + 1 { return true }
        let gap = run.start - last.run.end
        let chain = run.piece.chain
        switch part {
        case .resumption:
            // What the task would go on with may be left over from before.
            return run.piece.isResumed && gap >= leastResumption
        case .start where chain.count > 1 && chain[1] == last.context: return false  // called it
        case .continuation where chain.first == last.context: return false  // returned to it
        case .none:
            // The executor sets what the task is to go on with before it hands out a continuation.
            return gap >= leastSuspension
        case .start, .continuation:
            let isOther = run.piece.isResumed || run.piece.resume != last.run.piece.resume
            return gap >= (isOther ? leastResumption : leastSuspension)
        }
    }

    /// The recording ended at `end`.
    mutating func finish(at end: UInt64) {
        guard let last = last?.run else { return }
        // When all calls but the outermost have returned, the outermost is taken to have returned as well.
        if last.isOpen {
            chunks.finish(at: last.end)
        } else if stack.count(where: \.isCall) > 1 {
            chunks.enter(FunctionTable.suspended, callSite: 0, at: last.end)
            chunks.finish(at: end)
            wait(from: last.end, to: end)
        } else {
            for call in stack where call.isCall { chunks.exit(at: last.end) }
            chunks.finish(at: last.end)
        }
    }
}
