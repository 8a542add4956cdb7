internal import CTraceFormat
internal import TraceFile

/// Writes the wakings of the recorded threads. The kernel tells of those of all threads of the machine.
final class WakingLog {
    let rings: EventRings
    private let log: EventLogWriter
    /// The threads that have given up a CPU.
    private var known: Set<UInt32> = []
    /// What was taken from the rings, of whichever threads. Before its first waking, a thread has given up a CPU, but its rings
    /// may not have told of that yet.
    private var taken: [fathom_event] = []
    /// Those that the kernel had no room for, and how many of them the file does not say yet.
    private(set) var lost: UInt64 = 0
    private var unsaid: UInt64 = 0

    init(_ rings: EventRings, _ log: EventLogWriter) {
        self.rings = rings
        self.log = log
    }

    /// Why not all wakings could be written; nil while they could.
    var error: String? { log.problem }

    /// Takes what is in the rings. The rings of switches are looked at after this, so that each thread that is woken here is
    /// known then, if it is one of the recorded ones.
    func take() {
        rings.take { events, lost in
            taken += events
            self.lost += lost
            unsaid += lost
        }
    }

    /// Hears of switches.
    func note(_ switches: UnsafeBufferPointer<fathom_event>) {
        for event in switches { known.insert(event.tid) }
    }

    /// Writes what is of known threads, and forgets the rest.
    ///
    /// - Parameter until: the moment before ``take()``, in ns of CLOCK_MONOTONIC.
    func write(until: UInt64) {
        taken.removeAll { !known.contains($0.tid) }
        guard !taken.isEmpty || unsaid > 0 else { return }
        taken.withUnsafeBufferPointer { log.append($0, until: until, lost: unsaid) }
        taken.removeAll(keepingCapacity: true)
        unsaid = 0
    }

    func close() {
        rings.close()
        log.close()
    }
}
