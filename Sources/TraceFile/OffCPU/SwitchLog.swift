internal import CTraceFormat

/// The files `switches` and `wakings` of a session: when each thread gave up a CPU, when it was woken, and when it got a CPU again.
///
/// It is read when a thread is first asked for.
public final class SwitchLog: Sendable {
    /// A stretch of time in which a thread had no CPU, in ns since the session's start.
    package struct Stretch: Sendable {
        package var begin: UInt64
        package var end: UInt64
        /// Whether the thread would have gone on if it had been given a CPU.
        package var wantsCPU: Bool

        package init(begin: UInt64, end: UInt64, wantsCPU: Bool) {
            (self.begin, self.end, self.wantsCPU) = (begin, end, wantsCPU)
        }
    }

    private let log: EventLog
    private let wakings: EventLog?

    /// - Parameter wakings: nil where the kernel did not tell of wakings.
    init(_ log: EventLog, wakings: EventLog?) {
        self.log = log
        self.wakings = wakings
    }

    /// Switches that the kernel had no room for.
    public var lost: UInt64 { log.lost }
    /// Wakings, of whichever program, that the kernel had no room for.
    public var lostWakings: UInt64 { wakings?.lost ?? 0 }
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

    /// The moments at which the thread `tid` was woken, in the order of time, in ns since the session's start, and by which
    /// thread; 0: by an interrupt.
    ///
    /// - Complexity: O(wakings of the thread); the first call is O(wakings).
    public func wakings(of tid: UInt32) -> [(time: UInt64, waker: UInt32)] {
        wakings?.events(of: tid).map { ($0.time, $0.waker) } ?? []
    }

    /// The stretches in which the thread `tid` had no CPU, in the order of time. A stretch that has not ended by the last moment
    /// known ends there. From when the thread was woken on, as far as that is known, it wants a CPU, in a stretch of its own.
    ///
    /// - Complexity: O(switches and wakings of the thread); the first call is O(switches and wakings).
    func stretches(of tid: UInt32) -> [Stretch] {
        let end = log.knownUntil
        var result: [Stretch] = [], woken = wakings(of: tid)[...]
        func add(_ begin: UInt64, _ end: UInt64, _ wantsCPU: Bool) {
            guard end > begin else { return }
            woken = woken.drop { $0.time < begin }
            guard !wantsCPU, let waking = woken.first?.time, waking < end else {
                return result.append(Stretch(begin: begin, end: end, wantsCPU: wantsCPU))
            }
            if waking > begin { result.append(Stretch(begin: begin, end: waking, wantsCPU: false)) }
            result.append(Stretch(begin: waking, end: end, wantsCPU: true))
        }
        var out: (time: UInt64, wantsCPU: Bool)?
        for event in log.events(of: tid) {
            if event.has(FATHOM_SWITCH_OUT) {
                // Of two in a row, a switch between them is lost, so the first one's end is not known.
                out = (event.time, event.has(FATHOM_SWITCH_PREEMPTED))
            } else if let begin = out {
                add(begin.time, event.time, begin.wantsCPU)
                out = nil
            }
        }
        if let out { add(out.time, end, out.wantsCPU) }
        return result
    }

    /// When the thread `tid` had no CPU, by the clock that all threads share: in ns since the session's start.
    public func offCPU(of tid: UInt32) -> OffCPU { OffCPU(stretches(of: tid)) { $0 } }
}
