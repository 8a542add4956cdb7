internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

/// A start as a picture: time runs to the right, and each row is what happened beside the others.
struct StartupWaterfall {
    private struct Bar {
        var begin: UInt64
        var end: UInt64
        var style: String
        var label: String
        var title: String
    }

    private struct Row {
        var name: String
        var bars: [Bar]
    }

    /// How wide the picture is, in px: of either, the page shows the one that fits.
    enum Layout: String {
        case wide, narrow

        var width: Double { self == .wide ? 1200 : 368 }
        /// Room for names of rows, at the left; a narrow picture has them above the rows.
        var labels: Double { self == .wide ? 150 : 0 }
        var above: Double { self == .wide ? 0 : 16 }
        var ticks: UInt64 { self == .wide ? 6 : 3 }
    }

    private static let height = 22.0, gap = 4.0, top = 24.0
    private let timeline: StartupTimeline
    private let rows: [Row]

    init(_ startup: Startup, functions: FunctionTable) {
        timeline = startup.timeline
        let begin = timeline.begin
        func bar(_ from: UInt64, _ to: UInt64, _ style: String, _ name: String) -> Bar {
            let from = max(from, begin), to = min(max(to, from), startup.timeline.end)
            let at = String(time: from - begin)
            return Bar(
                begin: from - begin, end: max(to, from) - begin, style: style, label: name,
                title: "\(name): \(String(time: max(to, from) - from)), from \(at)")
        }
        var rows = [
            Row(
                name: "phases",
                bars: timeline.stretches.map { stretch in
                    bar(
                        stretch.begin, stretch.end, StartupWaterfall.style(stretch.parts[0]),
                        stretch.parts.map(\.name).joined(separator: " + "))
                })
        ]
        if !startup.initializers.isEmpty {
            rows.append(
                Row(
                    name: "initializers",
                    bars: startup.initializers.map {
                        bar($0.begin, $0.begin + $0.nanoseconds, "initializers", $0.label)
                    }
                ))
        }
        for (index, thread) in startup.calls.threads.enumerated() {
            for depth in 0..<2 {
                let spans = startup.calls.spans.filter { $0.thread == index && $0.depth == depth && $0.end > begin }
                if spans.isEmpty { continue }
                let name = index == startup.calls.main ? "main thread" : "thread \(thread.tid)"
                rows.append(
                    Row(
                        name: depth == 0 ? name : "",
                        bars: spans.map {
                            bar($0.begin, $0.end, depth == 0 ? "task" : "inner", functions[$0.function].name)
                        }
                    ))
            }
        }
        self.rows = rows
    }

    private static func style(_ part: StartupTimeline.Part) -> String {
        switch part {
        case .fork: "fork"
        case .kernel: "kernel"
        case .mapping: "mapping"
        case .relocation: "relocation"
        case .initializer, .initializers: "initializers"
        case .between: "between"
        case .recording: "recording"
        case .main: "main-part"
        }
    }

    private func x(_ time: UInt64, _ layout: Layout) -> Double {
        let share = timeline.total == 0 ? 0 : Double(time) / Double(timeline.total)
        return layout.labels + share * (layout.width - layout.labels - 8)
    }

    private func fixed(_ value: Double) -> String { CountText.fixed(value, 2) }

    func write(_ layout: Layout, to writer: ByteWriter) {
        let rowHeight = StartupWaterfall.height + StartupWaterfall.gap + layout.above
        let height = StartupWaterfall.top + Double(rows.count) * rowHeight + 4
        writer.write(
            "<svg class=\"\(layout.rawValue)\" viewBox=\"0 0 \(Int(layout.width)) \(Int(height))\" role=\"img\" aria-label=\"Waterfall of the start\">\n"
        )
        writeRuler(layout, height, to: writer)
        for (index, row) in rows.enumerated() {
            let begin = StartupWaterfall.top + Double(index) * rowHeight, y = begin + layout.above
            writer.write(
                "<rect class=\"row\" x=\"\(fixed(layout.labels))\" y=\"\(fixed(y))\" width=\"\(fixed(layout.width - layout.labels - 8))\" height=\"\(fixed(StartupWaterfall.height))\"/>"
            )
            writer.write("<text x=\"4\" y=\"\(fixed(layout == .wide ? y + 15 : begin + 12))\">")
            writer.write(markup: row.name)
            writer.write("</text>\n" as StaticString)
            for bar in row.bars { write(bar, layout, y, to: writer) }
        }
        if let main = timeline.main {
            let at = fixed(x(main - timeline.begin, layout))
            writer.write("<line class=\"main\" x1=\"\(at)\" x2=\"\(at)\" y1=\"14\" y2=\"\(fixed(height))\"/>\n")
        }
        writer.write("</svg>\n" as StaticString)
    }

    private func write(_ bar: Bar, _ layout: Layout, _ y: Double, to writer: ByteWriter) {
        let left = x(bar.begin, layout), width = max(x(bar.end, layout) - left, 0.75)
        writer.write(
            "<rect class=\"part \(bar.style)\" x=\"\(fixed(left))\" y=\"\(fixed(y))\" width=\"\(fixed(width))\" height=\"\(fixed(StartupWaterfall.height))\"><title>"
        )
        writer.write(markup: bar.title)
        writer.write("</title></rect>" as StaticString)
        // A letter takes about 6.2 units.
        let room = Int((width - 8) / 6.2)
        if room >= 3 {
            let text = bar.label.count <= room ? bar.label : String(bar.label.prefix(room - 1)) + "…"
            writer.write("<text class=\"within\" x=\"\(fixed(left + 4))\" y=\"\(fixed(y + 15))\">")
            writer.write(markup: text)
            writer.write("</text>" as StaticString)
        }
        writer.write("\n" as StaticString)
    }

    /// Lines at round times.
    private func writeRuler(_ layout: Layout, _ height: Double, to writer: ByteWriter) {
        var step: UInt64 = 1
        var factor = 0
        while timeline.total / step > layout.ticks {
            step = factor % 3 == 1 ? step / 2 * 5 : step * 2
            factor += 1
        }
        var moment: UInt64 = 0
        while moment <= timeline.total, step > 0 {
            let at = fixed(x(moment, layout))
            writer.write("<line class=\"tick\" x1=\"\(at)\" x2=\"\(at)\" y1=\"16\" y2=\"\(fixed(height))\"/>")
            // A name at the right edge would be cut.
            if x(moment, layout) + 55 <= layout.width {
                writer.write(
                    "<text class=\"soft\" x=\"\(fixed(x(moment, layout) + 3))\" y=\"12\">\(String(time: moment))</text>"
                )
            }
            writer.write("\n" as StaticString)
            moment += step
        }
    }
}
