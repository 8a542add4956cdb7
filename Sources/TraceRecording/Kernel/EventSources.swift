internal import CTraceFormat
internal import TraceFile

/// What the kernel is asked to tell of the program's threads while it is recorded, and who moves that to the session.
///
/// The kernel tells of the programs that are started by the thread that calls the initializer, and of their children.
final class EventSources {
    private typealias Answer = (rings: EventRings?, refusal: String?)

    private let switches: Answer?
    private let faults: Answer?
    private var switchRecorder: EventRecorder?
    private var faultRecorder: EventRecorder?

    init(_ options: RecordOptions) {
        func ask(_ kind: KernelEvents, isAlone: Bool) -> Answer {
            do throws(EventRefusal) { return (try EventRings(kind, isAlone: isAlone), nil) } catch {
                return (nil, error.text)
            }
        }
        switches = options.tellsWaits ? ask(.switches, isAlone: !options.tellsFaults) : nil
        faults = options.tellsFaults ? ask(.faults, isAlone: !options.tellsWaits) : nil
    }

    /// Whether the kernel tells of context switches.
    var tellsSwitches: Bool { switches?.rings != nil }

    /// Notes in the session's description what the kernel tells, or why not.
    func describe(in description: inout SessionDescription) {
        description.waitSources = switches.map {
            WaitSources(hasSwitches: $0.rings != nil, refusal: $0.refusal, processors: WaitSources.processorsHere())
        }
        description.faultSource = faults.map {
            FaultSource(
                isTold: $0.rings != nil, seesSystemCalls: $0.rings?.seesSystemCalls ?? false, refusal: $0.refusal)
        }
    }

    /// Makes the files.
    func prepare(in directory: SessionDirectory, _ clock: SessionClock, maxSize: UInt64?) throws(SessionFileError) {
        func recorder(_ kind: KernelEvents, _ rings: EventRings?) throws(SessionFileError) -> EventRecorder? {
            guard let rings else { return nil }
            return EventRecorder(
                rings, try EventLogWriter(kind, in: directory, start: clock.start.nanoseconds, maxSize: maxSize))
        }
        switchRecorder = try recorder(.switches, switches?.rings)
        faultRecorder = try recorder(.faults, faults?.rings)
    }

    private var recorders: [EventRecorder] { [switchRecorder, faultRecorder].compactMap { $0 } }

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
        summary.lostFaults = faultRecorder?.lost ?? 0
        summary.faultProblem = faultRecorder?.error
    }
}
