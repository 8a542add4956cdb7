internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Moves finished chunks from the buffers to the log while the program runs, and all others when it has ended.
final class Drain: @unchecked Sendable {
    private let buffers: SharedBuffers
    private let log: TraceLogWriter
    private let clock: SessionClock
    /// By which the program is recorded.
    private let options: RecordOptions
    /// Whether records stay in the buffers, which are a ring, and only metadata goes to the log.
    private var leavesRecords: Bool { options.mode == .flight }
    private var isStopping: UInt32 = 0
    private var threads: Set<UInt64> = []
    private var calls: UInt64 = 0
    private var lostCalls: UInt64 = 0
    /// Call paths, and calls for which there could be none.
    private var paths: UInt64 = 0
    private var foldedCalls: UInt64 = 0
    private var unwrittenCalls: UInt64 = 0
    private var spoiledChunks: UInt64 = 0
    private var isCapped = false
    /// How many notes of programs were looked at, and how many of these programs have hooks.
    private var knownMissed = 0
    private var missed = 0
    private var kept = KeptChunks()
    /// What goes to the log by the next write.
    private var pending: [Pending] = []
    private var pendingBytes: UInt64 = 0
    private var starvation: Starvation?
    /// When the drain looks again for what processes that are gone have left in a ring, in nanoseconds.
    private var nextLeaving: UInt64 = 0
    /// When the drain means to have looked again, in nanoseconds.
    private var due = UInt64.max / 2
    private var sleepers = SleepingThreads()
    private var seen: Set<UInt32> = []
    private var chunkCheck: ChunkCheck
    /// Of each process: its id, and how many metadata chunks it has written.
    private var processes: [UInt32: (pid: UInt32, metadataChunks: UInt64)] = [:]

    /// Images that have called exec, which may have failed.
    private var execs: Set<UInt32> = []

    private var pace = DiskPace(at: SystemClock.monotonic)
    /// The time since ``pace`` was asked that writes to the disk took, in nanoseconds.
    private var writing: UInt64 = 0
    /// The time between two looks while chunks keep coming: as long as threads take to fill ``writeSize``.
    private var pause = Drain.pauses.upperBound

    /// The shortest and the longest time between two looks while chunks keep coming. They are long enough to cost
    /// nothing, and short enough that never more than a few buffers a thread are in use.
    private static let pauses: ClosedRange<UInt64> = 1_000_000...4_000_000  // ns
    /// The time in which a write to the disk is done. Threads wait for a recorder that takes longer.
    private static let writeTime: UInt64 = 20_000_000  // ns
    /// After this many looks without a finished chunk, the drain goes to sleep until a process wakes it.
    private static let patience = 4
    /// The processor time to take at once.
    private static let slice: UInt64 = 500_000  // ns
    /// The shortest and the longest sleep.
    private static let naps: ClosedRange<UInt64> = 50_000_000...1_000_000_000  // ns

    /// A write takes about this many bytes, if it is a copy, and if the disk takes pages from where they are. Copying single
    /// buffers takes a third more processor time, and more at once gains nothing, while threads wait longer for the buffers.
    private static let copySize: UInt64 = 256 << 10, writeSize: UInt64 = 2 << 20
    /// So close to the cap, nothing is written that is only there to fill pages.
    private static let exactSize: UInt64 = 32 << 20

    /// What of the buffers is this recorder's, where others have recorded before and will.
    var stretch = Stretch()
    /// Adds system calls, where the kernel tells of them.
    var systemCalls: SystemCallWriter?
    /// Is called with each chunk of metadata.
    var onMetadata: ((fathom_chunk, UnsafeRawPointer) -> Void)?

    /// What was counted of a chunk.
    typealias Counted = (calls: UInt64, lostCalls: UInt64)

    /// A chunk that is to be written.
    struct Pending {
        var slot: SharedBuffers.Slot
        var payload: SharedBuffers.Payload
        var counted: Counted
        /// Whether the log had no room for it before.
        var wasKept: Bool
    }

    init(buffers: SharedBuffers, log: TraceLogWriter, clock: SessionClock, options: RecordOptions) {
        self.buffers = buffers
        self.log = log
        self.clock = clock
        chunkCheck = ChunkCheck(slotSize: UInt32(buffers.slotSize), clock: clock)
        self.options = options
    }

    /// Drains until ``stop()``, or until there is nothing to drain and no process is left that could write. This needs a
    /// thread of its own.
    ///
    /// - Parameters:
    ///   - isNeeded: is asked whenever the drain has slept undisturbed, at most once a second.
    ///   - onLook: is called whenever the drain has looked at the buffers, at least once a second.
    func run(while isNeeded: () -> Bool = { true }, onLook: () -> Void = {}) {
        fathom_yield_to_others(Self.slice)
        starvation = Starvation()
        defer {
            // Its descriptor's number is soon that of another file.
            starvation?.close()
            starvation = nil
        }
        var idle = 0, nap = Self.naps.lowerBound
        while fathom_load32(&isStopping) == 0 {
            idle = drainFinished() == 0 ? idle + 1 : 0
            if leavesRecords { leaveToRing() }
            sleepers.look(at: buffers, clock)
            onLook()
            if idle < Self.patience {
                if idle == 0 { nap = Self.naps.lowerBound }
                announce()
                var time = timespec(tv_sec: 0, tv_nsec: Int(pause))
                nanosleep(&time, nil)
                continue
            }
            fathom_store32(&buffers.header.pointee.recorder_waits, 1)
            // A chunk that was finished before the flag was up wakes nobody.
            var wasWoken = drainFinished(retries: true) != 0 || fathom_load32(&isStopping) != 0
            if !wasWoken {
                fathom_wait32(&buffers.header.pointee.recorder_waits, 1, nap)
                wasWoken = fathom_load32(&buffers.header.pointee.recorder_waits) == 0
            }
            announce()
            fathom_store32(&buffers.header.pointee.recorder_waits, 0)
            idle = 0
            if wasWoken { continue }
            guard isNeeded() else { return }
            nap = min(nap * 2, Self.naps.upperBound)
            idle = Self.patience - 1
        }
    }

    /// Lets somebody else append to the log, from inside `onLook` or while the drain does not run.
    func withLog(_ append: (TraceLogWriter) -> Void) { append(log) }

    /// Tells threads that need a buffer whether to wait for one. When the recorder gets no processor because they have
    /// them all, their waiting gives it one.
    ///
    /// - Parameters:
    ///   - hasRoom: a buffer was emptied.
    ///   - time: until the next look, in nanoseconds; ``pause`` unless it is given.
    private func announce(hasRoom: Bool = false, within time: UInt64? = nil) {
        let now = SystemClock.monotonic
        let isStarving = starvation?.isFound() == true, wasLate = now > due + Self.pauses.lowerBound
        due = now + (time ?? pause)
        buffers.announce(due: due, isStarving: isStarving, wakesOne: hasRoom && (isStarving || wasLate))
    }

    /// Drains again after ``stop()``.
    func resume(while isNeeded: () -> Bool, onLook: () -> Void) {
        fathom_store32(&isStopping, 0)
        run(while: isNeeded, onLook: onLook)
    }

    func stop() {
        fathom_store32(&isStopping, 1)
        buffers.wakeRecorder()
    }

    /// Drains what ended processes left unfinished, or `everything` when no process is left. Call after ``run(while:)`` has
    /// returned.
    ///
    /// - Returns: The processes that are still alive; their chunks stay in the buffers.
    func finish(everything: Bool) -> [Int32] {
        _ = drainFinished(retries: true)
        if everything {
            for state in [FATHOM_SLOT_OWNED, SharedBuffers.noState] {
                buffers.slots(in: state).filter { !staysInRing($0) }.forEach(take)
            }
            if leavesRecords {
                write()
                return []
            }
            // A chunk that was drained has no magic any more. So these are slots whose word was written over.
            for slot in buffers.slots(in: FATHOM_SLOT_FREE) where slot.header.magic == FATHOM_CHUNK_MAGIC {
                take(slot)
            }
            write()
            append(systemCalls?.rest() ?? [])
            return []
        }
        var living = LivingProcesses()
        let owned = buffers.slots(in: FATHOM_SLOT_OWNED).filter { $0.header.magic == FATHOM_CHUNK_MAGIC }
        for slot in owned {
            seen.insert(slot.header.process)
            if !living.contains(slot.header.pid) && !staysInRing(slot) { take(slot) }
        }
        write()
        return living.found
    }

    private func isOthers(_ header: fathom_chunk) -> Bool {
        stretch.isOthers(header, isKnown: processes[header.process] != nil)
    }

    /// Makes this the recording of the processes that are alive now, in buffers that others have recorded from before.
    ///
    /// - Parameter living: what is known of them already.
    func beginHere(with living: LivingProcesses) {
        var living = living
        for state in [FATHOM_SLOT_FULL, FATHOM_SLOT_OWNED] {
            for slot in buffers.slots(in: state) where slot.header.magic == FATHOM_CHUNK_MAGIC {
                _ = living.contains(slot.header.pid)
            }
        }
        // Whoever was gone before has written nothing after it.
        stretch = Stretch(from: clock.now, with: living)
    }

    /// Says in the log that processes that are alive go on, and that nothing more of them is recorded.
    func noteDetached(ticks: UInt64) {
        for (index, process) in processes where processIsAlive(Int32(bitPattern: process.pid)) {
            let item = fathom_end_item(FATHOM_END_DETACHED, at: ticks)
            let chunk = fathom_chunk(
                ofItem: item.item.size, process: index, pid: process.pid, sequence: process.metadataChunks, at: ticks)
            _ = withUnsafeBytes(of: item) { log.append(chunk, payload: $0.baseAddress!) }
        }
    }

    /// Copies to the log what processes that go on have not finished. They keep it, and go on with it. Call after
    /// ``run(while:)`` has returned.
    func copyUnfinished() {
        // What was finished before these were looked for comes before them.
        var owned: [SharedBuffers.Slot], tries = 0
        repeat {
            owned = buffers.slots(in: FATHOM_SLOT_OWNED)
            tries += 1
        } while drainFinished(retries: true) > 0 && tries < 100
        for slot in owned where slot.header.magic == FATHOM_CHUNK_MAGIC {
            var slot = slot
            slot.header.used = fathom_chunk_written(&slot.header)
            let isMetadata = slot.header.kind == UInt8(FATHOM_CHUNK_METADATA)
            guard isSound(slot), let payload = buffers.payload(of: slot),
                !isOthers(slot.header)
            else { continue }
            seen.insert(slot.header.process)
            if isMetadata {
                processes[slot.header.process] = (slot.header.pid, slot.header.sequence &+ 1)
            } else {
                stretch.number(&slot.header)
                slot.header.calls = slot.header.countEnters(payload.start)
                threads.insert(UInt64(slot.header.process) << 32 | UInt64(slot.header.thread))
                calls = calls.addingClamped(slot.header.calls + UInt64(slot.header.path_calls))
            }
            _ = log.append(slot.header, payload: payload.start)
        }
    }

    /// What the log will lack, apart from the chunks' own `lost_calls`.
    var losses: RecordingLosses {
        let ticks = clock.now &- clock.start.ticks
        let unplaced = buffers.count(\.unplaced_calls, within: ticks)
        let leftOut = buffers.count(\.left_out_calls, within: ticks)
        var losses = RecordingLosses(
            unplacedCalls: unplaced, unwrittenCalls: unwrittenCalls, leftOutCalls: leftOut,
            spoiledChunks: spoiledChunks, isSpoiled: buffers.isSpoiled)
        losses.unreturnedCalls = min(buffers.count(\.unreturned_calls, within: ticks), unplaced)
        losses.lacksSystemCalls = (systemCalls?.lost ?? 0) > 0
        return losses
    }

    /// Whether chunks stay in the buffers for the reader to find.
    var keepsChunks: Bool { !kept.isEmpty }

    func summarize(into summary: inout RecordingSummary) {
        summary.processes = seen.count
        summary.threads = threads.count
        summary.calls = calls
        summary.bytes = log.bytes
        summary.paths = paths
        summary.foldedCalls = foldedCalls
        summary.isFullOfPaths = options.mode.keepsPaths && paths >= UInt64(options.maxPaths)
        summary.unwrittenCalls = unwrittenCalls
        summary.writeError = log.error.map(describe)
        let losses = losses
        summary.unreturnedCalls = losses.unreturnedCalls
        summary.lostCalls = lostCalls.addingClamped(losses.unplacedCalls - losses.unreturnedCalls)
        summary.spoiledChunks = spoiledChunks
        summary.isSpoiled = losses.isSpoiled
        summary.leftOutCalls = losses.leftOutCalls
        summary.isCapped = isCapped
        summary.missedProcesses = missed
    }

    /// Adds to the log which programs that were started have hooks and were not recorded. Call when they were started.
    func noteMissed(hasHooks: (_ path: String) -> Bool) {
        let notes = buffers.missed(from: knownMissed)
        knownMissed += notes.count
        for case let note? in notes where hasHooks(String(decoding: note.path, as: UTF8.self)) {
            missed += 1
            var item = fathom_missed_item()
            let size = MemoryLayout<fathom_missed_item>.size
            item.item.kind = UInt16(FATHOM_ITEM_MISSED)
            item.item.size = UInt32((size + note.path.count + 7) & ~7)
            (item.ticks, item.pid, item.reason) = (note.ticks, note.pid, note.reason)
            item.path_size = UInt32(note.path.count)
            var bytes = withUnsafeBytes(of: item) { Array($0) } + note.path
            bytes += [UInt8](repeating: 0, count: Int(item.item.size) - bytes.count)
            let chunk = fathom_chunk(
                ofItem: item.item.size, process: FATHOM_NO_PROCESS, sequence: UInt64(missed - 1), at: note.ticks)
            _ = bytes.withUnsafeBytes { log.append(chunk, payload: $0.baseAddress!) }
        }
    }

    /// Notes for how long threads slept before their process ended, from `ticks` back. Call when the drain has stopped.
    ///
    /// - Parameter processor: the processor time that the process took in all, or more, in ns.
    func noteSleep(until ticks: UInt64, of pid: Int32, processor: UInt64) {
        sleepers.end(of: pid, at: ticks, processor: processor, in: buffers, clock)
    }

    /// Adds to the log when and how a process ended that was waited for. This is about its newest image.
    func noteEnd(of pid: Int32, status: Int32, ticks: UInt64) {
        guard let (index, process) = processes.filter({ $0.value.pid == UInt32(pid) }).max(by: { $0.key < $1.key })
        else { return }
        let item = fathom_end_item(FATHOM_END_WAITED, status: UInt32(bitPattern: status), at: ticks)
        let chunk = fathom_chunk(
            ofItem: item.item.size, process: index, pid: process.pid, sequence: process.metadataChunks, at: ticks)
        _ = withUnsafeBytes(of: item) { log.append(chunk, payload: $0.baseAddress!) }
    }

    /// Drains finished chunks, the oldest first, so that where the log has to end, it ends at one moment for all.
    ///
    /// - Parameter retries: whether chunks that the log had no room for are tried again, as long as there is some.
    /// - Returns: How many there were, not counting those that the log still has no room for.
    private func drainFinished(retries: Bool = false) -> Int {
        buffers.repair()
        if let systemCalls { append(systemCalls.early()) }
        let before = kept.slots
        var finished = buffers.slots(in: FATHOM_SLOT_FULL, except: retries ? [] : before)
        finished.removeAll(where: staysInRing)
        if finished.isEmpty { return 0 }
        // A header may have been written over, but no chunk is larger than its slot.
        let slotSize = UInt64(buffers.slotSize)
        choosePace(waiting: finished.reduce(0) { $0 + min(TraceLogWriter.size(of: $1.header), slotSize) })
        let mostPending = log.passesCache ? Self.writeSize : log.frameSize ?? Self.copySize
        finished.sort { $0.header.begin_ticks < $1.header.begin_ticks }
        var isFull = false
        for slot in finished
        where !(isFull && before.contains(slot.index)) {
            take(slot)
            if pendingBytes >= mostPending, !write() { isFull = true }
        }
        write()
        return finished.count { !before.contains($0.index) || !kept.contains($0) }
    }

    /// Appends chunks that are in no slot.
    private func append(_ chunks: [SystemCallMerge]) {
        for chunk in chunks where !exceedsCap(chunk.header) {
            threads.insert(UInt64(chunk.header.process) << 32 | UInt64(chunk.header.thread))
            if log.append(chunk.header, payload: chunk.payload) { calls += chunk.header.calls }
        }
    }

    /// Gives the ring the slots in which processes that are gone have left something, once a second.
    private func leaveToRing() {
        let now = SystemClock.monotonic
        guard now >= nextLeaving else { return }
        nextLeaving = now + Self.naps.upperBound
        finishLeft()
    }

    /// Finishes, in their slots, the chunks of processes that are gone, or that have become other images.
    func finishLeft() {
        // Of each process id, the newest image.
        let images = Dictionary(processes.map { ($0.value.pid, $0.key) }, uniquingKeysWith: max)
        var living = LivingProcesses()
        for slot in buffers.slots(in: FATHOM_SLOT_OWNED)
        where slot.header.magic == FATHOM_CHUNK_MAGIC && staysInRing(slot) {
            let isReplaced =
                execs.contains(slot.header.process)
                && images[slot.header.pid].map { $0 > slot.header.process } ?? false
            if living.contains(slot.header.pid) && !isReplaced { continue }
            var written = slot
            written.header.used = fathom_chunk_written(&written.header)
            guard isSound(written), buffers.finish(slot, clock) else {
                spoiledChunks += 1
                buffers.free(slot)
                continue
            }
        }
    }

    /// Decides how to write `waiting` bytes of finished chunks, and when to look for the next ones.
    private func choosePace(waiting: UInt64) {
        let isFarFromCap = options.maxSize.map { log.bytes + waiting + Self.exactSize < $0 } ?? true
        let keepsUp = pace.keepsUp(waiting: waiting, waited: writing, at: SystemClock.monotonic)
        log.passesCache = isFarFromCap && keepsUp
        writing = 0
        let pause = self.pause * Self.writeSize / max(waiting, 1)
        self.pause = min(max(pause, Self.pauses.lowerBound), Self.pauses.upperBound)
    }

    /// Whether a slot's chunk is the ring's, and does not go to the log.
    private func staysInRing(_ slot: SharedBuffers.Slot) -> Bool {
        leavesRecords && UInt32(slot.header.kind) == FATHOM_CHUNK_RECORDS
    }

    /// Writes the pending chunks to the log, and frees their slots. A chunk that the log has no room for is kept (see
    /// ``KeptChunks``).
    ///
    /// - Returns: Whether there was room for all.
    @discardableResult
    private func write() -> Bool {
        var rest = pending[...], hadRoom = true
        pending = []
        pendingBytes = 0
        while !rest.isEmpty {
            let written = append(rest.map { ($0.slot.header, $0.payload.start) })
            for chunk in rest.prefix(written) {
                buffers.free(chunk.slot)
                announce(hasRoom: true)
            }
            rest = rest.dropFirst(written)
            if rest.isEmpty { break }
            kept.keepFirst(of: &rest)
            hadRoom = false
        }
        return hadRoom
    }

    /// Appends chunks to the log, and takes the time when they go to the disk. Time in which the recorder waited for a
    /// processor is not the disk's.
    private func append(_ chunks: [TraceLogWriter.Part]) -> Int {
        guard log.passesCache else { return log.append(chunks) }
        announce(within: Self.writeTime)
        let begin = SystemClock.monotonic, before = starvation?.timeWaited() ?? 0
        defer {
            let time = SystemClock.monotonic - begin
            writing += time - min((starvation?.timeWaited() ?? before) - before, time)
        }
        return log.append(chunks)
    }

    /// Takes a slot's chunk to be written to the log, or frees the slot when nothing is to be written.
    private func take(_ slot: SharedBuffers.Slot) {
        var slot = slot
        slot.header.used = fathom_chunk_written(&slot.header)
        var header = slot.header
        // It says where the calls were of a thread that is gone.
        if UInt32(header.kind) == FATHOM_CHUNK_STACK { return buffers.free(slot) }
        // This was counted when the log had no room for the chunk.
        let before = kept.remove(slot)
        calls -= before?.calls ?? 0
        lostCalls -= before?.lostCalls ?? 0
        guard isSound(slot), var payload = buffers.payload(of: slot) else {
            // A chunk that is just being begun has no magic yet.
            if header.magic != 0 || slot.isFull { spoiledChunks += 1 }
            unwrittenCalls = unwrittenCalls.addingClamped(before?.calls ?? 0).addingClamped(before?.lostCalls ?? 0)
            buffers.free(slot)
            return
        }
        if isOthers(header) {
            buffers.free(slot)
            return
        }
        seen.insert(header.process)
        let isMetadata = header.kind == UInt8(FATHOM_CHUNK_METADATA)
        let isPaths = header.kind == UInt8(FATHOM_CHUNK_PATHS)
        var lost = header.lost_calls
        if isMetadata {
            onMetadata?(header, payload.start)
            processes[header.process] = (
                header.pid, max(processes[header.process]?.metadataChunks ?? 0, header.sequence &+ 1)
            )
            let items = UnsafeRawBufferPointer(start: payload.start, count: Int(header.used))
            if leavesRecords, let how = fathom_end_item.last(in: items) {
                if how == FATHOM_END_EXEC { execs.insert(header.process) } else { execs.remove(header.process) }
            }
        } else {
            if isPaths {
                var totals = PathTotals()
                totals.add(UnsafeRawBufferPointer(start: payload.start, count: Int(header.used)))
                header.calls = totals.calls
                lost = totals.lost
                if before == nil {
                    paths += totals.paths
                    foldedCalls = foldedCalls.addingClamped(totals.folded)
                }
            } else if header.end_ticks == 0 {
                header.calls = header.countEnters(payload.start)
            }
            threads.insert(UInt64(header.process) << 32 | UInt64(header.thread))
            if before == nil { stretch.number(&header) }
            if !isPaths, let merged = systemCalls?.merge(header, payload.start) {
                header = merged.header
                payload = SharedBuffers.Payload(holding: merged.payload)
            }
        }
        let told = header.calls + UInt64(header.path_calls)
        // The cap is only for records.
        guard isMetadata || isPaths || !exceedsCap(header) else {
            // No later chunk counts the calls that were lost before this one.
            unwrittenCalls = unwrittenCalls.addingClamped(told).addingClamped(lost)
            buffers.free(slot)
            return
        }
        let counted = (
            calls: calls.addingClamped(told) - calls, lostCalls: lostCalls.addingClamped(lost) - lostCalls
        )
        calls += counted.calls
        lostCalls += counted.lostCalls
        // What was put into it the first time is not there again.
        if let before, before.calls > counted.calls {
            unwrittenCalls = unwrittenCalls.addingClamped(before.calls - counted.calls)
        }
        slot.header = header
        pending.append(Pending(slot: slot, payload: payload, counted: counted, wasKept: before != nil))
        pendingBytes += TraceLogWriter.size(of: header)
    }

    private func isSound(_ slot: SharedBuffers.Slot) -> Bool {
        chunkCheck.isSound(slot, pid: processes[slot.header.process]?.pid)
    }

    /// Whether the log would grow beyond the cap; once it would, no more records are taken.
    private func exceedsCap(_ header: fathom_chunk) -> Bool {
        guard let maxSize = options.maxSize else { return false }
        if !isCapped && log.bytes + pendingBytes + TraceLogWriter.size(of: header) > maxSize {
            isCapped = true
            buffers.stopRecording()
        }
        return isCapped
    }
}
