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
    /// Threads that wait for each other, as they were found at the last look, and whether that was reported.
    private var circle: [UInt32]?
    private(set) var reportedCircle: [UInt32]?
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

    /// How many processors a process may run on.
    static func processors(of pid: Int32) -> Int {
        let list = SystemFile.value(of: "Cpus_allowed_list", in: "/proc/\(pid)/status") ?? ""
        let count = list.split(separator: ",").reduce(0) { sum, range in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            return sum + (ends.count == 2 ? ends[1] - ends[0] + 1 : ends.count)
        }
        return max(count, 1)
    }

    /// Looks whether it runs.
    func look(at now: UInt64, _ limits: HangLimits) {
        guard let facts = TaskFacts(pid), !facts.hasEnded else {
            hasEnded = true
            return
        }
        running.look(at: now, isStopped: facts.isStopped || isFrozen, longest: limits.longestPause)
    }

    /// Whether a control group has frozen it (cgroups(7), the freezer).
    private var isFrozen: Bool {
        let place = SystemFile.firstLine(of: "/proc/\(pid)/wchan")
        return place.contains("freezer") || place.contains("refrigerator")
    }

    /// Looks at the processor time.
    ///
    /// - Returns: Whether it used too much for too long.
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

    /// What each thread waits for.
    func findings() -> [Int32: WaitFinder.Finding] {
        let threads = TaskFacts.threads(of: pid)
        return threads.reduce(into: [:]) { $0[$1] = waits.find($1, among: threads) }
    }

    /// Threads that wait for each other, among what was found.
    static func circle(_ findings: [Int32: WaitFinder.Finding]) -> [UInt32]? {
        WaitCircle.find(
            findings.reduce(into: [:]) { owners, finding in
                owners[UInt32(bitPattern: finding.key)] = finding.value.wait?.owner
            })
    }

    /// Whether threads wait for each other that did so already when this was asked last, and nobody knows. Of a moment, locks
    /// may look as if they made a circle.
    func findsNewCircle(_ findings: [Int32: WaitFinder.Finding]) -> Bool {
        let found = WatchedProcess.circle(findings)
        defer { circle = found }
        if found == nil { reportedCircle = nil }
        return found != nil && found == circle && found != reportedCircle
    }

    func noteReported(circle: [UInt32]) { reportedCircle = circle }
}
