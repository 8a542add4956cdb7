internal import Glibc
internal import TraceAnalysis
internal import TraceFile

/// What is kept of a process while it is watched.
final class WatchedProcess {
    let pid: Int32
    let waits: WaitFinder
    private(set) var running = RunningTime()
    private var limit: ProcessorLimit
    /// The processor time of the process and of its threads when it was looked at before, and what they used since then, in
    /// percent of a core.
    private var times: (now: UInt64, process: UInt64, threads: [Int32: UInt64])?
    private(set) var usage: (process: Double, threads: [Int32: Double]) = (0, [:])
    var deadlocks = DeadlockJudge()
    private(set) var hasEnded = false
    /// Whether every thread that can run tasks was taken up, when that was looked at last.
    var isPoolTaken = false

    /// Threads beyond this number have no processor time of their own in reports: to ask for it takes too long.
    private static let mostThreads = 256

    init(_ pid: Int32, _ limits: HangLimits) {
        self.pid = pid
        waits = WaitFinder(pid)
        limit = ProcessorLimit(
            limit: limits.processorPercent * Double(Self.processors(of: pid)), stretch: limits.processorTime)
    }

    /// Returns how many processors a process may run on.
    static func processors(of pid: Int32) -> Int {
        let list = SystemFile.value(of: "Cpus_allowed_list", in: "/proc/\(pid)/status") ?? ""
        let count = list.split(separator: ",").reduce(0) { sum, range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            return sum + (ends.count == 2 ? ends[1] - ends[0] + 1 : ends.count)
        }
        return max(count, 1)
    }

    /// Finds out whether the process runs, is stopped or has ended.
    func look(at now: UInt64, _ limits: HangLimits) {
        guard let facts = TaskFacts(pid), !facts.hasEnded else {
            hasEnded = true
            return
        }
        running.look(at: now, isStopped: facts.isStopped || isFrozen, longest: limits.longestPause)
    }

    /// Whether a control group has frozen the process (cgroups(7), the freezer).
    private var isFrozen: Bool {
        let place = SystemFile.firstLine(of: "/proc/\(pid)/wchan")
        return place.contains("freezer") || place.contains("refrigerator")
    }

    /// Looks at the processor time.
    ///
    /// - Returns: Whether the process used too much for too long.
    func lookAtProcessors(at now: UInt64) -> Bool {
        guard let facts = TaskFacts(pid) else { return false }
        let threads = TaskFacts.threads(of: pid).prefix(Self.mostThreads)
        var current: [Int32: UInt64] = [:]
        for thread in threads { current[thread] = TaskFacts(pid, thread: thread)?.processorTime }
        defer { times = (now, facts.processorTime, current) }
        guard let times, now > times.now else { return false }
        let period = now - times.now
        func percent(_ new: UInt64, _ old: UInt64) -> Double {
            new > old ? 100 * Double(new - old) / Double(period) : 0
        }
        usage.process = percent(facts.processorTime, times.process)
        usage.threads = current.reduce(into: [:]) { $0[$1.key] = percent($1.value, times.threads[$1.key] ?? $1.value) }
        return limit.add(usage: usage.process, over: period)
    }

    /// Finds out what each thread waits for.
    func findings() -> [Int32: WaitFinder.Finding] {
        let threads = TaskFacts.threads(of: pid)
        return threads.reduce(into: [:]) { $0[$1] = waits.find($1, among: threads) }
    }
}
