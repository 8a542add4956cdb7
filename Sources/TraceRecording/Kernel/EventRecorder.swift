internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Moves what the kernel tells of threads from the kernel's rings to the session, on a thread of its own.
///
/// What it has written stays, whichever process is killed. If this process is killed, the events that are still in the rings
/// are lost (``RingThread``).
final class EventRecorder: KernelRecorder, @unchecked Sendable {
    private let rings: EventRings
    private let log: EventLogWriter
    let wakings: WakingLog?
    private lazy var thread = RingThread(waits: rings.wait, look: { [unowned self] in takeAll() })
    private(set) var lost: UInt64 = 0

    /// - Parameter wakings: takes those of the threads that this is told of.
    init(_ rings: EventRings, _ log: EventLogWriter, wakings: WakingLog? = nil) {
        self.rings = rings
        self.log = log
        self.wakings = wakings
    }

    /// Why not all events could be written; nil while they could.
    var error: String? { log.problem }

    func start() { thread.start() }

    /// Goes on in a child of the process that began. Events of the time in between are still in the rings.
    func startAgain() {
        guard rings.mapAgain(), wakings?.rings.mapAgain() ?? true else { return }
        start()
    }

    private func takeAll() {
        // What happened before this moment is in the rings by now.
        let until = SystemClock.monotonic
        wakings?.take()
        var isEmpty = true
        rings.take { events, lost in
            self.lost += lost
            isEmpty = false
            wakings?.note(events)
            // Only when all rings were emptied is everything known up to the moment.
            log.append(events, until: 0, lost: lost)
        }
        if !isEmpty || thread.isStoppingNow {
            log.append(UnsafeBufferPointer(start: nil, count: 0), until: until, lost: 0)
        }
        wakings?.write(until: until)
    }

    /// Ends the thread, which may be started again.
    func stop() { thread.stop() }

    /// Takes what is left, once no process runs any more.
    func finish() {
        stop()
        takeAll()
        rings.close()
        log.close()
        wakings?.close()
    }
}
