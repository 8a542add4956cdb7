internal import CTraceFormat
internal import Glibc
internal import TraceFile
internal import TraceSystem

/// Moves what the kernel tells of threads from the kernel's rings to the session, on a thread of its own.
///
/// What it has written stays, whichever process is killed. If this process is killed, the events that are still in the rings
/// are lost: those of the last ``look`` ms at most.
final class EventRecorder: @unchecked Sendable {
    private let rings: EventRings
    private let log: EventLogWriter
    let wakings: WakingLog?
    private var thread: pthread_t?
    private var isStopping: UInt32 = 0
    /// Written to when the thread is to look at once.
    private let waker: Int32
    private(set) var lost: UInt64 = 0

    /// How long events stay in the rings at most, in ms.
    private static let look: Int32 = 100

    /// - Parameter wakings: takes those of the threads that this is told of.
    init(_ rings: EventRings, _ log: EventLogWriter, wakings: WakingLog? = nil) {
        self.rings = rings
        self.log = log
        self.wakings = wakings
        waker = fathom_wake_descriptor()
    }

    /// Why not all events could be written; nil while they could.
    var error: String? { log.problem }

    func start() {
        fathom_store32(&isStopping, 0)
        var started = pthread_t()
        let recorder = Unmanaged.passRetained(self)
        let error = pthread_create(
            &started, nil,
            {
                Unmanaged<EventRecorder>.fromOpaque($0!).takeRetainedValue().run()
                return nil
            }, recorder.toOpaque())
        if error == 0 { thread = started } else { recorder.release() }
    }

    /// Goes on in a child of the process that began. Events of the time in between are still in the rings.
    func startAgain() {
        guard rings.mapAgain(), wakings?.rings.mapAgain() ?? true else { return }
        start()
    }

    private func run() {
        // As the drain: it does not interrupt the program when it wakes.
        fathom_yield_to_others(500_000)
        while fathom_load32(&isStopping) == 0 {
            rings.wait(milliseconds: Self.look, wake: waker)
            takeAll()
        }
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
        if !isEmpty || fathom_load32(&isStopping) != 0 {
            log.append(UnsafeBufferPointer(start: nil, count: 0), until: until, lost: 0)
        }
        wakings?.write(until: until)
    }

    /// Ends the thread, which may be started again.
    func stop() {
        fathom_store32(&isStopping, 1)
        var one: UInt64 = 1
        _ = write(waker, &one, MemoryLayout<UInt64>.size)
        if let thread { pthread_join(thread, nil) }
        thread = nil
        var told: UInt64 = 0
        _ = read(waker, &told, MemoryLayout<UInt64>.size)
    }

    /// Takes what is left, once no process runs any more.
    func finish() {
        stop()
        takeAll()
        rings.close()
        log.close()
        wakings?.close()
        close(waker)
    }
}
