/// The stretches of time in which a process could not run, because it was stopped, or the machine slept.
public struct RunningTime {
    private var gaps: [Range<UInt64>] = []
    private var last: (time: UInt64, isStopped: Bool)?

    public init() {}

    /// - Parameters:
    ///   - now: in ns.
    ///   - isStopped: whether the process is stopped now.
    ///   - longest: when more time than this has passed since the last look, the watching process could not run either.
    public mutating func look(at now: UInt64, isStopped: Bool, longest: UInt64) {
        defer { last = (now, isStopped) }
        guard let last, now > last.time, isStopped || last.isStopped || now - last.time > longest else { return }
        if let end = gaps.last?.upperBound, end == last.time {
            gaps[gaps.count - 1] = gaps[gaps.count - 1].lowerBound..<now
        } else {
            gaps.append(last.time..<now)
        }
        // Who stops and goes on all the time for days needs no more memory than this.
        if gaps.count > 1000 { gaps.removeFirst(500) }
    }

    /// How long the process could run between two moments, in ns.
    public func nanoseconds(from begin: UInt64, to end: UInt64) -> UInt64 {
        guard end > begin else { return 0 }
        return gaps.reduce(end - begin) { rest, gap in
            let overlap = gap.clamped(to: begin..<end)
            return rest - UInt64(overlap.count)
        }
    }
}
