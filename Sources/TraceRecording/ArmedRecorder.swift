internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Records a stretch of a program that was started with the runtime in it, waiting (``Recorder/arm(onStart:)``).
///
/// The program writes into the buffers of the session that it waits in. This takes them from there into a session of its own,
/// which begins when recording is started and ends when it is stopped.
public struct ArmedRecorder {
    /// The end of the names of such sessions.
    public static let suffix = FATHOM_ARMED_SUFFIX
    /// Metadata that earlier recorders have taken out of the buffers, for later ones.
    static let metadataName = "metadata"

    private let request: RecordingRequest
    private let armed: String
    private let pid: Int32

    /// The longest wait until all processes know that they are recorded, which takes a while where sleds are to be opened.
    private static let beginPatience: UInt64 = 2_000_000_000  // ns
    /// The longest wait until all threads have stopped to record. Those that make no call meanwhile record nothing.
    private static let patience: UInt64 = 200_000_000  // ns

    /// - Parameters:
    ///   - request: what to keep; its program and arguments are those of the running one.
    ///   - armed: the directory of the session that the program waits in.
    ///   - pid: the program.
    public init(_ request: RecordingRequest, in armed: String, of pid: Int32) {
        self.request = request
        self.armed = armed
        self.pid = pid
    }

    /// As ``AttachedRecorder/run(for:onBegin:)``.
    public func run(
        for time: UInt64?, onBegin: () -> Void = {}
    ) throws(RecordingError) -> RecordingSummary {
        var signals = AttachedRecorder.blockSignals()
        var clock = SessionClock()
        let directory: SessionDirectory, buffers: SharedBuffers, log: TraceLogWriter, steering: Steering
        // The program has told its path, and may be somebody else's: no link of theirs is followed to what we may write to.
        let lock = open(armed + "/" + Self.metadataName, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard lock >= 0 else { throw .files(.cannotCreate(path: armed, errno: errno)) }
        defer { close(lock) }
        guard Self.take(lock) else {
            throw .cannotAttach(reason: "process \(pid) is being recorded already")
        }
        do throws(SteeringError) { steering = try Steering(session: armed) } catch {
            throw .cannotAttach(reason: error.description)
        }
        do throws(SessionFileError) { directory = try SessionDirectory(creating: request.session) } catch {
            throw .files(error)
        }
        do throws(SessionFileError) {
            let description = request.description(startRealtime: clock.startRealtime)
            try directory.create(SessionFile.description.name, holding: description.json)
            clock.calibrate()
            buffers = try SharedBuffers(opening: SessionDirectory(opening: armed))
            log = try TraceLogWriter(
                in: directory, clock: clock, startRealtime: clock.startRealtime, version: request.record.formatVersion)
        } catch {
            directory.discard()
            throw .files(error)
        }
        do throws(SteeringError) {
            try steering.limit(maxDepth: .some(request.record.maxDepth), minCost: request.record.minCost)
        } catch {
            directory.discard()
            throw .cannotAttach(reason: error.description)
        }
        let drain = Drain(buffers: buffers, log: log, clock: clock, options: request.record)
        drain.beginHere(with: restoreMetadata(lock, to: log))
        let held = HeldModules()
        held.hold(filesOf: pid)
        drain.onMetadata = { header, payload in
            keepMetadata(header, payload, in: lock)
            held.add(header, payload)
        }
        let thread = BackgroundThread { drain.run(onLook: { held.look(at: buffers) }) }
        steering.run(true)
        let isAlive = { TargetProcess.isAlive(pid) }
        let begin = SystemClock.monotonic + Self.beginPatience
        while SystemClock.monotonic < begin, isAlive() {
            let status = steering.status
            if status.processes.allSatisfy({ $0.taken == status.number }) { break }
            usleep(1000)
        }
        onBegin()
        let deadline = time.map { SystemClock.monotonic.addingClamped($0) } ?? .max
        while SystemClock.monotonic < deadline, isAlive() {
            if AttachedRecorder.isAskedToEnd(&signals) || !steering.status.asked.records { break }
        }
        steering.run(false)
        drain.stretch.end = clock.now
        let end = SystemClock.monotonic + Self.patience
        while SystemClock.monotonic < end, isAlive() {
            let status = steering.status
            if status.processes.allSatisfy({ $0.taken == status.number && $0.currentThreads == $0.threads }) { break }
            usleep(1000)
        }
        drain.stop()
        thread.join()
        var summary = RecordingSummary(status: .exited(0), session: request.session)
        summary.setAside = directory.setAside
        _ = drain.finish(everything: !isAlive() && steering.status.processes.isEmpty)
        drain.copyUnfinished()
        drain.noteDetached(ticks: clock.now)
        drain.summarize(into: &summary)
        log.complete(drain.losses)
        request.keepNames([directory.path], held)
        return summary
    }

    /// Makes this the recorder. Whoever only tidies up is done in a moment.
    private static func take(_ lock: Int32) -> Bool {
        for _ in 0..<200 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Takes out of the buffers what nobody will read: what processes that are gone have told of themselves, and what threads
    /// have recorded that were asleep when a recorder went. Does nothing while one is there.
    static func tidy(_ buffers: SharedBuffers, lock: Int32) {
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { return }
        defer { flock(lock, LOCK_UN) }
        var living = LivingProcesses()
        for state in [FATHOM_SLOT_FULL, FATHOM_SLOT_OWNED] {
            for slot in buffers.slots(in: state) where slot.header.magic == FATHOM_CHUNK_MAGIC {
                let isLate = state == FATHOM_SLOT_FULL && UInt32(slot.header.kind) != FATHOM_CHUNK_METADATA
                if isLate || !living.contains(slot.header.pid) { buffers.free(slot) }
            }
        }
    }

    /// - Returns: The processes that are alive, of those that have told of themselves.
    private func restoreMetadata(_ file: Int32, to log: TraceLogWriter) -> LivingProcesses {
        var living = LivingProcesses()
        let headSize = MemoryLayout<fathom_chunk>.size
        var at: off_t = 0, header = fathom_chunk()
        while withUnsafeMutableBytes(of: &header, { pread(file, $0.baseAddress, headSize, at) }) == headSize {
            var payload = [UInt8](repeating: 0, count: Int(header.used))
            guard pread(file, &payload, payload.count, at + off_t(headSize)) == payload.count else { break }
            at += off_t(headSize + payload.count)
            guard living.contains(header.pid) else { continue }
            _ = payload.withUnsafeBytes { log.append(header, payload: $0.baseAddress!) }
        }
        return living
    }
}

private func keepMetadata(_ header: fathom_chunk, _ payload: UnsafeRawPointer, in file: Int32) {
    lseek(file, 0, SEEK_END)
    _ = withUnsafeBytes(of: header) { write(file, $0.baseAddress, $0.count) }
    _ = write(file, payload, Int(header.used))
}
