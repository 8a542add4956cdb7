internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Where frames waited: their threads were blocked or wanted a CPU, or their tasks were suspended. It is drawn hatched and grey,
/// whatever the colours are, so that waiting does not look like work.
extension FlameGraph {
    /// How long each path waited with all that it called, and itself; nothing where no path is known to have waited.
    ///
    /// - Complexity: O(paths).
    static func waits(of tree: CallPathTree) -> [(all: UInt64, own: UInt64)] {
        let suspended = tree.functions.suspended, known = PathWaits(of: tree)
        var waits = [(all: UInt64, own: UInt64)](repeating: (0, 0), count: tree.paths.count)
        var isAny = false
        for (index, path) in tree.paths.enumerated().reversed() {
            let offCPU = known.own(index)
            // Where it is not known when threads had no CPU, tasks are known to wait.
            waits[index].own = path.function == suspended ? path.sums.total : offCPU.blocked &+ offCPU.runnable
            waits[index].all = min(waits[index].all &+ waits[index].own, path.sums.total)
            isAny = isAny || waits[index].own > 0
            if path.parent >= 0 { waits[Int(path.parent)].all &+= waits[index].all }
        }
        return isAny ? waits : []
    }

    /// Takes what a chart's calls waited in all apart into what they and their callees did. Calls that the chart leaves out, whose
    /// time is in `ownWaiting` so far, may have waited all along: a caller is not said to have done that itself.
    ///
    /// - Complexity: O(frames).
    static func divideWaits(_ frames: inout [Frame], suspended: UInt32?) {
        var open: [Int] = []
        for index in frames.indices {
            while let last = open.last, frames[last].depth >= frames[index].depth { open.removeLast() }
            let isSuspended = frames[index].function == suspended
            let waiting = isSuspended ? frames[index].total : min(frames[index].waiting, frames[index].total)
            frames[index].waiting = waiting
            frames[index].ownWaiting = waiting &- min(isSuspended ? 0 : frames[index].ownWaiting, waiting)
            if let caller = open.last { frames[caller].ownWaiting &-= min(frames[caller].ownWaiting, waiting) }
            open.append(index)
        }
        for index in frames.indices {
            frames[index].ownWaiting = min(frames[index].ownWaiting, frames[index].selfTime)
        }
    }

    var hasWaits: Bool { frames.contains { $0.waiting > 0 } || timeline?.bands.contains { !$0.states.isEmpty } == true }

    /// Stretches in which nothing ran, in order, none of which overlap, in ns from the left: by band, or all of a graph under -1. What
    /// lies there of a frame waited.
    ///
    /// In a graph, a frame's own time is at its right, behind its callees. In a chart, the states of threads tell when they waited.
    /// Where these are not known, calls tell it that did nothing else.
    ///
    /// - Complexity: O(n log n).
    var waitingStretches: [Int: [Range<UInt64>]] {
        var stretches: [Int: [Range<UInt64>]] = [:]
        var band = -1
        var hasStates = false
        for frame in frames {
            if let next = self.band(of: frame) {
                band = next
                let states = timeline?.bands[next].states ?? []
                hasStates = !states.isEmpty
                if hasStates { stretches[band] = states.map { $0.begin..<($0.begin &+ $0.length) } }
            } else if frame.ownWaiting > 0, timeline == nil || !hasStates && frame.isWait {
                let end = frame.start &+ frame.total
                stretches[band, default: []].append((end - min(frame.ownWaiting, frame.total))..<end)
            }
        }
        return stretches.mapValues { list in
            list.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, next in
                if let last = merged.last, next.lowerBound <= last.upperBound {
                    merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
                } else {
                    merged.append(next)
                }
            }
        }
    }

    // MARK: Data

    func writeWaits(_ json: JSONWriter) {
        guard hasWaits else { return }
        if let suspended = names.suspended, numbers[Int(suspended)] >= 0 {
            json.line().field("suspended", numbers[Int(suspended)])
        }
        json.line().field("waiting", frames.map(\.waiting))
        json.line().field("ownWaiting", frames.map(\.ownWaiting))
    }

    // MARK: Picture

    /// The pattern that hatches what waited.
    static let hatching = """
        <defs><pattern id="w" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <rect class="wf" width="6" height="6"/><rect class="wl" width="0.9" height="6"/></pattern></defs>

        """

    /// Hatches what a frame waited, where that is at least half a pixel wide.
    ///
    /// - Parameters:
    ///   - stretches: those of its band, or of the graph.
    ///   - scale: px a nanosecond.
    func hatch(
        _ frame: Frame, _ stretches: [Range<UInt64>], _ scale: Double, row: Int, _ writer: ByteWriter
    ) {
        let first = stretches.partitioningIndex { $0.upperBound > frame.start }
        let whole = frame.start..<(frame.start &+ frame.total)
        // Half a pixel stays free between frames.
        let far = Double(whole.upperBound) * scale - (Double(frame.total) * scale > 2 ? 0.5 : 0)
        for stretch in stretches[first...] {
            guard stretch.lowerBound < whole.upperBound else { break }
            let begin = Double(max(stretch.lowerBound, whole.lowerBound)) * scale
            let end = min(Double(min(stretch.upperBound, whole.upperBound)) * scale, far)
            guard end - begin >= 0.5 else { continue }
            writer.write("<rect class=\"w\" x=\"\(FlameGraph.rounded(begin))\" y=\"\(row * FlameGraph.rowHeight + 4)\"")
            writer.write(" width=\"\(FlameGraph.rounded(end - begin))\" height=\"\(FlameGraph.rowHeight - 1)\"/>\n")
        }
    }

    func writeWaiting(of frame: Frame, to writer: ByteWriter) {
        guard frame.waiting > 0 else { return }
        writer.write(", waiting " as StaticString)
        writer.write(time: frame.waiting)
    }
}
