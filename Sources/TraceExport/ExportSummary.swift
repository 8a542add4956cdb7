/// What an export wrote.
public struct ExportSummary {
    /// The number of calls written, or of call paths where the format holds those.
    public private(set) var written: UInt64 = 0
    /// The number of calls left out because the viewer could not nest them.
    var tooDeep: UInt64 = 0
    /// What else the user has to know of the file.
    var remarks: [String] = []
    private let limit: ViewerLimit?
    /// Whether the calls could be split over several files.
    public var canSplit = false
    /// Numbers of calls by duration: slot i counts those below `bounds[i]`, the last slot the rest.
    private var durations: [UInt64]

    /// 1, 2, 5, 10, ... ns up to 500 s: times that people type.
    private static let bounds: [UInt64] = (0..<12).flatMap { power in
        let unit = (0..<power).reduce(UInt64(1)) { scale, _ in scale * 10 }
        return [unit, 2 * unit, 5 * unit]
    }

    init(limit: ViewerLimit? = nil) {
        self.limit = limit
        durations = Array(repeating: 0, count: limit == nil ? 0 : ExportSummary.bounds.count + 1)
    }

    /// Counts rows that are no calls.
    init(written: Int) {
        self.init()
        self.written = UInt64(written)
    }

    /// Counts a call that took `total` ns.
    @inline(__always)
    mutating func count(total: UInt64) {
        written &+= 1
        guard !durations.isEmpty else { return }
        // A decade has three slots, which is 0.9 slots a binary digit. That leads to the right slot or to one just
        // before it.
        var slot = max(0, (63 - (total | 1).leadingZeroBitCount) * 9 / 10 - 1)
        slot = min(slot, ExportSummary.bounds.count)
        while slot < ExportSummary.bounds.count, total >= ExportSummary.bounds[slot] { slot += 1 }
        durations[slot] &+= 1
    }

    /// Warns of what the viewer will not show or will be too slow for, each time with the filter that helps.
    public var warnings: [String] {
        guard let limit else { return remarks }
        var result = remarks
        if tooDeep > 0 {
            result.append(
                "\(limit.viewer) nests \(limit.depth) calls at most: \(tooDeep) deeper calls were left out; "
                    + "--filter FUNCTION makes the calls of a deep function roots")
        }
        if written > limit.calls {
            var text = "\(written) calls: \(limit.viewer) takes about \(limit.calls)"
            var left = written
            for (slot, bound) in ExportSummary.bounds.enumerated() {
                left &-= durations[slot]
                guard left <= limit.calls else { continue }
                text += "; --min-cost \(ExportSummary.typed(bound)) leaves \(left)"
                break
            }
            if canSplit { text += "; --split writes several files" }
            result.append(text)
        }
        return result
    }

    /// `nanoseconds` as it is typed: 500ns, 20us, 1ms.
    private static func typed(_ nanoseconds: UInt64) -> String {
        for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")] as [(UInt64, String)]
        where nanoseconds >= scale {
            return "\(nanoseconds / scale)\(unit)"
        }
        return "\(nanoseconds)ns"
    }
}
