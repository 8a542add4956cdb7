internal import CTraceFormat
internal import Glibc
internal import TraceAnalysis
internal import TraceFile
public import TraceQuery

/// Watches a running session for hangs, until ``stop()`` or until no process is left.
///
/// It reads what the program has written and what the kernel reports. It neither asks nor stops the program, so it does not
/// matter what the program is stuck in.
public final class HangWatcher: @unchecked Sendable {
    private let session: LiveSession
    private let options: HangOptions
    private let news: (HangNews) -> Void
    private let writer: HangWriter
    private var judge: HangJudge
    private var daily: DailyLimit
    private var events: OpenEvents
    private var processes: [Int32: WatchedProcess] = [:]
    private var rings: [ThreadID: StackRing] = [:]
    /// Reports that are not complete.
    private var reports: [HangJudge.Event: Report] = [:]
    private var number = 0
    private var nextTick: UInt64 = 0, nextCircle: UInt64 = 0
    /// 1 when ``run()`` is to return.
    private let stopWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    /// 1 when ``awaited`` has ended, 2 when a signal ended it.
    private let endWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    private struct ThreadID: Hashable {
        var process: UInt32
        var serial: UInt32
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
    ///   - news: is called for each hang when it begins, as it goes on, and when it has ended.
    public init(_ session: LiveSession, _ options: HangOptions, news: @escaping (HangNews) -> Void) {
        self.session = session
        self.options = options
        self.news = news
        writer = HangWriter(session: session, limits: options.limits)
        judge = HangJudge(options.limits)
        daily = DailyLimit(options.limits.daily)
        events = OpenEvents(options, session)
        session.threads.longTicks = session.threads.clock.ticks(in: options.limits.timeout)
        stopWord.initialize(to: 0)
        endWord.initialize(to: 0)
    }

    deinit {
        stopWord.deallocate()
        endWord.deallocate()
    }

    /// How many hangs were not reported, because there had been too many within a day.
    public var refused: UInt64 { judge.refused + daily.refused }
    /// Marks that the options name, and that no thread was seen to set.
    public var unseenMarks: [String] { events.unseenMarks.sorted() }

    /// Makes ``run()`` return soon. Any thread may call it.
    public func stop() {
        fathom_store32(stopWord, 1)
        fathom_wake32(stopWord)
    }

    private static func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> UInt64 { SessionClock.nanoseconds(clock) }

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
        let threads = session.threads.look(), now = HangWatcher.now()
        let moment = HangWriter.Moment(
            threads: threads, ticks: session.threads.now, realtime: HangWatcher.now(CLOCK_REALTIME))
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
            } else if found.isTask {
                tasks[process.pid, default: 0] += 1
            }
        }
        forgetThreads(threads)
        for process in processes.values where process.hasEnded { settle(process, except: ended) }
        let answers = judge.look(
            open, ended: ended, isKnown: { thread($0, moment) != nil }, at: now)
        for answer in answers { tell(answer, moment) }
        lookAtPools(tasks, moment)
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

    private func tell(_ answer: HangJudge.Answer, _ moment: HangWriter.Moment) {
        switch answer {
        case .began(let event, let duration): begin(event, duration, moment)
        case .goesOn(let event, let duration, let isSameStack):
            guard var report = reports[event] else { return }
            report.hang.duration = duration
            if !isSameStack, let thread = thread(event, moment), report.hang.laterPaths.count < 20 {
                report.hang.laterPaths.append(
                    Hang.LaterPath(duration: duration, path: writer.path(thread, at: moment)))
            }
            reports[event] = report
            news(HangNews(number: report.number, stage: .goesOn, hang: report.hang))
        case .ended(let event, let duration): finish(event, duration)
        }
    }

    private func thread(_ event: HangJudge.Event, _ moment: HangWriter.Moment) -> LiveThread? {
        moment.threads.first { $0.process == event.process && $0.serial == event.serial }
    }

    private func begin(_ event: HangJudge.Event, _ duration: UInt64, _ moment: HangWriter.Moment) {
        guard let thread = thread(event, moment), let process = processes[Int32(bitPattern: thread.pid)] else { return }
        let known = process.deadlocks.reported
        let hang = writer.hang(
            events.isLaunched ? .hang : .launch, process, thread: thread.tid, duration: duration,
            ring: rings[ThreadID(process: event.process, serial: event.serial)], at: moment)
        // The circle that this thread waits for is reported already.
        if hang.kind == .deadlock, hang.circle == known { return }
        number += 1
        reports[event] = Report(number: number, hang: hang, pid: process.pid)
        news(HangNews(number: number, stage: .began, hang: hang))
    }

    private func finish(_ event: HangJudge.Event, _ duration: UInt64, isKilled: Bool = false) {
        guard var report = reports.removeValue(forKey: event) else { return }
        report.hang.duration = max(duration, report.hang.duration)
        report.hang.hasEnded = true
        // A report of a deadlock says more than one of a kill.
        if isKilled, report.hang.kind != .deadlock { report.hang.kind = .killed }
        news(HangNews(number: report.number, stage: .ended, hang: report.hang))
    }

    /// Reports something that is not an event with an end.
    private func tellOnce(_ hang: Hang, _ now: UInt64) {
        guard daily.take(at: now) else { return }
        number += 1
        var hang = hang
        hang.hasEnded = hang.kind == .cpu
        news(HangNews(number: number, stage: .began, hang: hang))
    }

    // MARK: Processes

    private func lookAtProcessors(_ moment: HangWriter.Moment, _ now: UInt64) {
        nextTick = now + HangWatcher.second
        for process in processes.values where !process.hasEnded {
            guard process.lookAtProcessors(at: now) else { continue }
            let busiest = process.usage.threads.max { $0.value < $1.value }?.key ?? process.pid
            let thread = moment.threads.first { Int32(bitPattern: $0.tid) == busiest }
            let ring = thread.flatMap { rings[ThreadID(process: $0.process, serial: $0.serial)] }
            tellOnce(
                writer.hang(
                    .cpu, process, thread: UInt32(bitPattern: busiest), duration: options.limits.processorTime,
                    ring: ring, at: moment), now)
        }
    }

    private func lookAtCircles(_ moment: HangWriter.Moment, _ now: UInt64) {
        nextCircle = now + options.limits.interval
        for process in processes.values where !process.hasEnded {
            guard let circle = process.deadlocks.newCircle(process.findings()) else { continue }
            process.deadlocks.noteReported(circle)
            let tid = circle[0]
            let thread = moment.threads.first { $0.tid == tid }
            let begin = thread?.lastTicks ?? moment.ticks
            let hang = writer.hang(
                .deadlock, process, thread: tid, duration: time(since: begin, process, moment, now),
                ring: thread.flatMap { rings[ThreadID(process: $0.process, serial: $0.serial)] }, at: moment)
            if !hang.circle.isEmpty { tellOnce(hang, now) }
        }
    }

    /// - Parameter tasks: of each process, how many threads are taken up by a task for too long.
    private func lookAtPools(_ tasks: [Int32: Int], _ moment: HangWriter.Moment) {
        for process in processes.values where !process.hasEnded {
            let isTaken = tasks[process.pid].map { $0 >= WatchedProcess.processors(of: process.pid) } ?? false
            defer { process.isPoolTaken = isTaken }
            guard isTaken, !process.isPoolTaken else { continue }
            let thread = moment.threads.first { Int32(bitPattern: $0.pid) == process.pid && !$0.isMain }
            tellOnce(
                writer.hang(
                    .pool, process, thread: thread?.tid ?? UInt32(bitPattern: process.pid),
                    duration: options.limits.timeout, ring: nil, at: moment), HangWatcher.now())
        }
    }

    /// Settles the reports of a process that has ended in the middle of calls, which have not ended by themselves.
    private func settle(_ process: WatchedProcess, except ended: [HangJudge.Event: UInt64]) {
        for (event, report) in reports where report.pid == process.pid && ended[event] == nil {
            if let duration = judge.forget(event) { reports[event]?.hang.duration = duration }
        }
    }

    /// Finishes the reports of a process that has ended. If it was in a hang and did not end by itself, it was killed.
    private func end(_ process: WatchedProcess) {
        let open = reports.filter { $0.value.pid == process.pid }
        guard !open.isEmpty else { return }
        session.refresh()
        let told = process.pid == awaited ? fathom_load32(endWord) : 0
        for (event, report) in open {
            let isKilled = told == 0 ? !session.endedByItself(event.process) : told == 2
            finish(event, report.hang.duration, isKilled: isKilled)
        }
    }

    /// Looks once more, and leaves the reports of hangs that still last as they are.
    private func end() {
        _ = look()
        for process in processes.values {
            process.look(at: HangWatcher.now(), options.limits)
            if process.hasEnded { end(process) }
        }
        for report in reports.values { news(HangNews(number: report.number, stage: .goesOn, hang: report.hang)) }
    }
}
