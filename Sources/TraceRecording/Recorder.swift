internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem
internal import TraceText

/// Records one run of a program.
public struct Recorder {
    /// The version of the project.
    public static let version = FATHOM_VERSION

    private let request: RecordingRequest
    private let runtime: String
    private let strings = CStrings()

    /// - Parameters:
    ///   - request: What to run and what to keep.
    ///   - runtime: Path of libfathom.so.
    public init(_ request: RecordingRequest, runtime: String) {
        self.request = request
        self.runtime = runtime
    }

    /// Creates the session, runs the program to its end, and leaves the session complete.
    ///
    /// Blocks the signals that are forwarded to the program in the calling thread.
    ///
    /// - Parameter leaveBackground: ends the process that goes on recording in the background, at once.
    /// - Throws: ``RecordingError`` when nothing could be started; then the program has not run.
    public func run(leaveBackground: () -> Never) throws(RecordingError) -> RecordingSummary {
        guard runtime.withRawCString({ access($0, R_OK) }) == 0 else { throw .runtimeMissing(path: runtime) }
        let baseline = request.measuresBaseline ? try BaselineRun(request) : nil
        let signals = Target.prepareSignals(and: request.flight.signal)
        var clock = SessionClock()
        if request.record.mode == .profile, UInt32(clock.kind) != FATHOM_CLOCK_COUNTER { throw .noCounter }
        // They are of what this thread starts, so they are opened first, and by this thread. Those of the start need less memory.
        let start = request.record.tellsStartup ? StartRecorder.open(main: request.mainAddress) : nil
        let events = EventSources(request.record, clock)
        let instructions = try? InstructionCounter()
        let directory: SessionDirectory
        do { directory = try SessionDirectory(creating: request.session) } catch { throw .files(error) }
        var description = request.description(startRealtime: clock.startRealtime)
        events.describe(in: &description)
        var startRecorder: StartRecorder?
        var begin: UInt64 = 0
        let buffers: SharedBuffers, log: TraceLogWriter, preload: PreloadPath, target: Target
        let before: Baseline.Usage
        var answers: FunctionAnswers?
        let work: ModeWork
        let held = HeldModules()
        held.hold(program: request.executable)
        do throws(RecordingError) {
            do throws(SessionFileError) {
                try directory.create(SessionFile.description.name, holding: description.json)
                clock.calibrate()
                var options = request.record
                options.knowsSwitches = events.tellsSwitches
                buffers = try SharedBuffers(in: directory, options: options, clock: clock)
                log = try TraceLogWriter(
                    in: directory, clock: clock, startRealtime: clock.startRealtime,
                    version: request.record.formatVersion,
                    packs: request.record.packsLog)
                if log.canPassCache { buffers.prepare() }
                try events.prepare(in: directory, clock, maxSize: request.record.maxSize)
                if let start {
                    startRecorder = StartRecorder(
                        start.rings, refusal: start.refusal, try StartupLogWriter(in: directory))
                }
            } catch {
                throw .files(error)
            }
            if let functions = request.functions {
                answers = try FunctionAnswers(functions, in: directory, clock: clock)
                answers?.start()
            }
            work = try ModeWork(request, description, buffers, in: directory, clock)
            preload = try PreloadPath(of: runtime)
            before = Baseline.Usage.ofChildren
            let (words, variables) = (arguments(), environment(session: directory.rawPath, preload: preload.path))
            begin = SystemClock.monotonic
            target = try Target(
                starting: request.executable, arguments: words, environment: variables, signals: signals)
            events.start()
            startRecorder?.start(target.pid, from: begin)
        } catch {
            answers?.stop()
            _ = instructions?.take()
            directory.discard()
            throw error
        }
        let drain = Drain(buffers: buffers, log: log, clock: clock, options: request.record)
        let systemCalls = events.systemCalls.map { SystemCallWriter($0, buffers, clock, request.record) }
        drain.systemCalls = systemCalls
        drain.onMetadata = {
            held.add($0, $1)
            systemCalls?.note($0, $1)
        }
        let look = { @Sendable in
            work.look(drain)
            held.look(at: buffers)
        }
        let thread = BackgroundThread { drain.run(onLook: look) }
        let (sampler, flight) = (work.sampler, work.flight)
        sampler?.start()
        request.companion?.start(directory.path, target.pid)
        let status = target.wait(keeping: request.flight.signal) { flight?.noteSignal() }
        let end = clock.now
        request.companion?.stop(TargetStatus(status))
        let traced = Baseline.Usage.ofChildren - before
        let usage = ProgramUsage(processor: traced, instructions: instructions?.take())
        drain.stop()
        thread.join()
        drain.noteSleep(until: end, of: target.pid, processor: traced.userNanoseconds + traced.systemNanoseconds)
        answers?.stop()
        events.stop()
        sampler?.stop()
        startRecorder?.finish()

        var summary = RecordingSummary(status: TargetStatus(status), session: request.session)
        summary.setAside = directory.setAside
        // This is asked before the last look at the buffers, so that a process that ends in between has left its chunks
        // by then.
        let areInUse = buffers.areInUse()
        summary.isContinued = areInUse != false
        summary.stillRunning = drain.finish(everything: !summary.isContinued)
        drain.noteEnd(of: target.pid, status: status, ticks: end)
        drain.noteMissed(hasHooks: request.hasHooks)
        drain.summarize(into: &summary)
        let isDiscarded = { flight != nil && !drain.keepsChunks && !work.keepsRing }
        func finish() {
            log.complete(drain.losses)
            events.finish()
            // What the ring held is saved, or nobody wanted it; or else it is all that there is.
            if drain.keepsChunks || work.keepsRing { buffers.leave() } else { buffers.remove() }
            preload.remove()
            answers?.stop()
            answers?.remove()
            directory.removeNamedFunctions()
            let isDiscarded = isDiscarded()
            request.keepNames((flight?.saves ?? []).map(\.session) + (isDiscarded ? [] : [directory.path]), held)
            if isDiscarded {
                directory.discard()
                summary.setAside = nil
            }
        }
        var crash: String?
        if case .signaled(let signal) = summary.status { crash = "\(signalName(signal)) ended the program" }
        work.finish(drain, log, saving: crash, into: &summary)
        if areInUse == true {
            let kept = BackgroundRecorder.Kept(
                signal: request.flight.signal, directory: flight != nil && !request.session.hasPrefix("/"))
            let lookAlone = {
                flight?.takeSignal()
                look()
            }
            let background = BackgroundRecorder(
                drain, buffers, answers, events, sampler, keeping: kept, leave: leaveBackground,
                onLook: lookAlone
            ) {
                sampler?.stop()
                _ = drain.finish(everything: true)
                sampler?.write(to: log)
                drain.noteMissed(hasHooks: request.hasHooks)
                finish()
            }
            summary.backgroundRecorder = background?.pid
            if background == nil { buffers.leave() }
        } else if areInUse == false {
            finish()
        }
        summary.waitSources = description.waitSources
        summary.faultSource = description.faultSource
        events.summarize(into: &summary)
        summary.startupProblem = startRecorder?.error ?? start?.refusal
        if let baseline {
            switch summary.isContinued
                ? .failed("processes are still running")
                : baseline.run(
                    traced: traced, status: summary.status, arguments: arguments(), environment: plainEnvironment(),
                    signals: signals)
            {
            case .measured(let measured): description.baseline = measured
            case .failed(let problem): summary.baselineProblem = problem
            }
        }
        // What others take that go on is not known.
        if !summary.isContinued, !isDiscarded() { description.usage = usage }
        guard description.usage != nil || description.baseline != nil else { return summary }
        do throws(SessionFileError) {
            try directory.replace(SessionFile.description.name, by: description.json)
            summary.baseline = description.baseline
        } catch {
            // The session is as good without what the program took.
            if description.baseline != nil { summary.baselineProblem = error.description }
        }
        return summary
    }

    /// Runs the program with the runtime in it, which only follows its open calls, until somebody records a stretch of it
    /// (``ArmedRecorder``). The session is removed when the program has ended.
    ///
    /// - Parameters:
    ///   - onStart: is called with the program's process id.
    ///   - onAsked: is called, in another thread, with the ids of the processes of which something was asked.
    public func arm(
        onStart: (Int32) -> Void, onAsked: @escaping @Sendable ([Int32]) -> Void
    ) throws(RecordingError) -> TargetStatus {
        guard runtime.withRawCString({ access($0, R_OK) }) == 0 else { throw .runtimeMissing(path: runtime) }
        let signals = Target.prepareSignals()
        var clock = SessionClock()
        let directory: SessionDirectory
        do { directory = try SessionDirectory(creating: request.session) } catch { throw .files(error) }
        let description = request.description(startRealtime: clock.startRealtime)
        let buffers: SharedBuffers, preload: PreloadPath, target: Target
        do throws(RecordingError) {
            do throws(SessionFileError) {
                try directory.create(SessionFile.description.name, holding: description.json)
                try directory.create(ArmedRecorder.metadataName, holding: "")
                clock.calibrate()
                buffers = try SharedBuffers(in: directory, options: request.record, clock: clock)
            } catch { throw .files(error) }
            preload = try PreloadPath(of: runtime)
            target = try Target(
                starting: request.executable, arguments: arguments(),
                environment: environment(session: directory.rawPath, preload: preload.path), signals: signals)
        } catch {
            directory.discard()
            throw error
        }
        onStart(target.pid)
        let lock = directory.reopen(ArmedRecorder.metadataName, O_RDWR),
            end = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        end.initialize(to: 0)
        nonisolated(unsafe) let word = end
        let path = directory.path
        let tidier = BackgroundThread {
            guard let steering = try? Steering(session: path) else { return }
            var asked: UInt32?, looks = 0
            while fathom_load32(word) == 0 {
                let now = steering.awaitChange(of: asked, for: 100_000_000)
                if now != asked ?? 0 { onAsked(steering.status.processes.map(\.pid)) }
                asked = now
                looks += 1
                if looks % 10 == 0 { ArmedRecorder.tidy(buffers, lock: lock) }
            }
        }
        let status = target.wait()
        fathom_store32(word, 1)
        tidier.join()
        close(lock)
        preload.remove()
        directory.removeNamedFunctions()
        directory.discard()
        return TargetStatus(status)
    }

    /// The program's arguments, byte for byte as they were given to us.
    private func arguments() -> [UnsafeMutablePointer<CChar>?] { request.arguments.map { strings.copy($0.rawCString) } }

    /// The program's environment: ours, byte for byte, and the runtime preloaded.
    private func environment(session: [CChar], preload: String) -> [UnsafeMutablePointer<CChar>?] {
        var result: [UnsafeMutablePointer<CChar>?] = [], preloaded = ""
        for variable in plainEnvironment() {
            if strncmp(variable!, "LD_PRELOAD=", 11) == 0 {
                preloaded = String(rawCString: variable! + 11)
            } else {
                result.append(variable)
            }
        }
        result.append(strings.copy("FATHOM_SESSION=".utf8.map { CChar(bitPattern: $0) } + session))
        result.append(strings.copy("LD_PRELOAD=\(Self.preloading(preload, with: preloaded))".rawCString))
        return result
    }

    /// The runtime goes in front of what is preloaded already, but behind an address sanitizer, which does not run
    /// behind other libraries.
    private static func preloading(_ runtime: String, with others: String) -> String {
        // The dynamic linker separates them like this.
        let libraries = others.split { $0 == ":" || $0 == " " }
        let isSanitizer = { (path: Substring) in
            path.split(separator: "/").last.map { $0.hasPrefix("libasan.so") || $0.hasPrefix("libclang_rt.asan") }
                ?? false
        }
        return (libraries.filter(isSanitizer) + [runtime[...]] + libraries.filter { !isSanitizer($0) })
            .joined(separator: ":")
    }

    /// Our environment, without another recorder's session.
    private func plainEnvironment() -> [UnsafeMutablePointer<CChar>?] {
        var result: [UnsafeMutablePointer<CChar>?] = []
        var entry = environ
        while let variable = entry.pointee {
            if strncmp(variable, "FATHOM_SESSION=", 15) != 0 { result.append(variable) }
            entry += 1
        }
        return result
    }
}

/// Strings as C takes them, for as long as this lives.
private final class CStrings {
    private var all: [UnsafeMutablePointer<CChar>] = []

    deinit { for string in all { free(string) } }

    /// - Parameter text: a String, or bytes that end with 0.
    func copy(_ text: UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar> {
        all.append(strdup(text))
        return all[all.count - 1]
    }
}

/// The runtime's path as LD_PRELOAD can hold it: spaces and colons separate entries there and cannot be quoted.
private struct PreloadPath {
    let path: String
    private let directory: String?

    init(of runtime: String) throws(RecordingError) {
        guard runtime.utf8.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }) else {
            path = runtime
            directory = nil
            return
        }
        let name: String
        do throws(SystemError) { name = try Directory.makeTemporary("fathom", in: "/tmp") } catch {
            throw .files(.cannotCreate(path: error.subject, errno: error.errno))
        }
        chmod(name, 0o755)
        path = name + "/libfathom.so"
        directory = name
        guard runtime.withRawCString({ symlink($0, path) }) == 0 else {
            throw .files(.cannotCreate(path: path, errno: errno))
        }
    }

    func remove() {
        guard let directory else { return }
        unlink(path)
        rmdir(directory)
    }
}
