internal import TraceAnalysis
internal import TraceText

/// The counters of a chart's picture.
extension FlameGraph {
    /// Draws a counter as steps, each with its value and moment as a tooltip, and its name and range above them. Values that share
    /// a pixel are a line there from the least to the greatest, and the last of them goes on.
    ///
    /// - Parameters:
    ///   - scale: px a nanosecond.
    ///   - row: the upper one of those that the counter takes.
    /// - Complexity: O(points); at most two rectangles for each px of the picture.
    func write(_ counter: FlameTimeline.Counter, _ scale: Double, row: Int, _ writer: ByteWriter) {
        let values = counter.points.lazy.map(\.value).filter(\.isFinite)
        let (least, most) = (min(values.min() ?? 0, 0), max(values.max() ?? 0, 0))
        let top = Double(row * FlameGraph.rowHeight + 4)
        let room = Double(FlameTimeline.counterRows * FlameGraph.rowHeight - 4)
        /// How far above the least value's line a value is, in px.
        func tall(_ value: Double) -> Double {
            guard most > least, value.isFinite else { return 0 }
            // In halves, because the whole range may be more than a number can hold.
            return (value / 2 - least / 2) / (most / 2 - least / 2) * room
        }
        let ground = top + room + 2
        let zero = ground - tall(0)
        var rest = counter.points[...]
        while let point = rest.popFirst() {
            let x = Double(point.moment) * scale
            var (low, high, last) = (point.value, point.value, point)
            var count = 1
            while let next = rest.first, Double(next.moment) * scale < x + 1 {
                (low, high, last) = (min(low, next.value), max(high, next.value), next)
                count += 1
                rest.removeFirst()
            }
            let end = rest.first.map { Double($0.moment) * scale } ?? FlameGraph.width
            func step(to end: Double, from low: Double, to high: Double) {
                let upper = min(ground - tall(high), zero)
                let lower = max(ground - tall(low), zero)
                writer.write("<rect class=\"c\" x=\"\(FlameGraph.rounded(x))\" y=\"\(FlameGraph.rounded(upper))\"")
                writer.write(" width=\"\(FlameGraph.rounded(max(end - x, 0)))\"")
                writer.write(" height=\"\(FlameGraph.rounded(max(lower - upper, 1)))\"><title>")
                writer.write(markup: counter.name)
                writer.write("\n\(last.value.short)")
                if count > 1 { writer.write(", after \(count - 1) more from \(low.short) to \(high.short)") }
                writer.write("\nat " as StaticString)
                writer.write(time: (timeline?.origin ?? 0) &+ last.moment)
                writer.write("</title></rect>\n" as StaticString)
            }
            step(to: end, from: last.value, to: last.value)
            if low < high { step(to: min(x + 1, end), from: low, to: high) }
        }
        writer.write("<text x=\"3\" y=\"\(row * FlameGraph.rowHeight + FlameGraph.rowHeight - 1)\">")
        let label = "\(counter.name)  \(least.short) … \(most.short)"
        writer.write(markup: FlameLabel.fitted(label, letters: Int((FlameGraph.width - 6) / FlameGraph.letter)))
        writer.write("</text>\n" as StaticString)
    }
}

extension Double {
    /// As few digits as tell the number: no point behind whole ones.
    fileprivate var short: String {
        let text = "\(self)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
