/// When one thread had no CPU, in the thread's own time, which leaves out the tracer's time.
///
/// This alone decides how times are split: what any two moments have between them of each kind is the difference of two
/// numbers, so parts of a time always add up to it exactly, whatever order they are asked for in.
public final class OffCPU: Sendable {
    private struct Stretch {
        var begin: UInt64
        var end: UInt64
        /// The sums over all stretches before this one.
        var before: OffCPUTimes
        var wantsCPU: Bool
    }

    private let stretches: [Stretch]

    /// - Parameters:
    ///   - known: in the order of time; where one reaches into the next, it ends there.
    ///   - own: the thread's own time at a moment of the session, both in ns.
    init(_ known: [SwitchLog.Stretch], own: (UInt64) -> UInt64) {
        var stretches: [Stretch] = []
        stretches.reserveCapacity(known.count)
        var sum = OffCPUTimes()
        var last: UInt64 = 0
        for stretch in known {
            let begin = max(own(stretch.begin), last), end = max(own(stretch.end), begin)
            last = end
            if end == begin { continue }
            stretches.append(Stretch(begin: begin, end: end, before: sum, wantsCPU: stretch.wantsCPU))
            if stretch.wantsCPU { sum.runnable &+= end &- begin } else { sum.blocked &+= end &- begin }
        }
        self.stretches = stretches
    }

    /// What the thread had no CPU between two moments, in ns.
    ///
    /// - Complexity: O(log stretches).
    public func times(from start: UInt64, to end: UInt64) -> OffCPUTimes {
        guard end > start else { return OffCPUTimes() }
        return times(upTo: end).without(times(upTo: start))
    }

    private func times(upTo moment: UInt64) -> OffCPUTimes {
        let index = firstStretch(from: moment) - 1
        guard index >= 0 else { return OffCPUTimes() }
        let stretch = stretches[index]
        let part = min(stretch.end, moment) &- stretch.begin
        var sum = stretch.before
        if stretch.wantsCPU { sum.runnable &+= part } else { sum.blocked &+= part }
        return sum
    }

    /// The number of stretches that begin before `moment`.
    private func firstStretch(from moment: UInt64) -> Int {
        stretches.partitioningIndex { $0.begin >= moment }
    }

    /// The number of stretches, and those in the order of time.
    public var count: Int { stretches.count }

    public subscript(index: Int) -> (begin: UInt64, end: UInt64, wantsCPU: Bool) {
        (stretches[index].begin, stretches[index].end, stretches[index].wantsCPU)
    }

    /// Which stretches have a part between two moments.
    ///
    /// - Complexity: O(log stretches).
    func indices(from start: UInt64, to end: UInt64) -> Range<Int> {
        let first = stretches.partitioningIndex { $0.end > start }
        return first..<max(first, firstStretch(from: end))
    }

    /// Answers for moments that mostly come in the order of time. Most calls lie between two stretches, which takes two comparisons
    /// to see, where the answer is asked for.
    public struct Cursor {
        private let times: OffCPU?
        /// No stretch that begins before `next` ends after `last`.
        public private(set) var last: UInt64 = 0
        public private(set) var next: UInt64 = .max
        private var index = 0

        /// - Parameter times: nil where it is not known: then the thread always had one.
        public init(_ times: OffCPU?) {
            self.times = times
            if let first = times?.stretches.first { next = first.begin }
        }

        /// Whether the thread had a CPU all the time between two moments, in ns, as far as is known without a search.
        @inlinable
        public func hadCPU(from start: UInt64, to end: UInt64) -> Bool { start >= last && end <= next }

        /// What the thread had no CPU between two moments, in ns.
        ///
        /// - Complexity: O(1) where nothing lies between them; else O(log stretches).
        public mutating func times(from start: UInt64, to end: UInt64) -> OffCPUTimes {
            guard let times else { return OffCPUTimes() }
            while end > next {
                last = times.stretches[index].end
                index += 1
                next = index < times.stretches.count ? times.stretches[index].begin : .max
            }
            return start < last ? times.times(from: start, to: end) : OffCPUTimes()
        }
    }
}
