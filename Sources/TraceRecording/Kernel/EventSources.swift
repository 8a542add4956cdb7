internal import CTraceFormat
internal import TraceFile

/// Moves what the kernel tells to where it belongs.
protocol KernelRecorder: AnyObject {
    func start()
    /// Goes on in a child of the process that began.
    func startAgain()
    /// Ends the work, which may be started again.
    func stop()
    /// Takes what is left, once no process runs any more.
    func finish()
}

/// What the kernel is asked to tell of the program's threads while it is recorded, and who moves that to the session.
///
/// The kernel tells of the programs that are started by the thread that calls the initializer, and of their children.
final class EventSources {
    private typealias Answer = (rings: EventRings?, refusal: String?)

    /// Whether the program tells what its threads wait for.
    private let tellsCauses: Bool
    private let switches: Answer?
    /// Only where the kernel tells of switches, too.
    private let wakings: Answer?
    private let faults: Answer?
    /// Where the kernel tells of system calls.
    let systemCalls: SystemCallRecorder?
    /// Why it does not.
    private let systemCallRefusal: String?
    private var switchRecorder: EventRecorder?
    private var faultRecorder: EventRecorder?

    init(_ options: RecordOptions, _ clock: SessionClock) {
        func ask(_ kind: KernelEvents, isAlone: Bool) -> Answer {
            do throws(EventRefusal) { return (try EventRings(kind, isAlone: isAlone), nil) } catch {
                return (nil, error.text(kind))
            }
        }
        tellsCauses = options.waiting == .causes
        // The kernel's records would grow without bound beside a ring, and say nothing of sums. Where nobody asks for causes, they
        // cost more than processor times do; but these do not tell which of several system calls a thread was away in.
        let tellsOfEach = options.waiting != .unknown && options.systemCalls == .kernel
        switches =
            (tellsCauses || tellsOfEach) && options.mode == .trace
            ? ask(.switches, isAlone: !options.tellsFaults)
            : options.waiting != .unknown && options.mode.keepsCalls ? (nil, nil) : nil
        wakings = !tellsCauses || switches?.rings == nil ? nil : ask(.wakings, isAlone: true)
        do throws(EventRefusal) {
            systemCalls = options.systemCalls == .kernel ? try SystemCallRecorder(clock) : nil
            systemCallRefusal = nil
        } catch { (systemCalls, systemCallRefusal) = (nil, error.text()) }
        faults = options.tellsFaults ? ask(.faults, isAlone: !tellsCauses) : nil
    }

    /// Whether the kernel tells of context switches.
    var tellsSwitches: Bool { switches?.rings != nil }

    /// Notes in the session's description what the kernel tells, or why not.
    func describe(in description: inout SessionDescription) {
        description.waitSources = switches.map {
            WaitSources(
                hasSwitches: $0.rings != nil, refusal: $0.refusal, hasWakings: wakings?.rings != nil,
                wakingRefusal: wakings?.refusal, tellsCauses: tellsCauses, processors: WaitSources.processorsHere())
        }
        description.faultSource = faults.map {
            FaultSource(
                isTold: $0.rings != nil, seesSystemCalls: $0.rings?.seesSystemCalls ?? false, refusal: $0.refusal)
        }
    }

    /// Makes the files.
    func prepare(in directory: SessionDirectory, _ clock: SessionClock, maxSize: UInt64?) throws(SessionFileError) {
        func writer(_ kind: KernelEvents) throws(SessionFileError) -> EventLogWriter {
            try EventLogWriter(kind, in: directory, start: clock.start.nanoseconds, maxSize: maxSize)
        }
        if let rings = switches?.rings {
            let wakings = try wakings?.rings.map { rings throws(SessionFileError) in
                WakingLog(rings, try writer(.wakings))
            }
            switchRecorder = EventRecorder(rings, try writer(.switches), wakings: wakings)
        }
        if let rings = faults?.rings { faultRecorder = EventRecorder(rings, try writer(.faults)) }
    }

    private var recorders: [any KernelRecorder] {
        let all: [(any KernelRecorder)?] = [switchRecorder, faultRecorder, systemCalls]
        return all.compactMap { $0 }
    }

    func start() { recorders.forEach { $0.start() } }
    /// Goes on in a child of the process that began.
    func startAgain() { recorders.forEach { $0.startAgain() } }
    /// Ends the work, which may be started again.
    func stop() { recorders.forEach { $0.stop() } }
    /// Takes what is left, once no process runs any more.
    func finish() { recorders.forEach { $0.finish() } }

    func summarize(into summary: inout RecordingSummary) {
        summary.lostSwitches = switchRecorder?.lost ?? 0
        summary.switchProblem = switchRecorder?.error
        summary.lostWakings = switchRecorder?.wakings?.lost ?? 0
        summary.wakingProblem = switchRecorder?.wakings?.error
        summary.lostFaults = faultRecorder?.lost ?? 0
        summary.faultProblem = faultRecorder?.error
        summary.lostSystemCalls = systemCalls?.lost ?? 0
        summary.systemCallRefusal = systemCallRefusal
        summary.systemCallTextRefusal = systemCalls?.textRefusal
    }
}
