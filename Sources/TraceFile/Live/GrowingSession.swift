internal import CTraceFormat
internal import Glibc
internal import TraceSystem

/// A session whose calls are recorded one by one, read as it grows: each record once, however long the recording is.
///
/// Memory follows the number of threads and processes that are there, not the size of the log.
public final class GrowingSession {
    /// The next chunks of a thread.
    public struct Piece {
        public let id: ThreadID
        /// Holds only these chunks. Of the first of them, a part may have been handed out before.
        public let thread: TracedThread
        /// Whether nothing will follow.
        public let hasEnded: Bool
    }

    /// Which thread it is: the process's index in the session, and the thread's serial number there.
    public struct ThreadID: Hashable, Sendable, Comparable {
        public let process: UInt32
        public let thread: UInt32

        public static func < (a: ThreadID, b: ThreadID) -> Bool { (a.process, a.thread) < (b.process, b.thread) }
    }

    public let path: String
    public let clock: Clock
    private let countsByCounter: Bool
    private let log: GrowingLog
    private let step: Int
    /// Whether the log has more of a chunk than the buffers: the recorder adds system calls.
    private let logHasMore: Bool
    private var threads: [ThreadID: GrowingThread] = [:]
    private var known: [UInt32: GrowingProcess] = [:]
    private let damage = DamageLog()
    /// Whether the recorder is still there.
    public private(set) var isRecording = true
    /// Calls that left no record, of threads that have ended.
    private var lostBefore: UInt64 = 0
    private var endedProcesses: [UInt32] = []

    /// Processes that have ended and are remembered, because a child that they forked may be yet to come.
    private static let mostEnded = 1024

    /// - Parameters:
    ///   - session: what was read of it when it was opened.
    ///   - step: as long as so many bytes of the log were not read, what is in the buffers does not count: it comes behind them.
    /// - Throws: ``TraceFileError`` when there is no log.
    public init(_ session: Session, step: Int = 16 << 20) throws(TraceFileError) {
        if session.place.isPacked { throw .doesNotGrow(path: session.path) }
        self.step = step
        logHasMore =
            session.description?.option(.syscalls) == RecordOptions.SystemCallSource.kernel.rawValue
        path = session.path
        clock = session.clock
        countsByCounter = session.clockIsCounter
        log = try GrowingLog(path: "\(session.path)/\(TraceLog.name)")
    }

    /// When the buffers were read last, in ticks: a call that was open then had not ended before.
    public private(set) var lookedAt: UInt64 = 0
    /// The same in ns of CLOCK_MONOTONIC.
    public private(set) var lookedAtNanoseconds: UInt64 = 0

    private var now: UInt64 { SessionClock.ticks(byCounter: countsByCounter) }

    /// The part of the log that was read, 0...1.
    public var part: Double { log.part }

    /// A process by its index.
    public func process(_ index: UInt32) -> TracedProcess? { known[index]?.process }

    /// Calls known to be missing.
    public var lostCalls: UInt64 { threads.values.reduce(lostBefore) { $0 &+ $1.lostCalls } }

    /// How a thread is called.
    public func label(of id: ThreadID) -> (pid: UInt32, tid: UInt32, name: String)? {
        threads[id].map { ($0.pid, $0.tid, $0.name) }
    }

    /// Reads what is new, as long as `goesOn` says, and passes it: for each thread a piece at most. What is passed is there
    /// during the call only.
    ///
    /// - Parameter changed: is told of processes of which more is known, before calls are passed.
    /// - Returns: whether everything was read that there was.
    public func read(
        while goesOn: () -> Bool, changed: (UInt32) -> Void, _ body: ([Piece]) -> Void
    ) -> Bool {
        // What programs tell of themselves stays in the buffers as long as they run.
        if log.rest > step {
            let metadata = slots(readsCalls: false)
            hand(metadata?.chunks ?? [], isWhole: false, changed, body)
            forgetEnded(except: threadsInBuffers)
        }
        while log.rest > step {
            let chunks = log.read(isThrough: false)
            // A chunk is yet to be written whole.
            if chunks.isEmpty { break }
            hand(chunks, isWhole: false, changed, body)
            if !goesOn() { return false }
        }
        // The buffers are read first: a chunk that moves to the log meanwhile is then found twice, and not missed.
        (lookedAt, lookedAtNanoseconds) = (now, SystemClock.monotonic)
        let slots = slots(readsCalls: !logHasMore)
        isRecording = slots.map { Session.isRecorded(path, by: $0.recorderPID) } ?? false
        let inSlots = slots?.chunks ?? []
        forgetEnded(except: Set(inSlots.map { ThreadID(process: $0.process, thread: $0.thread) }))
        var isThrough = false
        repeat {
            let chunks = log.read(isThrough: !isRecording)
            isThrough = chunks.isEmpty || log.rest == 0
            // A chunk in the buffers may come behind one of the next piece, so they are looked at with each.
            hand(inSlots + chunks, isWhole: isThrough, changed, body)
        } while !isThrough && goesOn()
        return isThrough || log.rest < step
    }

    /// Reads what is in the buffers; nil once they are gone.
    private func slots(readsCalls: Bool = true) -> SlotBuffers? {
        guard let file = try? PlainFile(path: "\(path)/\(SlotBuffers.name)") else { return nil }
        return try? SlotBuffers(file, path: path, damage: DamageLog(), readsCalls: readsCalls)
    }

    /// The threads of which something is in the buffers now.
    private var threadsInBuffers: Set<ThreadID> {
        guard let buffers = try? LiveBuffers(of: path) else { return [] }
        return Set(
            (buffers.chunks() + buffers.finishedChunks()).map { ThreadID(process: $0.process, thread: $0.thread) })
    }

    private func hand(_ chunks: [Chunk], isWhole: Bool, _ changed: (UInt32) -> Void, _ body: ([Piece]) -> Void) {
        var found: [ThreadID: [Chunk]] = [:]
        for chunk in chunks where chunk.process != FATHOM_NO_PROCESS {
            process(chunk.process, pid: chunk.pid)
            if chunk.kind == .metadata {
                known[chunk.process]!.add(chunk)
            } else if chunk.kind == .records {
                found[ThreadID(process: chunk.process, thread: chunk.thread), default: []].append(chunk)
            }
        }
        for index in known.keys.sorted()
        where known[index]!.settle(damage: damage, parent: { self.known[$0]?.process }) {
            if known[index]!.process.endTicks != 0, !endedProcesses.contains(index) { endedProcesses.append(index) }
            changed(index)
        }
        if isWhole { for (id, thread) in threads where thread.isWaiting { found[id, default: []] += [] } }
        let pieces = found.sorted { $0.key < $1.key }.compactMap { id, chunks -> Piece? in
            let thread = threads[id] ?? GrowingThread(process: id.process, serial: id.thread)
            threads[id] = thread
            let hadEnded = thread.hasEnded
            let next = thread.next(chunks, isWhole: isWhole)
            guard !next.isEmpty || thread.hasEnded != hadEnded else { return nil }
            return Piece(
                id: id, thread: thread.traced(next, of: known[id.process]!.process, damage: damage),
                hasEnded: thread.hasEnded)
        }
        if !pieces.isEmpty { body(pieces) }
    }

    private func process(_ index: UInt32, pid: UInt32) {
        if known[index] == nil { known[index] = GrowingProcess(index: index, pid: pid) }
    }

    /// Forgets threads that have ended, and processes that ended long ago.
    ///
    /// - Parameter found: threads of which something is still in the buffers, where it will be found again.
    private func forgetEnded(except found: Set<ThreadID>) {
        for (id, thread) in threads where thread.hasEnded && !found.contains(id) {
            lostBefore &+= thread.lostCalls
            threads[id] = nil
        }
        guard endedProcesses.count > GrowingSession.mostEnded else { return }
        let used = Set(threads.keys.map(\.process))
        for index in endedProcesses.prefix(endedProcesses.count - GrowingSession.mostEnded) where !used.contains(index)
        {
            known[index] = nil
        }
        endedProcesses.removeAll { known[$0] == nil }
    }
}

extension Session {
    /// Whether calls are recorded one by one into a log that grows, as far as can be told before the first of them.
    public var growsByRecords: Bool {
        let mode = description?.option(.mode)
        return mode.map { $0 == RecordOptions.Mode.trace.rawValue } ?? (content == .calls)
    }
}
