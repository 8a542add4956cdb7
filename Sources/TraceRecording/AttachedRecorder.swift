internal import CTraceFormat
internal import Glibc
public import TraceFile
internal import TraceSystem

/// Records a stretch of a program that runs already.
public struct AttachedRecorder {
    private let request: RecordingRequest
    private let program: any RunningProgram

    /// How often the program, its steering and signals are looked at, in ns.
    private static let pause = 10_000_000

    /// - Parameters:
    ///   - request: what to keep; its program and arguments are those of the running one.
    ///   - program: what runs.
    public init(_ request: RecordingRequest, of program: any RunningProgram) {
        self.request = request
        self.program = program
    }

    /// Creates the session and records into it until the time is over, the program has ended, somebody asks for the end by
    /// a signal or by `fathom ctl`.
    ///
    /// Blocks these signals in the calling thread.
    ///
    /// - Parameters:
    ///   - time: in ns; nil: without end.
    ///   - onBegin: is called when the program records.
    /// - Returns: The summary, what else is to be said, and the mode that `fathom ctl` asked to go on in.
    /// - Throws: ``RecordingError`` when nothing was recorded; then the program is as it was.
    public func run(
        for time: UInt64?, onBegin: () -> Void = {}
    ) throws(RecordingError) -> (summary: RecordingSummary, notes: [String], next: RecordOptions.Mode?) {
        var signals = Self.blockSignals(savingOn: request.flight.signal)
        var clock = SessionClock()
        if request.record.mode == .profile, UInt32(clock.kind) != FATHOM_CLOCK_COUNTER { throw .noCounter }
        let directory: SessionDirectory, buffers: SharedBuffers, log: TraceLogWriter
        let description = request.description(startRealtime: clock.startRealtime), work: ModeWork
        var answers: FunctionAnswers?
        do throws(SessionFileError) {
            directory = try SessionDirectory(creating: request.session)
        } catch { throw .files(error) }
        do throws(RecordingError) {
            do throws(SessionFileError) {
                try directory.create(SessionFile.description.name, holding: description.json)
                clock.calibrate()
                buffers = try SharedBuffers(in: directory, options: request.record, clock: clock)
                log = try TraceLogWriter(
                    in: directory, clock: clock, startRealtime: clock.startRealtime,
                    version: request.record.formatVersion,
                    packs: request.record.packsLog)
                if log.canPassCache { buffers.prepare() }
            } catch { throw .files(error) }
            if let functions = request.functions {
                answers = try FunctionAnswers(functions, in: directory, clock: clock)
                answers?.start()
            }
            work = try ModeWork(request, description, buffers, in: directory, clock)
            directory.share(withOwnerOf: program.pid)
        } catch {
            answers?.stop()
            directory.discard()
            throw error
        }
        let drain = Drain(buffers: buffers, log: log, clock: clock, options: request.record)
        let held = HeldModules()
        held.hold(filesOf: program.pid)
        drain.onMetadata = { held.add($0, $1) }
        let thread = BackgroundThread {
            drain.run(onLook: {
                work.look(drain)
                held.look(at: buffers)
            })
        }
        do throws(RecordingError) {
            try program.begin(directory.path)
        } catch {
            drain.stop()
            thread.join()
            answers?.stop()
            directory.discard()
            throw error
        }
        work.sampler?.start()
        onBegin()
        var steering = try? Steering(session: directory.path)
        steering?.acceptChanges()
        let deadline = time.map { SystemClock.monotonic.addingClamped($0) } ?? .max
        var isRunning = true, next: RecordOptions.Mode?
        while next == nil, SystemClock.monotonic < deadline {
            isRunning = program.look()
            guard isRunning else { break }
            if Self.isAskedToEnd(&signals) { break }
            if let status = steering?.status, status.number > 0, !status.asked.records { break }
            next = steering?.wantedMode
            work.flight?.takeSignal()
        }
        let children = steering?.status.processes.map(\.pid).filter { $0 != program.pid } ?? []
        // One word stops all threads, each at its next hook. The slots and sleds of hooks change one after the other, and calls that
        // are entered or left meanwhile would seem to have callees that others lack.
        steering?.run(false)
        steering = nil  // its mapping is one of the buffers, too
        let notes = program.end(children: children)
        drain.stop()
        thread.join()
        answers?.stop()
        work.sampler?.stop()
        var summary = RecordingSummary(status: .exited(0), session: request.session)
        summary.setAside = directory.setAside
        let areInUse = buffers.areInUse()
        summary.stillRunning = drain.finish(everything: areInUse == false)
        summary.isContinued = areInUse != false
        drain.noteMissed(hasHooks: request.hasHooks)
        drain.summarize(into: &summary)
        // How it ended is its parent's to know.
        work.finish(drain, log, saving: isRunning ? nil : "process \(program.pid) ended", into: &summary)
        log.complete(drain.losses)
        let leaves = drain.keepsChunks || summary.isContinued || work.keepsRing
        if leaves { buffers.leave() } else { buffers.remove() }
        answers?.remove()
        directory.removeNamedFunctions()
        let isDiscarded = work.flight != nil && !leaves
        request.keepNames((work.flight?.saves ?? []).map(\.session) + (isDiscarded ? [] : [directory.path]), held)
        if isDiscarded { directory.discard() }
        return (summary, notes, isRunning ? next : nil)
    }

    /// Blocks the signals that ask for the recording's end, and returns these.
    ///
    /// - Parameter save: a signal that means something else, and is blocked, too.
    static func blockSignals(savingOn save: Int32? = nil) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&signals, signal) }
        if let save { sigaddset(&signals, save) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        if let save { sigdelset(&signals, save) }
        signal(SIGXFSZ, SIG_IGN)
        return signals
    }

    /// Whether one of them comes within a short while.
    static func isAskedToEnd(_ signals: inout sigset_t) -> Bool {
        var pause = timespec(tv_sec: 0, tv_nsec: Self.pause)
        return sigtimedwait(&signals, nil, &pause) > 0
    }
}
