public import TraceFile

/// The open calls of all threads of a session that is being recorded: exact, with the time at which each was entered.
///
/// The program is neither asked nor stopped, so this works while it hangs. Each thread is seen as it was at some moment
/// within the look.
public final class LiveThreads {
    private let buffers: LiveBuffers
    private let wantsMarks: Bool
    /// Calls that took at least this long are told of when they have ended, as far as that is seen. In ticks.
    public var longTicks = UInt64.max
    private var known: [ThreadID: LiveReplay] = [:]

    private struct ThreadID: Hashable {
        var process: UInt32
        var thread: UInt32
    }

    /// - Parameters:
    ///   - session: the directory of a session that is being recorded.
    ///   - wantsMarks: whether the marks that threads set between two looks are wanted, too. They are there as long as the
    ///     buffers are a ring, which is not written over meanwhile.
    /// - Throws: ``TraceFileError`` when the session has no buffers that can be read: it has ended.
    public init(of session: String, wantsMarks: Bool = false) throws(TraceFileError) {
        buffers = try LiveBuffers(of: session)
        self.wantsMarks = wantsMarks
    }

    /// What the session keeps of calls. With ``SessionContent/counts``, it is unknown which calls are open.
    public var content: SessionContent { buffers.content }

    /// Whether finished records stay for a while where ``look()`` finds them.
    public var isRing: Bool { buffers.isRing }

    /// The clock that ticks are of.
    public var clock: Clock { buffers.clock }

    /// This moment, in ticks.
    public var now: UInt64 { buffers.now }

    /// The recorder's process; 0 once it has left.
    public var recorder: Int32 { buffers.recorder }

    /// Looks at all threads. Those of processes that were killed may still be there: no record tells of their end.
    ///
    /// - Complexity: a few system calls for each thread, and O(records) that a thread has made since, of its last chunk.
    ///   Where call paths are kept, O(paths).
    public func look() -> [LiveThread] {
        let chunks = buffers.chunks()
        if chunks.contains(where: \.holdsPaths) {
            let groups = Dictionary(grouping: chunks.filter(\.holdsPaths)) {
                ThreadID(process: $0.process, thread: $0.thread)
            }
            return groups.values.compactMap { LivePaths.thread(of: $0, in: buffers) }.sorted(by: LiveThreads.isBefore)
        }
        var newest: [ThreadID: LiveChunk] = [:]
        for chunk in chunks {
            let id = ThreadID(process: chunk.process, thread: chunk.thread)
            if newest[id].map({ $0.sequence < chunk.sequence }) ?? true { newest[id] = chunk }
        }
        var replays: [ThreadID: LiveReplay] = [:], threads: [LiveThread] = []
        var finished: Finished?
        for (id, chunk) in newest {
            guard var replay = replay(of: chunk, after: known[id]) else { continue }
            if let before = known.removeValue(forKey: id), !before.chunk.isSameChunk(as: replay.chunk) {
                carryOver(before, to: &replay, &finished)
            }
            threads.append(replay.take())
            replays[id] = replay
        }
        departed = known.values.map { replay in
            var replay = replay
            _ = replay.finish(in: buffers)
            return replay.take()
        }
        known = replays
        return threads.sorted(by: LiveThreads.isBefore)
    }

    /// Threads that were there at the look before the last one and not at the last, with what they did in between: they have
    /// ended, or they are between two chunks.
    public private(set) var departed: [LiveThread] = []

    private typealias Finished = [ThreadID: [LiveChunk]]

    private static func isBefore(_ a: LiveThread, _ b: LiveThread) -> Bool {
        (a.process, a.serial) < (b.process, b.serial)
    }

    /// Replays a thread's chunk and returns its calls as they are now; nil when its chunk changes hands all the time.
    private func replay(of chunk: LiveChunk, after before: LiveReplay?) -> LiveReplay? {
        if var same = before, same.chunk.isSameChunk(as: chunk), same.go(on: chunk, in: buffers) { return same }
        guard var new = LiveReplay(chunk, in: buffers, after: before, longTicks: longTicks),
            new.go(on: chunk, in: buffers),
            buffers.again(chunk) != nil
        else { return nil }
        return new
    }

    /// Hands on what a thread did in its chunk before, since that was looked at.
    private func carryOver(_ before: LiveReplay, to replay: inout LiveReplay, _ finished: inout Finished?) {
        var before = before
        var isWhole = before.finish(in: buffers), marks: [LiveMark] = []
        let between = before.chunk.sequence + 1..<max(replay.chunk.sequence, before.chunk.sequence + 1)
        if !between.isEmpty, wantsMarks {
            let found =
                finished
                ?? Dictionary(grouping: buffers.finishedChunks()) {
                    ThreadID(process: $0.process, thread: $0.thread)
                }
            finished = found
            let id = ThreadID(process: before.chunk.process, thread: before.chunk.thread)
            let chunks = (found[id] ?? []).filter { between.contains($0.sequence) }
            let all = chunks.sorted { $0.sequence < $1.sequence }.map { LiveReplay.marks(of: $0, in: buffers) }
            isWhole = isWhole && all.count == between.count && all.allSatisfy { $0 != nil }
            marks = all.flatMap { $0 ?? [] }
        } else if !between.isEmpty {
            isWhole = false
        }
        replay.take(over: before, marks: marks, isWhole: isWhole)
    }
}
