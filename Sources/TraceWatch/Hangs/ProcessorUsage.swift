/// What a process and its threads use of the processors, in percent of a core.
struct ProcessorUsage {
    private(set) var process = 0.0
    private(set) var threads: [Int32: Double] = [:]
    /// Processor times in ns, newest last: at most two.
    private var times: [Times] = []

    private struct Times {
        var now: UInt64
        var process: UInt64
        var threads: [Int32: UInt64]

        /// Threads beyond this number have no processor time of their own in reports: to ask for it takes too long.
        private static let mostThreads = 256

        init?(_ pid: Int32, at now: UInt64) {
            guard let facts = TaskFacts(pid) else { return nil }
            self.now = now
            process = facts.processorTime
            threads = TaskFacts.threads(of: pid).prefix(Times.mostThreads).reduce(into: [:]) {
                $0[$1] = TaskFacts.processorTime(pid, thread: $1)
            }
        }
    }

    /// The kernel tells processor times in steps, so what was used is known only of times longer than this, in ns.
    private static let shortest: UInt64 = 20_000_000

    /// Begins to measure anew, unless it has begun within the last `age` ns.
    mutating func begin(_ pid: Int32, at now: UInt64, within age: UInt64 = 0) {
        if let last = times.last, age > 0, now - last.now <= age { return }
        guard let new = Times(pid, at: now) else { return }
        times = times.suffix(1) + [new]
    }

    /// Measures what was used since it began, at the last time that is long enough ago.
    ///
    /// - Returns: How long ago that is, in ns; nil when nothing is known.
    @discardableResult
    mutating func measure(_ pid: Int32, at now: UInt64) -> UInt64? {
        guard let old = times.last(where: { now >= $0.now + Self.shortest }), let new = Times(pid, at: now) else {
            return nil
        }
        let period = now - old.now
        func percent(_ new: UInt64, _ old: UInt64) -> Double {
            new > old ? 100 * Double(new - old) / Double(period) : 0
        }
        // A thread that was not there before has used all of its time since.
        threads = new.threads.reduce(into: [:]) { $0[$1.key] = percent($1.value, old.threads[$1.key] ?? 0) }
        // The sum is finer than the process's own time, but lacks threads that have ended.
        process = max(percent(new.process, old.process), threads.values.reduce(0, +))
        return period
    }
}
