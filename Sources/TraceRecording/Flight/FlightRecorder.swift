internal import CTraceFormat  // its headers include those of libc: Swift may take theirs for the place of timespec
internal import Glibc
internal import Synchronization
internal import TraceFile
internal import TraceSystem
internal import TraceText

/// Saves what the ring holds as sessions of their own, when a condition holds or the user or the program asks for it.
final class FlightRecorder: @unchecked Sendable {
    private let buffers: SharedBuffers
    private let ring: SessionDirectory
    private let description: SessionDescription
    private let clock: SessionClock
    private let plan: FlightPlan
    /// The name that saves are numbered after.
    private let name: String
    /// The number in the last name that was tried.
    private var number: Int
    private let wasSignaled = Atomic(false)
    private var knownRequests: UInt32 = 0
    private var knownWishes: UInt32 = 0
    private var knownCommands: UInt32 = 0
    /// When the last call ended that was a reason, by where that was.
    private var ends: [Place: UInt64] = [:]
    /// The moments of the last hour's saves, in ns of CLOCK_MONOTONIC.
    private var times: [UInt64] = []

    private(set) var saves: [FlightSave] = []
    /// Saves that were asked for beyond what an hour may have.
    private(set) var refused: UInt64 = 0
    /// The number of calls that may have been a reason to save, but came too fast to be looked at.
    private(set) var unjudged: UInt64 = 0
    /// The reason for which a save failed, the last one that did; nil while none has failed.
    private(set) var problem: String?

    private struct Place: Hashable {
        var process: UInt32
        var thread: UInt32
        var function: UInt64
    }

    /// Why something is saved, and the call that is the reason, if one is.
    private struct Reason {
        var text: String
        var call: RingRequest?
    }

    private static let mostEnds = 4096
    private static let hour: UInt64 = 3600 * 1_000_000_000

    init(
        _ buffers: SharedBuffers, in ring: SessionDirectory, named name: String, description: SessionDescription,
        clock: SessionClock, plan: FlightPlan
    ) {
        self.buffers = buffers
        self.ring = ring
        self.description = description
        self.clock = clock
        self.plan = plan
        self.name = SessionDirectory.stem(of: name)
        // Saves of earlier runs stay what they are.
        number = SessionDirectory.highestNumber(of: self.name)
        // Asking before the program starts lets its first calls be told of, too.
        ask()
    }

    /// Notes that the signal came. Any thread may call it.
    func noteSignal() {
        wasSignaled.store(true, ordering: .releasing)
        buffers.wakeRecorder()
    }

    /// Looks whether the signal came, where no thread waits for it. The signal is blocked.
    func takeSignal() {
        guard let signal = plan.signal else { return }
        var set = sigset_t(), none = timespec()
        sigemptyset(&set)
        sigaddset(&set, signal)
        if sigtimedwait(&set, nil, &none) == signal { wasSignaled.store(true, ordering: .releasing) }
    }

    /// Saves if there is a reason.
    ///
    /// - Parameter isLast: whether the program has ended, so that limits need not be reported any more.
    func look(isLast: Bool = false, losses: () -> RecordingLosses) {
        if !isLast { ask() }
        let (requests, missed) = buffers.requests(from: &knownRequests)
        unjudged += UInt64(missed)
        var reasons = requests.compactMap { call in reason(for: call).map { Reason(text: $0, call: call) } }
        let wishes = buffers.wishes
        if wishes != knownWishes { reasons.append(Reason(text: "the program asked for it")) }
        knownWishes = wishes
        let commands = buffers.saveCommands
        if commands != knownCommands { reasons.append(Reason(text: "fathom ctl asked for it")) }
        knownCommands = commands
        if wasSignaled.exchange(false, ordering: .acquiring) {
            reasons.append(Reason(text: "somebody sent the signal"))
        }
        if !reasons.isEmpty {
            save(because: reasons, losses())
        } else if !requests.isEmpty || missed > 0 {
            // Whoever told of these calls has held the ring.
            buffers.releaseRing()
        }
    }

    /// All reasons in a line, and of which of their calls what is kept does not hold all.
    private static func text(_ reasons: [Reason], keeping chunks: [Chunk]) -> String {
        let cuts = reasons.map { $0.call?.shortcoming(in: chunks) }
        var text = reasons[0].text
        if let cut = cuts[0] { text += ", which is not whole: \(cut)" }
        guard reasons.count > 1 else { return text }
        let others = cuts.dropFirst().count { $0 != nil }
        return text + ", and \(reasons.count - 1) more" + (others > 0 ? ", of which \(others) not whole" : "")
    }

    /// Saves what led to the program's end, however many saves there were before.
    func finish(_ reason: String, losses: RecordingLosses) {
        if plan.savesCrashes { save(because: [Reason(text: reason)], losses, isLast: true) }
    }

    /// Whether the ring may be deleted: no save was begun yet, or the last one that was begun succeeded.
    private(set) var isSettled = true

    func summarize(into summary: inout RecordingSummary) {
        summary.isFlight = true
        summary.saves = saves
        summary.refusedSaves = refused
        summary.unjudgedCalls = unjudged
        summary.saveProblem = problem
        summary.leavesRing = !isSettled
    }

    private func ask() {
        guard let judge = plan.judge else { return }
        buffers.announce(longTicks: judge.leastDuration(in: ring.path).map { clock.ticks(nanoseconds: $0) } ?? .max)
    }

    private func reason(for request: RingRequest) -> String? {
        let call = LongCall(
            process: request.process, function: request.function,
            duration: clock.nanoseconds(ticks: request.durationTicks), endTicks: request.endTicks,
            conditions: request.conditions)
        // Of a recursion, each call takes at least as long as the one that it leads to. They are one event.
        let place = Place(process: request.process, thread: request.thread, function: request.function)
        let begin = request.endTicks &- request.durationTicks
        if let end = ends[place], begin < end {
            ends[place] = max(end, request.endTicks)
            return nil
        }
        guard let reason = plan.judge?.reason(for: call, in: ring.path) else { return nil }
        if ends.count >= Self.mostEnds { ends = [:] }
        ends[place] = request.endTicks
        return reason
    }

    private func save(because reasons: [Reason], _ losses: RecordingLosses, isLast: Bool = false) {
        let now = SystemClock.monotonic
        times.removeAll { now - $0 >= Self.hour }
        guard isLast || times.count < plan.savesPerHour else {
            refused += 1
            buffers.releaseRing()
            return
        }
        times.append(now)
        var reason = ""
        number += 1
        let session = "\(name)-\(number).fathom"
        isSettled = false
        buffers.holdRing()
        defer { buffers.releaseRing() }
        do {
            let snapshot = try SessionSnapshot(
                of: ring, as: session,
                description: { chunks in
                    reason = Self.text(reasons, keeping: chunks)
                    var description = description
                    description.reason = reason
                    return description
                }, clock: clock, losses: losses, onCopied: buffers.releaseRing)
            let save = FlightSave(
                session: session, reason: reason, calls: snapshot.calls, bytes: snapshot.bytes)
            saves.append(save)
            isSettled = true
            plan.onSave(save)
        } catch {
            problem = "\(error)"
        }
    }
}
