internal import CTraceFormat
internal import Glibc
internal import Synchronization
internal import TraceFile
internal import TraceSystem

/// Collects what the kernel tells of system calls, and hands each thread's to who writes its chunks.
///
/// A thread of its own empties the rings. Who asks looks into them first: once a thread has finished a chunk, the kernel has told of all
/// its system calls before.
final class SystemCallRecorder: KernelRecorder, @unchecked Sendable {
    private let rings: EventRings
    private let points: (enter: Tracepoint, leave: Tracepoint)
    private let clock: SessionClock
    private let moments: Mutex<[SessionClock.Moment]>
    private let state = Mutex(SystemCallState())
    private lazy var thread = RingThread(
        waits: rings.wait, look: { [unowned self] in state.withLock { take(&$0) } })
    private var texts = fathom_system_texts()
    /// Why texts that arguments lead to are not known; nil where they are.
    let textRefusal: String?

    /// - Throws: ``EventRefusal``.
    init(_ clock: SessionClock) throws(EventRefusal) {
        self.clock = clock
        moments = Mutex([clock.start])
        points = try Tracepoint.systemCalls()
        rings = try EventRings(of: points)
        do throws(EventRefusal) {
            let fork = try Tracepoint.fork()
            var places = [UInt32](repeating: 0, count: Int(FATHOM_SYSTEM_CALL_COUNT))
            for number in places.indices {
                for place in SystemCalls.prototype(UInt32(number))?.texts ?? [] { places[number] |= 1 << UInt32(place) }
            }
            guard fathom_texts_open(&texts, points.enter.id, points.leave.id, fork.id, fork.threadAt, places) == 0
            else {
                throw EventRefusal(reason: errno, isOfMemory: false)
            }
            textRefusal = nil
        } catch { textRefusal = error.text() }
    }

    func start() {
        if textRefusal == nil { fathom_texts_leave(&texts) }
        thread.start()
    }

    /// Goes on in a child of the process that began. Events of the time in between are still in the rings.
    func startAgain() {
        if rings.mapAgain() { start() }
    }

    /// Ends the thread, which may be started again.
    func stop() { thread.stop() }

    func finish() {
        stop()
        rings.close()
        if textRefusal == nil { fathom_texts_close(&texts) }
    }

    /// Events that the kernel had no room for, and calls that waited in vain for their thread's chunk.
    var lost: UInt64 { state.withLock { $0.lost } }

    /// Takes the calls of a thread, and of its program as it was at `moment`, that began before `end`; with no `end`, also one that goes
    /// on.
    ///
    /// - Parameters:
    ///   - moment, end: in ns of CLOCK_MONOTONIC.
    ///   - fromStart: whether those of programs that it ran before count, too.
    func take(
        of thread: UInt32, _ process: UInt32, at moment: UInt64, until end: UInt64?, fromStart: Bool
    ) -> [SystemCall] {
        state.withLock { state in
            take(&state)
            return state.take(of: thread, process, at: moment, until: end, fromStart: fromStart)
        }
    }

    /// The threads of which there are calls.
    func left() -> [SystemCallState.Left] {
        state.withLock { state in
            take(&state)
            return state.left
        }
    }

    /// The time in ns, around `moment`, in which a process ran one program.
    func stretch(of process: UInt32, at moment: UInt64) -> Range<UInt64> {
        state.withLock { $0.stretch(of: process, at: moment) }
    }

    /// Readings of the session's clock and the kernel's, together, from 20 ms apart on. By the rate that was measured over a short time,
    /// calls would be some µs off, and below other calls.
    var readings: [SessionClock.Moment] { moments.withLock { $0 } }

    private func readClocks() {
        let moment = clock.moment
        moments.withLock { moments in
            if moment.nanoseconds > moments[moments.count - 1].nanoseconds + 20_000_000 { moments.append(moment) }
        }
    }

    private func take(_ state: inout SystemCallState) {
        // What happened before this moment is in the rings by now. What happens later may be in one that was looked into before.
        let until = SystemClock.monotonic
        readClocks()
        rings.take(points) { state.note($0, lost: $1) }
        while textRefusal == nil, let text = fathom_texts_next(&texts) {
            state.note(text)
            fathom_texts_pass(&texts, text)
        }
        state.settle(until: until)
    }
}

/// The system calls that nobody has taken yet.
struct SystemCallState {
    private struct OfThread {
        var tid: UInt32
        var pid: UInt32
        var open: SystemCall?
        var calls: [SystemCall] = []
        /// When its last event was, in ns.
        var last: UInt64 = 0
    }

    private var threads: [OfThread] = []
    private var places: [UInt32: Int] = [:]
    /// Places of threads of which nothing is known any more.
    private var free: [Int] = []
    /// When processes began to run other programs, by their ids.
    private var execs: [UInt32: [UInt64]] = [:]
    /// Events that may be later than some that is in a ring still.
    private var unsettled: [fathom_system_call_event] = []
    /// Texts of calls that are not settled, by threads, in the order of the calls.
    private var texts: [UInt32: Texts] = [:]
    private struct Texts {
        var all: [(moment: UInt64, number: UInt32, text: SystemCall.Text)] = []
        /// The first that belongs to a call to come.
        var next = 0
    }
    private var kept = 0
    private(set) var lost: UInt64 = 0

    /// So many calls wait to be taken, at most: they take some 150 bytes each.
    private static let most = 2 << 20
    /// The numbers of execve and execveat, and of rt_sigreturn.
    private static let execs: Set<UInt32> = [59, 322]
    private static let returnFromHandler: UInt32 = 15

    mutating func note(_ events: UnsafeBufferPointer<fathom_system_call_event>, lost: UInt64) {
        unsettled += events
        self.lost += lost
    }

    mutating func note(_ text: UnsafePointer<fathom_system_text>) {
        let size = Int(text.pointee.size)
        guard size > 0 else { return }
        let isCut = size >= Int(FATHOM_SYSTEM_TEXT_LIMIT)
        let start = UnsafeRawPointer(text) + MemoryLayout<fathom_system_text>.offset(of: \.text)!
        let bytes = Array(UnsafeRawBufferPointer(start: start, count: size - 1))
        texts[text.pointee.tid, default: Texts()].all.append(
            (
                text.pointee.ns, text.pointee.number,
                SystemCall.Text(place: Int(text.pointee.place), bytes: bytes, isCut: isCut)
            ))
    }

    /// The texts of the call that begins or ends with an event: those that the kernel has read since the thread's last one.
    private mutating func texts(of event: fathom_system_call_event, since last: UInt64) -> [SystemCall.Text] {
        guard let read = texts[event.tid] else { return [] }
        var found: [SystemCall.Text] = [], next = read.next
        while next < read.all.count, read.all[next].moment <= event.ns {
            let (moment, number, text) = read.all[next]
            if moment > last, Int64(number) == event.number { found.append(text) }
            next += 1
        }
        if next == read.all.count { texts[event.tid] = nil } else { texts[event.tid]!.next = next }
        return found
    }

    /// Makes calls of what happened before `moment`. Each thread's events are put in order, whichever CPUs it was on.
    mutating func settle(until moment: UInt64) {
        unsettled.sort { $0.ns < $1.ns }
        let count = unsettled.firstIndex { $0.ns > moment } ?? unsettled.count
        for event in unsettled[..<count] { add(event) }
        // Of processes that nobody records, there are texts and no events.
        texts = texts.filter { $0.value.all.last!.moment + 1_000_000_000 > moment }
        unsettled.removeSubrange(..<count)
    }

    private mutating func add(_ event: fathom_system_call_event) {
        if event.kind == FATHOM_SYSTEM_CALL_LOST { return forgetOpen { _ in true } }
        let place = places[event.tid] ?? free.popLast() ?? threads.count
        if place == threads.count { threads.append(OfThread(tid: event.tid, pid: event.pid)) }
        places[event.tid] = place
        (threads[place].tid, threads[place].pid) = (event.tid, event.pid)
        let texts = texts(of: event, since: threads[place].last), number = UInt32(event.number)
        threads[place].last = event.ns
        if event.kind == FATHOM_SYSTEM_CALL_ENTER {
            threads[place].open = SystemCall(event)
            threads[place].open!.texts = texts
            return
        }
        let isExec = Self.execs.contains(number) && event.values.0 == 0
        // The thread that runs another program has the process's id from then on, and the others are gone.
        let caller =
            isExec ? threads.firstIndex { $0.pid == event.pid && $0.open?.number == number } ?? place : place
        guard var call = threads[caller].open.take() else { return }
        // Where an end was lost, there is none. That of a return from a handler has another number, or none.
        guard number == call.number || call.number == Self.returnFromHandler else { return lost += 1 }
        (call.end, call.result) = (event.ns, Int64(bitPattern: event.values.0))
        for text in texts where !call.texts.contains(where: { $0.place == text.place }) { call.texts.append(text) }
        if isExec {
            execs[event.pid, default: []].append(event.ns)
            forgetOpen { $0 == event.pid }
        }
        guard kept < Self.most else { return lost += 1 }
        threads[caller].calls.append(call)
        kept += 1
    }

    /// Forgets the calls that go on: nothing tells where they end.
    private mutating func forgetOpen(of isMeant: (UInt32) -> Bool) {
        for place in threads.indices where isMeant(threads[place].pid) { threads[place].open = nil }
    }

    mutating func take(
        of tid: UInt32, _ pid: UInt32, at moment: UInt64, until end: UInt64?, fromStart: Bool
    ) -> [SystemCall] {
        guard let place = places[tid], threads[place].pid == pid else { return [] }
        let stretch = stretch(of: pid, at: moment)
        let calls = threads[place].calls, last = min(end ?? .max, stretch.upperBound)
        let from = fromStart ? 0 : calls.firstIndex { $0.begin >= stretch.lowerBound } ?? calls.count
        let to = calls[from...].firstIndex { $0.begin >= last } ?? calls.count
        var taken = Array(calls[from..<to])
        threads[place].calls.removeSubrange(from..<to)
        kept -= taken.count
        if end == nil, stretch.upperBound == .max, let open = threads[place].open.take() { taken.append(open) }
        if threads[place].calls.isEmpty, threads[place].open == nil {
            places[tid] = nil
            free.append(place)
        }
        return taken
    }

    func stretch(of pid: UInt32, at moment: UInt64) -> Range<UInt64> {
        let execs = execs[pid] ?? []
        return (execs.last { $0 <= moment } ?? 0)..<(execs.first { $0 > moment } ?? .max)
    }

    /// What is left of a thread.
    struct Left {
        var thread: UInt32
        var process: UInt32
        /// When the first call began, in ns.
        var begin: UInt64
        var count: Int
    }

    var left: [Left] {
        threads.compactMap { thread in
            (thread.calls.first ?? thread.open).map {
                Left(thread: thread.tid, process: thread.pid, begin: $0.begin, count: thread.calls.count)
            }
        }
    }
}

/// Asks the kernel whether it would tell of system calls.
public enum SystemCallTracing {
    /// Why it would not, one clause for people; nil where it would.
    public static let refusal: String? = {
        #if arch(x86_64)
            do throws(EventRefusal) {
                let event = fathom_open_system_calls(0, try Tracepoint.systemCalls().enter.id, 0)
                guard event >= 0 else { throw EventRefusal(reason: errno, isOfMemory: false) }
                close(event)
                return nil
            } catch { return error.text() }
        #else
            return "their numbers are known for x86-64 alone"
        #endif
    }()
}
