internal import Glibc
internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings

/// What is kept of a process while it is watched.
final class WatchedProcess {
    let pid: Int32
    let waits: WaitFinder
    private(set) var running = RunningTime()
    private var limit: ProcessorLimit
    private(set) var usage = ProcessorUsage()
    /// When the processor time was looked at last, and what it was, both in ns.
    private var last: (now: UInt64, used: UInt64)?
    var deadlocks = DeadlockJudge()
    private(set) var hasEnded = false
    /// Since when every thread that can run tasks is taken up for too long, in ns; nil when they are not.
    var poolTakenSince: UInt64?

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

    // MARK: Processors

    /// Looks at the processor time.
    ///
    /// - Returns: Whether the process used too much for too long.
    func lookAtProcessors(at now: UInt64) -> Bool {
        guard let used = TaskFacts(pid)?.processorTime else { return false }
        usage.measure(pid, at: now)
        usage.begin(pid, at: now)
        defer { last = (now, used) }
        guard let last, now > last.now else { return false }
        let new = used - min(last.used, used), period = now - last.now
        return limit.add(usage: 100 * Double(new) / Double(period), over: period)
    }

    /// Measures what the process uses from here on, unless that has begun within the last `age` ns.
    func measureUsage(at now: UInt64, within age: UInt64) { usage.begin(pid, at: now, within: age) }

    /// Brings ``usage`` up to now.
    func updateUsage(at now: UInt64) { usage.measure(pid, at: now) }

    // MARK: Waits

    /// Finds out what each thread waits for.
    func findings() -> [Int32: WaitFinder.Finding] {
        findings(of: TaskFacts.threads(of: pid))
    }

    private func findings(of some: [Int32]) -> [Int32: WaitFinder.Finding] {
        let threads = TaskFacts.threads(of: pid)
        var findings = some.reduce(into: [Int32: WaitFinder.Finding]()) { $0[$1] = waits.find($1, among: threads) }
        waits.complete(&findings)
        return findings
    }

    /// Finds threads that wait for each other, at one moment: those that were blocked before the first of these findings was
    /// made are still blocked in the same calls.
    func circles(_ findings: [Int32: WaitFinder.Finding]) -> [[UInt32]] {
        WaitCircle.all(WatchedProcess.owners(findings)).filter { circle in
            circle.allSatisfy { tid in
                findings[Int32(bitPattern: tid)]?.call.map { isBlocked(tid, in: $0) } ?? false
            }
        }
    }

    static func owners(_ findings: [Int32: WaitFinder.Finding]) -> [UInt32: UInt32] {
        findings.reduce(into: [:]) { $0[UInt32(bitPattern: $1.key)] = $1.value.wait?.owner ?? $1.value.wait?.closes }
    }

    private func isBlocked(_ tid: UInt32, in call: BlockedCall) -> Bool {
        BlockedCall.of(Int32(bitPattern: tid), in: pid) == .blocked(call)
    }

    /// What the threads of a deadlock wait in; nil when they do not wait for each other any more.
    func blocked(_ deadlock: DeadlockJudge.Known) -> [UInt32: BlockedCall]? {
        // Most looks find that nothing has changed, which is cheap to see.
        if deadlock.circle.allSatisfy({ tid in deadlock.blocked[tid].map { isBlocked(tid, in: $0) } ?? false }) {
            return deadlock.blocked
        }
        let findings = findings(of: deadlock.circle.map(Int32.init(bitPattern:)))
        return circles(findings).contains(deadlock.circle) ? WatchedProcess.blocked(deadlock.circle, findings) : nil
    }

    static func blocked(_ circle: [UInt32], _ findings: [Int32: WaitFinder.Finding]) -> [UInt32: BlockedCall] {
        circle.reduce(into: [:]) { $0[$1] = findings[Int32(bitPattern: $1)]?.call }
    }
}
