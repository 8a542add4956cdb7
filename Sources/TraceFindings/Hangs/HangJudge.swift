/// Decides which calls are hangs, and when each is reported.
///
/// It knows nothing of programs or clocks: its caller passes which events go on, and how long each has lasted.
public struct HangJudge {
    /// One event that is not to take long: a call below main, a call of a function that was named, or the time between two
    /// marks.
    public struct Event: Hashable, Sendable {
        public var process: UInt32
        public var serial: UInt32
        /// The function's address, or the mark's id.
        public var function: UInt64
        /// In ticks.
        public var begin: UInt64

        public init(process: UInt32, serial: UInt32, function: UInt64, begin: UInt64) {
            self.process = process
            self.serial = serial
            self.function = function
            self.begin = begin
        }
    }

    /// What is to be done about an event.
    public enum Answer: Equatable, Sendable {
        /// The event has become a hang.
        case began(Event, duration: UInt64)
        /// The event goes on. A hang's stack may have changed since the last look.
        case goesOn(Event, duration: UInt64, isSameStack: Bool)
        /// The event is over.
        case ended(Event, duration: UInt64)
    }

    private struct Known {
        var backoff: Backoff
        var duration: UInt64
        /// In how many looks it was not there, and in how many of these nothing was known of its thread.
        var missing = 0
        var unknown = 0
    }

    /// After so many looks, a thread of which nothing is known has ended.
    private static let mostUnknown = 200

    private let limits: HangLimits
    private var hangs: [Event: Known] = [:]

    public init(_ limits: HangLimits) { self.limits = limits }

    /// - Parameters:
    ///   - events: those that go on, with how long each has lasted and the stack that its thread is in.
    ///   - ended: how long events lasted that are known to have ended.
    ///   - isKnown: whether the calls of the event's thread could be read. Where a thread calls fast, and the machine is
    ///     busy, they often cannot.
    ///   - now: in ns.
    public mutating func look(
        _ events: [(event: Event, duration: UInt64, stack: [UInt64])], ended: [Event: UInt64] = [:],
        isKnown: (Event) -> Bool = { _ in true }, at now: UInt64
    ) -> [Answer] {
        var answers: [Answer] = [], seen: Set<Event> = []
        for (event, duration, stack) in events where duration >= limits.timeout {
            seen.insert(event)
            guard var known = hangs[event] else {
                hangs[event] = Known(
                    backoff: Backoff(interval: limits.interval, stack: stack, at: now), duration: duration)
                answers.append(.began(event, duration: duration))
                continue
            }
            known.duration = duration
            known.missing = 0
            known.unknown = 0
            let look = known.backoff.look(stack, at: now)
            if look != .notYet {
                answers.append(.goesOn(event, duration: duration, isSameStack: look == .sameStack))
            }
            hangs[event] = known
        }
        for (event, known) in hangs where !seen.contains(event) {
            if ended[event] == nil, !isKnown(event), known.unknown < HangJudge.mostUnknown {
                hangs[event]?.unknown += 1
                continue
            }
            // Between two chunks, for a moment nobody knows a thread's calls.
            guard ended[event] != nil || known.missing > 0 else {
                hangs[event]?.missing += 1
                continue
            }
            hangs[event] = nil
            answers.append(.ended(event, duration: max(ended[event] ?? 0, known.duration)))
        }
        return answers
    }

    /// Forgets a hang that the caller knows to be over.
    ///
    /// - Returns: How long it had lasted when it was seen last; nil when it is none.
    public mutating func forget(_ event: Event) -> UInt64? { hangs.removeValue(forKey: event)?.duration }
}
