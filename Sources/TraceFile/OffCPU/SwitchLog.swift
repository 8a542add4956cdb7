internal import CTraceFormat

/// The file `switches` of a session: when each thread gave up a CPU, and when it got one again.
///
/// It is read when a thread is first asked for.
public final class SwitchLog: Sendable {
    /// A stretch of time in which a thread had no CPU, in ns since the session's start.
    struct Stretch {
        var begin: UInt64
        var end: UInt64
        /// Whether the thread would have gone on if it had been given a CPU.
        var wantsCPU: Bool
    }

    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    /// Switches that the kernel had no room for.
    public var lost: UInt64 { log.lost }
    /// The moment up to which switches are known, in ns since the session's start.
    public var knownUntil: UInt64 { log.knownUntil }

    /// The moments at which the thread `tid` left a CPU or got one, in the order of time.
    ///
    /// - Complexity: O(switches of the thread); the first call is O(switches).
    public func switches(of tid: UInt32) -> [ThreadSwitch] {
        log.events(of: tid).map { event in
            ThreadSwitch(
                time: event.time, cpu: event.cpu, isOut: event.has(FATHOM_SWITCH_OUT),
                wantsCPU: event.has(FATHOM_SWITCH_PREEMPTED))
        }
    }

    /// The stretches in which the thread `tid` had no CPU, in the order of time. A stretch that has not ended by the last moment
    /// known ends there.
    ///
    /// - Complexity: O(switches of the thread); the first call is O(switches).
    func stretches(of tid: UInt32) -> [Stretch] {
        let end = log.knownUntil
        var result: [Stretch] = []
        var out: (time: UInt64, wantsCPU: Bool)?
        for event in log.events(of: tid) {
            if event.has(FATHOM_SWITCH_OUT) {
                // Of two in a row, a switch between them is lost, so the first one's end is not known.
                out = (event.time, event.has(FATHOM_SWITCH_PREEMPTED))
            } else if let begin = out {
                if event.time > begin.time {
                    result.append(Stretch(begin: begin.time, end: event.time, wantsCPU: begin.wantsCPU))
                }
                out = nil
            }
        }
        if let out, end > out.time { result.append(Stretch(begin: out.time, end: end, wantsCPU: out.wantsCPU)) }
        return result
    }

    /// When the thread `tid` had no CPU, by the clock that all threads share: in ns since the session's start.
    public func offCPU(of tid: UInt32) -> OffCPU { OffCPU(stretches(of: tid)) { $0 } }
}
