public import TraceFile

/// The call paths of a session that is being recorded, and what their calls add up to so far.
///
/// Records are read once. Threads that have ended are added up together, so memory follows the call paths and the threads
/// that are there, not the recording's length.
public final class GrowingPaths {
    public let session: GrowingSession
    private let functions: FunctionTable
    private var resolver: FunctionResolver
    private var replays: [GrowingSession.ThreadID: GrowingReplay] = [:]
    /// What threads did that have ended.
    private var ended = CallPathTable()
    private var isEndedEmpty = true

    public init(_ session: GrowingSession, functions: FunctionTable) {
        self.session = session
        self.functions = functions
        resolver = FunctionResolver(functions)
    }

    deinit {
        for replay in replays.values { replay.free() }
        ended.free()
    }

    /// The threads that there are.
    public var threads: [GrowingSession.ThreadID] { replays.keys.sorted() }

    /// Reads what is new, as long as `goesOn` says.
    ///
    /// - Returns: whether everything was read that there was.
    public func read(while goesOn: () -> Bool) -> Bool {
        session.read(
            while: goesOn,
            changed: { index in
                // The space of a process is made anew; functions keep their ids.
                resolver.forget(index)
                guard let process = session.process(index) else { return }
                let space = resolver.space(of: process)
                for id in replays.keys where id.process == index { replays[id]!.set(space) }
            }, add)
    }

    /// Replays pieces of threads, on all cores where there is much to do.
    private func add(_ pieces: [GrowingSession.Piece]) {
        var added = pieces.map { piece in
            replays.removeValue(forKey: piece.id)
                ?? GrowingReplay(piece.thread, resolver.space(of: piece.thread.process), session.clock)
        }
        let size = pieces.reduce(0) { $0 + $1.thread.bytes }
        if size < GrowingPaths.leastForWorkers || pieces.count < 2 {
            for (index, piece) in pieces.enumerated() { added[index].add(piece.thread) }
        } else {
            let pool = WorkerPool(jobs: pieces.count) { job, pool in
                var replay = pool.exclusively { added[job] }
                replay.add(pieces[job].thread)
                pool.exclusively { added[job] = replay }
            }
            pool.run(workers: min(WorkerPool.processors, pieces.count))
        }
        for (piece, replay) in zip(pieces, added) {
            guard piece.hasEnded else {
                replays[piece.id] = replay
                continue
            }
            var replay = replay
            replay.add(to: &ended, now: nil)
            isEndedEmpty = false
            replay.free()
        }
    }

    /// Fewer bytes than this are replayed before other threads are started.
    private static let leastForWorkers = 1 << 18

    /// The paths of all threads until they were looked at last, or of some.
    ///
    /// - Parameters:
    ///   - end: in ticks: when recording was stopped, if it was; calls that were open then have ended there.
    ///   - isWanted: nil for all, also those that have ended.
    /// - Complexity: O(n log n) in the number of paths, whatever the number of calls.
    public func tree(until stopped: UInt64? = nil, of isWanted: ((GrowingSession.ThreadID) -> Bool)? = nil)
        -> CallPathTree
    {
        var sum = CallPathTable()
        if isWanted == nil, !isEndedEmpty { GrowingPaths.add(ended, to: &sum) }
        var living = LivingProcesses()
        for id in threads where isWanted?(id) ?? true {
            let process = session.process(id.process)
            // The calls of a thread whose process is gone ended with it.
            let end = process.flatMap {
                $0.endTicks != 0
                    ? $0.endTicks : living.contains($0.pid) ? min(session.lookedAt, stopped ?? .max) : nil
            }
            replays[id]!.add(to: &sum, now: end)
        }
        return CallPathTree(sum, functions: functions)
    }

    /// Adds paths to others by the same functions.
    private static func add(_ table: CallPathTable, to sum: inout CallPathTable) {
        let places = GrowingMemory<UInt32>(capacity: table.count)
        defer { places.free() }
        for index in 1..<max(table.count, 1) {
            let node = table.nodes[index]
            let place = sum.callee(of: places.start[Int(node.parent)], function: node.function)
            places.start[index] = place
            sum.add(table.sums(UInt32(index)), node.histogram, in: table.histograms, to: place)
        }
    }
}
