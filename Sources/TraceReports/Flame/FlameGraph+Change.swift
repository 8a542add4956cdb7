internal import TraceAnalysis
public import TraceFindings
internal import TracePage
internal import TraceStatistics
internal import TraceText

/// Differential flame graphs (B. Gregg, Differential Flame Graphs, 2014). Frames are as wide as they are after, and
/// coloured by how their own time has changed.
extension FlameGraph {
    /// What a frame was before: means over the runs, in ns, rounded.
    struct Before {
        var calls: UInt64
        var total: UInt64
        var selfTime: UInt64
        /// How much its own time has changed: ±``FlamePalette/stepCount`` for the greatest change, but fewer where even that
        /// is small beside the whole; 0 for no change, or none beyond noise.
        var step: Int
    }

    var isDifferential: Bool { !changes.isEmpty }

    /// The flame graph of the side after. Paths that are only before have no width, and are not shown.
    ///
    /// Frames are their means over the runs; a caller is at least as wide as its callees together.
    ///
    /// - Complexity: O(paths).
    public init(_ comparison: SessionComparison, options: Options) {
        let paths = comparison.paths
        var callees = [[Int]](repeating: [], count: paths.count)
        var roots: [Int] = []
        for (index, path) in paths.enumerated() {
            if path.parent < 0 { roots.append(index) } else { callees[path.parent].append(index) }
        }
        var rows = [SessionComparison.Row?](repeating: nil, count: paths.count)
        for row in comparison.pathRows { rows[row.path!] = row }
        var widths = [UInt64](repeating: 0, count: paths.count)
        for index in paths.indices.reversed() {
            let own = rows[index].map { DiffReport.nanoseconds($0.total.sample.after) } ?? 0
            widths[index] = max(own, callees[index].reduce(0) { $0 &+ widths[$1] })
        }
        let totals = (
            before: DiffReport.nanoseconds(comparison.whole.total.sample.before),
            after: DiffReport.nanoseconds(comparison.whole.total.sample.after)
        )
        // A change of less than a twentieth of the whole never has the strongest colour, even if it is the greatest.
        let least = Double(max(totals.before, totals.after)) / 20
        let greatest = rows.reduce(least) { max($0, $1.map { abs(FlameGraph.ownChange($0, comparison)) } ?? 0) }

        var frames: [Frame] = []
        var changes: [Place: Before] = [:]
        /// Paths still to be placed, the next one last, each with where it begins and its depth.
        var open: [(path: Int, start: UInt64, depth: UInt32)] = []
        func place(_ paths: [Int], from start: UInt64, depth: UInt32) {
            var next = start
            var placed: [(path: Int, start: UInt64, depth: UInt32)] = []
            for path in paths where (rows[path]?.total.sample.after ?? 0) > 0 && widths[path] >= options.minTotal {
                placed.append((path, next, depth))
                next &+= widths[path]
            }
            open += placed.reversed()
        }
        place(roots, from: 0, depth: 0)
        while let (path, start, depth) = open.popLast() {
            guard let row = rows[path] else { continue }
            let frame = Frame(
                function: row.function, depth: depth, calls: UInt64(row.calls.sample.after.rounded()), start: start,
                total: widths[path], selfTime: DiffReport.nanoseconds(row.selfTime.sample.after))
            let change = FlameGraph.ownChange(row, comparison)
            let part = greatest > 0 ? change / greatest : 0
            // Less than a hundredth of the greatest change is told as none.
            let step = abs(part) < 0.01 ? 0 : (abs(part) * Double(FlamePalette.stepCount)).rounded(.up)
            changes[frame.place] = Before(
                calls: UInt64(row.calls.sample.before.rounded()),
                total: DiffReport.nanoseconds(row.total.sample.before),
                selfTime: DiffReport.nanoseconds(row.selfTime.sample.before), step: Int(part < 0 ? -step : step))
            frames.append(frame)
            place(callees[path], from: start, depth: depth + 1)
        }
        let total = frames.reduce(0 as UInt64) { $1.depth == 0 ? $0 &+ $1.total : $0 }
        self.init(frames, total: total, timeline: nil, names: comparison.functions, options: options)
        self.totals = totals
        self.changes = changes
    }

    /// By how much a path's own time has changed, in ns; 0 for what may be noise.
    private static func ownChange(_ row: SessionComparison.Row, _ comparison: SessionComparison) -> Double {
        switch row.verdict {
        case .same, .callees: 0
        case .calls where !row.selfTime.isBeyondNoise: 0
        default: row.selfTime.sample.change
        }
    }

    // MARK: Page

    func writeChanges(_ json: JSONWriter) {
        json.line().object("changes") {
            json.field("totals", [totals?.before ?? 0, totals?.after ?? 0])
            json.array("frames", frames) { frame in
                let before = changes[frame.place] ?? Before(calls: 0, total: 0, selfTime: 0, step: 0)
                for number in [before.calls, before.total, before.selfTime] { json.value(number) }
                json.value(before.step)
            }
        }
    }

    // MARK: Picture

    func changeStyle(of frame: Frame) -> String? {
        changes[frame.place].map { $0.step < 0 ? "d\(-$0.step)" : "u\($0.step)" }
    }

    func writeChange(of frame: Frame, to writer: ByteWriter) {
        guard let before = changes[frame.place] else { return }
        guard before.calls + before.total > 0 else { return writer.write("\nbefore: not there" as StaticString) }
        writer.write("\nbefore: \(counted(before.calls)), total ")
        writer.write(time: before.total)
        writer.write(", self " as StaticString)
        writer.write(time: before.selfTime)
    }
}
