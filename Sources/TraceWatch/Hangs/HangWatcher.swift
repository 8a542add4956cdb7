internal import CTraceFormat
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
public import TraceQuery
internal import TraceSystem

/// Watches a running session for hangs, until ``stop()`` or until no process is left.
///
/// It reads what the program has written and what the kernel reports. It neither asks nor stops the program, so it does not
/// matter what the program is stuck in.
public final class HangWatcher: @unchecked Sendable {
    private let session: LiveSession
    private let options: HangOptions
    private let isAllowed: () -> Bool
    private let news: (HangNews) -> Void
    private let writer: HangWriter
    private var judge: HangJudge
    private var events: OpenEvents
    private var processes: [Int32: WatchedProcess] = [:]
    private var rings: [ThreadID: StackRing] = [:]
    /// Reports that are not complete.
    private var reports: [Subject: Report] = [:]
    /// Hangs of which a report of a deadlock tells, and since when, in ns, that is over; nil: it is not.
    private var explained: [HangJudge.Event: (by: Subject, over: UInt64?)] = [:]
    private var number = 0
    /// How many hangs were not reported, because that was not allowed.
    public private(set) var refused: UInt64 = 0
    private var nextTick: UInt64 = 0, nextCircle: UInt64 = 0
    /// 1 when ``run()`` is to return.
    private let stopWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    /// 1 when ``awaited`` has ended, 2 when a signal ended it.
    private let endWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    private struct ThreadID: Hashable {
        var process: UInt32
        var serial: UInt32
    }

    /// What a report is about.
    private enum Subject: Hashable {
        case event(HangJudge.Event)
        case deadlock(pid: Int32, circle: [UInt32])
        case pool(pid: Int32)
    }

    private struct Report {
        var number: Int
        var hang: Hang
        var pid: Int32
    }

    /// A process whose end the caller reports by ``noteEnd(isKilled:)``.
    public var awaited: Int32?

    private static let second: UInt64 = 1_000_000_000
    /// Frames of a sample, at most: the innermost.
    private static let sampleDepth = 512

    /// - Parameters:
    ///   - session: a session that is being recorded, opened with marks where the options need marks.
    ///   - isAllowed: is asked before each report is begun; one that is not allowed is counted.
    ///   - news: is called for each hang when it begins, as it goes on, and when it has ended.
    public init(
        _ session: LiveSession, _ options: HangOptions, isAllowed: @escaping () -> Bool,
        news: @escaping (HangNews) -> Void
    ) {
        self.session = session
        self.options = options
        self.isAllowed = isAllowed
        self.news = news
        writer = HangWriter(session: session, limits: options.limits)
        judge = HangJudge(options.limits)
        events = OpenEvents(options, session)
        session.threads.longTicks = session.threads.clock.ticks(in: options.limits.timeout)
        stopWord.initialize(to: 0)
        endWord.initialize(to: 0)
    }

    deinit {
        stopWord.deallocate()
        endWord.deallocate()
    }

    /// Marks that the options name, and that no thread was seen to set.
    public var unseenMarks: [String] { events.unseenMarks.sorted() }

    /// Makes ``run()`` return soon. Any thread may call it.
    public func stop() {
        fathom_store32(stopWord, 1)
        fathom_wake32(stopWord)
    }

    /// Watches until ``stop()``, or until no process of the session is left and the recorder has ended.
    public func run() {
        var idle = 0
        while fathom_load32(stopWord) == 0 {
            let pause = look()
            let isAlone = processes.values.allSatisfy(\.hasEnded) && !isRecorderAlive
            idle = isAlone ? idle + 1 : 0
            if idle > 2 { break }
            fathom_wait32(stopWord, 0, pause)
        }
        end()
    }

    /// Notes that the process ``awaited`` has ended. Call this before ``stop()``.
    public func noteEnd(isKilled: Bool) { fathom_store32(endWord, isKilled ? 2 : 1) }

    private var isRecorderAlive: Bool {
        let recorder = session.threads.recorder
        return recorder > 0 && processIsAlive(recorder)
    }

    /// Looks at everything once.
    ///
    /// - Returns: How long to wait, in ns.
    private func look() -> UInt64 {
        let limits = options.limits
        let threads = session.threads.look(), now = SystemClock.monotonic
        let moment = HangWriter.Moment(
            threads: threads, ticks: session.threads.now, realtime: SystemClock.realtime)
        for pid in Set(threads.map { Int32(bitPattern: $0.pid) }) where processes[pid] == nil {
            processes[pid] = WatchedProcess(pid, limits)
        }
        for process in processes.values where !process.hasEnded { process.look(at: now, limits) }
        var open: [(event: HangJudge.Event, duration: UInt64, stack: [UInt64])] = [], tasks: [Int32: Int] = [:]
        var next = limits.sample, ended: [HangJudge.Event: UInt64] = [:]
        for thread in threads + session.threads.departed {
            guard let process = processes[Int32(bitPattern: thread.pid)] else { continue }
            for end in thread.ended {
                ended[event(end.call, thread)] = time(from: end.call.enterTicks, to: end.ticks, process, moment, now)
            }
        }
        for thread in threads {
            guard let process = processes[Int32(bitPattern: thread.pid)], !process.hasEnded else { continue }
            let found = events.event(of: thread) {
                time(since: $0, process, moment, now) + limits.sample >= limits.timeout
            }
            for (event, ticks) in events.ended {
                ended[event] = time(from: event.begin, to: ticks, process, moment, now)
            }
            let stack = thread.wholePath.suffix(HangWatcher.sampleDepth).map(\.function)
            rings[
                ThreadID(process: thread.process, serial: thread.serial), default: StackRing(capacity: limits.ring)
            ].add(stack)
            guard let found else { continue }
            let duration = time(since: found.event.begin, process, moment, now)
            open.append((found.event, duration, stack))
            if duration < limits.timeout {
                next = min(next, limits.timeout - duration + 1_000_000)
                // What is used from here on is what a report will tell.
                if duration >= limits.timeout / 2 { process.measureUsage(at: now, within: duration) }
            } else if found.isTask {
                tasks[process.pid, default: 0] += 1
            }
        }
        forgetThreads(threads)
        for process in processes.values where process.hasEnded { settle(process, except: ended) }
        for process in processes.values where !process.hasEnded { lookAtDeadlocks(of: process, moment, now) }
        let answers = judge.look(
            open, ended: ended, isKnown: { thread($0, moment) != nil }, at: now)
        for answer in answers { tell(answer, moment, now) }
        lookAtPools(tasks, moment, now)
        if now >= nextTick { lookAtProcessors(moment, now) }
        if now >= nextCircle { lookAtCircles(moment, now) }
        for process in processes.values where process.hasEnded && process.pid != awaited { end(process) }
        return next
    }

    private func forgetThreads(_ threads: [LiveThread]) {
        guard rings.count > 2 * threads.count + 64 else { return }
        let living = Set(threads.map { ThreadID(process: $0.process, serial: $0.serial) })
        rings = rings.filter { living.contains($0.key) }
    }

    private func event(_ call: LiveCall, _ thread: LiveThread) -> HangJudge.Event {
        HangJudge.Event(
            process: thread.process, serial: thread.serial, function: call.function, begin: call.enterTicks)
    }

    /// How long the process has run since a moment in ticks, in ns.
    private func time(
        since ticks: UInt64, _ process: WatchedProcess, _ moment: HangWriter.Moment, _ now: UInt64
    ) -> UInt64 {
        let age = moment.ticks > ticks ? session.threads.clock.nanoseconds(in: moment.ticks - ticks) : 0
        return process.running.nanoseconds(from: now > age ? now - age : 0, to: now)
    }

    private func time(
        from begin: UInt64, to end: UInt64, _ process: WatchedProcess, _ moment: HangWriter.Moment, _ now: UInt64
    ) -> UInt64 {
        let total = time(since: begin, process, moment, now)
        let after = time(since: end, process, moment, now)
        return total > after ? total - after : 0
    }

    // MARK: Reporting

    private func tell(_ answer: HangJudge.Answer, _ moment: HangWriter.Moment, _ now: UInt64) {
        switch answer {
        case .began(let event, let duration): begin(event, duration, moment)
        case .goesOn(let event, let duration, let isSameStack):
            if let over = explained[event]?.over, now >= over + options.limits.timeout {
                explained[event] = nil
                return begin(event, duration, moment)
            }
            guard var report = reports[.event(event)] else { return }
            report.hang.duration = duration
            if !isSameStack, let thread = thread(event, moment), report.hang.laterPaths.count < 20 {
                report.hang.laterPaths.append(
                    Hang.LaterPath(duration: duration, path: writer.path(thread, at: moment)))
            }
            reports[.event(event)] = report
            news(HangNews(number: report.number, stage: .goesOn, hang: report.hang))
        case .ended(let event, let duration):
            explained[event] = nil
            finish(.event(event), duration)
        }
    }

    private func thread(_ event: HangJudge.Event, _ moment: HangWriter.Moment) -> LiveThread? {
        moment.threads.first { $0.process == event.process && $0.serial == event.serial }
    }

    private func begin(_ event: HangJudge.Event, _ duration: UInt64, _ moment: HangWriter.Moment) {
        guard let thread = thread(event, moment), let process = processes[Int32(bitPattern: thread.pid)] else { return }
        process.updateUsage(at: SystemClock.monotonic)
        let findings = waits(in: process), owners = WatchedProcess.owners(findings)
        if let circle = process.circles(findings).first(where: { WaitCircle.leads(thread.tid, into: $0, owners) }) {
            explained[event] = (.deadlock(pid: process.pid, circle: circle), nil)
            if process.deadlocks.known[circle] != nil { return }
            let begin = process.deadlocks.begin(of: circle, lastRecord: lastRecord(of: circle, process, moment))
            return tell(circle, since: begin, of: process, at: thread.tid, findings, moment)
        }
        open(
            .event(event),
            writer.hang(
                events.isLaunched ? .hang : .launch, process, thread: thread.tid, duration: duration,
                ring: rings[ThreadID(process: event.process, serial: event.serial)], findings, at: moment),
            process)
    }

    /// What the threads of a process wait for; of too many, nothing is known.
    private func waits(in process: WatchedProcess) -> [Int32: WaitFinder.Finding] {
        (TaskFacts(process.pid)?.threadCount ?? 0) > options.limits.threads ? [:] : process.findings()
    }

    /// Begins a report, if that is allowed.
    ///
    /// - Parameter subject: what will end; nil: nothing does.
    private func open(_ subject: Subject?, _ hang: Hang, _ process: WatchedProcess) {
        guard isAllowed() else {
            refused += 1
            return
        }
        number += 1
        if let subject { reports[subject] = Report(number: number, hang: hang, pid: process.pid) }
        news(HangNews(number: number, stage: .began, hang: hang))
    }

    private func finish(_ subject: Subject, _ duration: UInt64, isKilled: Bool = false) {
        guard var report = reports.removeValue(forKey: subject) else { return }
        report.hang.duration = max(duration, report.hang.duration)
        report.hang.hasEnded = true
        // A report of a deadlock says more than one of a kill.
        if isKilled, case .event = subject { report.hang.kind = .killed }
        news(HangNews(number: report.number, stage: .ended, hang: report.hang))
    }

    // MARK: Deadlocks

    private func lookAtCircles(_ moment: HangWriter.Moment, _ now: UInt64) {
        nextCircle = now + options.limits.interval
        for process in processes.values where !process.hasEnded {
            let findings = waits(in: process)
            let found = process.deadlocks.look(process.circles(findings), at: moment.ticks) {
                lastRecord(of: $0, process, moment)
            }
            for (circle, begin) in found where time(since: begin, process, moment, now) >= options.limits.timeout {
                process.updateUsage(at: now)
                tell(circle, since: begin, of: process, at: circle[0], findings, moment)
            }
        }
    }

    private func threads(of circle: [UInt32], _ process: WatchedProcess, _ moment: HangWriter.Moment) -> [LiveThread] {
        moment.threads.filter { Int32(bitPattern: $0.pid) == process.pid && circle.contains($0.tid) }
    }

    private func lastRecord(of circle: [UInt32], _ process: WatchedProcess, _ moment: HangWriter.Moment) -> UInt64 {
        threads(of: circle, process, moment).map(\.lastTicks).max() ?? 0
    }

    /// Reports a deadlock. Where a report of a thread's hang goes on that the deadlock explains, that becomes this one.
    private func tell(
        _ circle: [UInt32], since begin: UInt64, of process: WatchedProcess, at tid: UInt32,
        _ findings: [Int32: WaitFinder.Finding], _ moment: HangWriter.Moment
    ) {
        let live = threads(of: circle, process, moment)
        process.deadlocks.tell(
            DeadlockJudge.Known(
                circle: circle, begin: begin,
                calls: live.reduce(into: [:]) { $0[$1.tid] = $1.wholePath.last?.enterTicks },
                blocked: WatchedProcess.blocked(circle, findings)))
        let thread = moment.threads.first { $0.tid == tid && Int32(bitPattern: $0.pid) == process.pid }
        let hang = writer.hang(
            .deadlock, process, thread: tid, duration: time(since: begin, process, moment, SystemClock.monotonic),
            ring: thread.flatMap { rings[ThreadID(process: $0.process, serial: $0.serial)] }, findings, circle,
            at: moment)
        let subject = Subject.deadlock(pid: process.pid, circle: circle), owners = WatchedProcess.owners(findings)
        for case .event(let event) in reports.keys {
            guard let waiting = self.thread(event, moment), Int32(bitPattern: waiting.pid) == process.pid,
                WaitCircle.leads(waiting.tid, into: circle, owners), let report = reports[.event(event)]
            else { continue }
            reports[.event(event)] = nil
            explained[event] = (subject, nil)
            reports[subject] = Report(number: report.number, hang: hang, pid: process.pid)
            return news(HangNews(number: report.number, stage: .goesOn, hang: hang))
        }
        open(subject, hang, process)
    }

    /// Finds out which deadlocks are over.
    private func lookAtDeadlocks(of process: WatchedProcess, _ moment: HangWriter.Moment, _ now: UInt64) {
        for (circle, known) in process.deadlocks.known {
            let subject = Subject.deadlock(pid: process.pid, circle: circle)
            // A call that waited has ended when it is told of as ended, or when it is not open any more. A thread whose calls
            // are not known for a moment has none.
            let all = threads(of: circle, process, moment)
            let gone = session.threads.departed.filter {
                Int32(bitPattern: $0.pid) == process.pid && circle.contains($0.tid)
            }
            var ended: UInt64?
            for thread in all + gone {
                guard let call = known.calls[thread.tid] else { continue }
                let end = thread.ended.first { $0.call.enterTicks == call }?.ticks
                let isGone = !thread.calls.isEmpty && !thread.wholePath.contains { $0.enterTicks == call }
                if let end = end ?? (isGone ? moment.ticks : nil) { ended = min(ended ?? end, end) }
            }
            let over = process.deadlocks.look(
                at: circle, blocked: ended == nil ? process.blocked(known) : nil, ended: ended, at: moment.ticks)
            reports[subject]?.hang.duration = time(from: known.begin, to: over ?? moment.ticks, process, moment, now)
            guard over != nil else { continue }
            finish(subject, 0)
            for (event, explanation) in explained where explanation.by == subject { explained[event]?.over = now }
        }
    }

    // MARK: Processes

    private func lookAtProcessors(_ moment: HangWriter.Moment, _ now: UInt64) {
        nextTick = now + HangWatcher.second
        for process in processes.values where !process.hasEnded {
            guard process.lookAtProcessors(at: now) else { continue }
            let busiest = process.usage.threads.max { $0.value < $1.value }?.key ?? process.pid
            let thread = moment.threads.first { Int32(bitPattern: $0.tid) == busiest }
            let ring = thread.flatMap { rings[ThreadID(process: $0.process, serial: $0.serial)] }
            var hang = writer.hang(
                .cpu, process, thread: UInt32(bitPattern: busiest), duration: options.limits.processorTime, ring: ring,
                waits(in: process), at: moment)
            // It is no event with an end.
            hang.hasEnded = true
            open(nil, hang, process)
        }
    }

    /// - Parameter tasks: of each process, how many threads are taken up by a task for too long.
    private func lookAtPools(_ tasks: [Int32: Int], _ moment: HangWriter.Moment, _ now: UInt64) {
        for process in processes.values where !process.hasEnded {
            let isTaken = tasks[process.pid].map { $0 >= WatchedProcess.processors(of: process.pid) } ?? false
            let subject = Subject.pool(pid: process.pid)
            defer { process.poolTakenSince = isTaken ? process.poolTakenSince ?? now : nil }
            guard isTaken else {
                finish(subject, 0)
                continue
            }
            if let since = process.poolTakenSince {
                let duration = options.limits.timeout + process.running.nanoseconds(from: since, to: now)
                reports[subject]?.hang.duration = duration
                continue
            }
            let thread = moment.threads.first { Int32(bitPattern: $0.pid) == process.pid && !$0.isMain }
            process.updateUsage(at: now)
            open(
                subject,
                writer.hang(
                    .pool, process, thread: thread?.tid ?? UInt32(bitPattern: process.pid),
                    duration: options.limits.timeout, ring: nil, waits(in: process), at: moment), process)
        }
    }

    /// Settles the reports of a process that has ended in the middle of calls, which have not ended by themselves.
    private func settle(_ process: WatchedProcess, except ended: [HangJudge.Event: UInt64]) {
        for case (.event(let event), let report) in reports where report.pid == process.pid && ended[event] == nil {
            if let duration = judge.forget(event) { reports[.event(event)]?.hang.duration = duration }
        }
    }

    /// Finishes the reports of a process that has ended. If it was in a hang and did not end by itself, it was killed.
    private func end(_ process: WatchedProcess) {
        let open = reports.filter { $0.value.pid == process.pid }
        guard !open.isEmpty else { return }
        session.refresh()
        let told = process.pid == awaited ? fathom_load32(endWord) : 0
        for subject in open.keys {
            var isKilled = told == 2
            if told == 0, case .event(let event) = subject { isKilled = !session.endedByItself(event.process) }
            finish(subject, 0, isKilled: isKilled)
        }
    }

    /// Looks once more, and leaves the reports of hangs that still last as they are.
    private func end() {
        _ = look()
        for process in processes.values {
            process.look(at: SystemClock.monotonic, options.limits)
            if process.hasEnded { end(process) }
        }
        for report in reports.values { news(HangNews(number: report.number, stage: .goesOn, hang: report.hang)) }
    }
}
