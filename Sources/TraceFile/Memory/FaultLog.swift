internal import CTraceFormat

/// The file `faults` of a session: the page faults of its threads.
///
/// It is read when a thread is first asked for.
public final class FaultLog: Sendable {
    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    /// Page faults of all threads, also of those that made no call with hooks.
    public var count: UInt64 { log.count }
    /// Page faults that the kernel had no room for.
    public var lost: UInt64 { log.lost }
    /// The moment up to which page faults are known, in ns since the session's start.
    public var knownUntil: UInt64 { log.knownUntil }

    /// The page faults of the thread `tid`, in the order of time.
    ///
    /// - Complexity: O(page faults of the thread); the first call is O(page faults).
    func faults(of tid: UInt32, clock: Clock) -> [PageFault] {
        log.events(of: tid).map {
            PageFault(ticks: clock.ticks(at: $0.time), isMajor: $0.has(FATHOM_FAULT_MAJOR))
        }
    }
}
