public import TraceAnalysis
internal import TraceText

/// Differential flame graphs (B. Gregg, Differential Flame Graphs, 2014). Frames are as wide as they are after, and
/// coloured by how their own time has changed.
extension FlameGraph {
    /// What a frame was before: means over the runs, in ns, rounded.
    struct Before {
        var calls: UInt64
        var total: UInt64
        var selfTime: UInt64
        /// How much its own time has changed, as part of the greatest change: -``FlamePalette/changeSteps`` is it,
        /// shorter; 0 is nothing, or nothing beyond noise.
        var step: Int
    }

    var isDifferential: Bool { frames.contains { $0.before != nil } }

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
        let greatest = rows.reduce(0) { max($0, $1.map { abs(FlameGraph.ownChange($0, comparison)) } ?? 0) }

        var frames: [Frame] = []
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
            var frame = Frame(
                function: row.function, depth: depth, calls: UInt64(row.calls.sample.after.rounded()), start: start,
                total: widths[path], selfTime: DiffReport.nanoseconds(row.selfTime.sample.after))
            let change = FlameGraph.ownChange(row, comparison)
            let part = greatest > 0 ? change / greatest : 0
            let step = (abs(part) * Double(FlamePalette.changeSteps)).rounded(.up)
            frame.before = Before(
                calls: UInt64(row.calls.sample.before.rounded()),
                total: DiffReport.nanoseconds(row.total.sample.before),
                selfTime: DiffReport.nanoseconds(row.selfTime.sample.before), step: Int(part < 0 ? -step : step))
            frames.append(frame)
            place(callees[path], from: start, depth: depth + 1)
        }
        let total = frames.reduce(0 as UInt64) { $1.depth == 0 ? $0 &+ $1.total : $0 }
        self.init(frames, total: total, isTimeOrder: false, names: comparison.functions, options: options)
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

    func writeChanges(to writer: ByteWriter) {
        writer.write(",\n\"changes\":{\"steps\":\(FlamePalette.changeSteps),\"palette\":{")
        let steps = Array(-FlamePalette.changeSteps...FlamePalette.changeSteps)
        for isDark in [false, true] {
            writer.write(isDark ? ",\"dark\":" : "\"light\":" as StaticString)
            list(steps, writer) { writer.write(embedded: FlamePalette.colour(change: $0, isDark: isDark)) }
        }
        writer.write("},\n\"frames\":" as StaticString)
        list(frames, writer) { frame in
            let before = frame.before ?? Before(calls: 0, total: 0, selfTime: 0, step: 0)
            for number in [before.calls, before.total, before.selfTime] {
                writer.write(decimal: number)
                writer.write(byte: UInt8(ascii: ","))
            }
            writer.write("\(before.step)" as String)
        }
        writer.write("}" as StaticString)
    }

    // MARK: Picture

    func changeStyle(of frame: Frame) -> String? {
        frame.before.map { $0.step < 0 ? "d\(-$0.step)" : "u\($0.step)" }
    }

    func writeChangeStyle(isDark: Bool, to writer: ByteWriter) {
        guard isDifferential else { return }
        for step in -FlamePalette.changeSteps...FlamePalette.changeSteps {
            let name = step < 0 ? "d\(-step)" : "u\(step)"
            writer.write(".\(name){fill:\(FlamePalette.colour(change: step, isDark: isDark))}")
        }
    }

    func writeChange(of frame: Frame, to writer: ByteWriter) {
        guard let before = frame.before else { return }
        guard before.calls + before.total > 0 else { return writer.write("\nbefore: not there" as StaticString) }
        writer.write("\nbefore: \(before.calls) \(before.calls == 1 ? "call" : "calls"), total ")
        writer.write(time: before.total)
        writer.write(", self " as StaticString)
        writer.write(time: before.selfTime)
    }
}

extension FlamePalette {
    /// Steps from no change to the greatest, in either direction.
    static let changeSteps = 8

    /// Red where time was added, blue where it was saved. These can be told apart also without seeing red and green as
    /// different.
    static func colour(change step: Int, isDark: Bool) -> String {
        let part = abs(step) * 100 / changeSteps
        let hue = step < 0 ? 212 : 12
        let saturation = step == 0 ? 0 : 45 + part * 45 / 100
        return isDark
            ? "hsl(\(hue) \(saturation)% \(26 + part * 14 / 100)%)"
            : "hsl(\(hue) \(saturation)% \(90 - part * 24 / 100)%)"
    }
}
