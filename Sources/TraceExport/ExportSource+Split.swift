internal import TraceAnalysis
internal import TraceFile

extension ExportSource {
    /// Cuts this source by time into parts of at most `calls` calls each. A call that reaches over a cut is in every
    /// part that it touches, for as long as it ran there. So a part holds, on top of `calls`, the calls that were open
    /// when it begins.
    ///
    /// - Complexity: O(records) once, and once more for each part, less what that part need not read.
    public func split(calls: UInt64) -> [ExportSource] {
        var starts = StartTimes()
        _ = write(to: &starts)
        let cuts = starts.cuts(every: max(calls, 1))
        guard !cuts.isEmpty else { return [self] }
        return zip([0] + cuts, cuts + [UInt64.max]).map { part($0..<$1) }
    }
}

/// Counts calls by the time they begin at.
private struct StartTimes: TrackWriter {
    /// Calls that begin in each stretch of `width` ns.
    private var counts = [UInt64](repeating: 0, count: 1 << 16)
    private var width: UInt64 = 1024

    var wantsMore: Bool { true }
    mutating func begin(_ track: Track) {}
    mutating func leave(_ call: TreeCall) {}
    mutating func endTrack() {}

    mutating func enter(_ call: TreeCall) {
        while call.start / width >= UInt64(counts.count) { widen() }
        counts[Int(call.start / width)] += 1
    }

    private mutating func widen() {
        width *= 2
        for index in 0..<(counts.count / 2) { counts[index] = counts[2 * index] + counts[2 * index + 1] }
        for index in (counts.count / 2)..<counts.count { counts[index] = 0 }
    }

    /// Returns the times to cut at. Between two of them at most `calls` calls begin, or those of a single stretch if that has
    /// more.
    func cuts(every calls: UInt64) -> [UInt64] {
        var cuts: [UInt64] = []
        var sum: UInt64 = 0
        for (index, count) in counts.enumerated() where count > 0 {
            if sum > 0, sum + count > calls {
                cuts.append(UInt64(index) * width)
                sum = 0
            }
            sum += count
        }
        return cuts
    }
}
