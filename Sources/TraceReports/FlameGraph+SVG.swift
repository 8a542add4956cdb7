internal import TraceAnalysis

extension FlameGraph {
    /// Width of the picture and height of a row, in px.
    private static let width = 1200.0
    private static let rowHeight = 17
    /// Frames narrower than this many px are drawn together.
    private static let narrowest = 0.1
    /// Width of a letter of the font, in px.
    private static let letter = 6.7

    /// Writes a picture: every frame with its name and times as a tooltip, nothing to click.
    public func writeSVG(to writer: ByteWriter) {
        let rows = (frames.map(\.depth).max() ?? 0) + 1
        let height = Int(rows + 1) * FlameGraph.rowHeight + 8
        writer.write("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 \(height)\" width=\"1200\"")
        writer.write(" height=\"\(height)\" font-family=\"ui-monospace, DejaVu Sans Mono, monospace\"")
        writer.write(" font-size=\"11\">\n<style>svg{background:#fff}text{fill:#17171a;pointer-events:none}")
        writer.write(".n{fill:#d9d9de}\n" as StaticString)
        for group in 0..<max(modules.count, kinds.count) {
            writer.write(".g\(group){fill:\(FlameGraph.colour(group, "68%", "76%"))}")
        }
        writer.write("\n@media(prefers-color-scheme:dark){svg{background:#17181a}text{fill:#f2f2f4}" as StaticString)
        writer.write(".n{fill:#3d3e44}" as StaticString)
        for group in 0..<max(modules.count, kinds.count) {
            writer.write(".g\(group){fill:\(FlameGraph.colour(group, "38%", "34%"))}")
        }
        writer.write("}</style>\n<text x=\"4\" y=\"\(FlameGraph.rowHeight - 4)\">")
        writer.write(markup: options.title)
        writer.write("</text>\n" as StaticString)
        writeFrames(rows: Int(rows), to: writer)
        writer.write("</svg>\n" as StaticString)
    }

    /// Neighbours too narrow to be seen alone.
    private struct Run {
        var depth: UInt32
        var start: UInt64
        var end: UInt64
        var count: Int
    }

    private func writeFrames(rows: Int, to writer: ByteWriter) {
        let scale = FlameGraph.width / Double(max(total, 1))
        var run: Run?
        /// Depth of a frame that was too narrow: what is below it is, too.
        var skipped: UInt32?
        for frame in frames {
            if let limit = skipped, frame.depth > limit { continue }
            skipped = nil
            let width = Double(frame.total) * scale
            if width < FlameGraph.narrowest {
                skipped = frame.depth
                if let open = run, open.depth == frame.depth, open.end == frame.start {
                    run?.end = frame.start &+ frame.total
                    run?.count += 1
                } else {
                    if let run { write(run, rows, scale, writer) }
                    run = Run(depth: frame.depth, start: frame.start, end: frame.start &+ frame.total, count: 1)
                }
                continue
            }
            if let open = run { write(open, rows, scale, writer) }
            run = nil
            write(frame, at: Double(frame.start) * scale, width: width, rows, writer)
        }
        if let run { write(run, rows, scale, writer) }
    }

    private func write(_ run: Run, _ rows: Int, _ scale: Double, _ writer: ByteWriter) {
        let width = Double(run.end - run.start) * scale
        beginFrame("n", x: Double(run.start) * scale, width: max(width, FlameGraph.narrowest), run.depth, rows, writer)
        writer.write("\(run.count) frames too narrow to show: total " as String)
        writer.write(time: run.end - run.start)
        writer.write("</title></rect>\n" as StaticString)
    }

    private func write(_ frame: Frame, at x: Double, width: Double, _ rows: Int, _ writer: ByteWriter) {
        let name = names[frame.function].name
        let number = Int(numbers[Int(frame.function)])
        let group = options.colouring == .module ? moduleOf[number] : kindOf[number]
        beginFrame("g\(group)", x: x, width: width, frame.depth, rows, writer)
        writer.write(markup: name)
        writer.write("\n\(frame.calls) \(frame.calls == 1 ? "call" : "calls"), total ")
        writer.write(time: frame.total)
        writer.write(" (\(FlameGraph.percent(frame.total, of: total)) %), self ")
        writer.write(time: frame.selfTime)
        writer.write("</title></rect>\n" as StaticString)
        let letters = Int((width - 6) / FlameGraph.letter)
        guard letters > 2 else { return }
        let y = top(frame.depth, rows) + FlameGraph.rowHeight - 5
        writer.write("<text x=\"\(FlameGraph.rounded(x + 3))\" y=\"\(y)\">")
        writer.write(markup: name.count > letters ? name.prefix(letters - 1) + "…" : name)
        writer.write("</text>\n" as StaticString)
    }

    private func beginFrame(
        _ style: String, x: Double, width: Double, _ depth: UInt32, _ rows: Int, _ writer: ByteWriter
    ) {
        writer.write("<rect class=\"\(style)\" x=\"\(FlameGraph.rounded(x))\" y=\"\(top(depth, rows))\"")
        let gap = width > 2 ? 0.5 : 0
        writer.write(" width=\"\(FlameGraph.rounded(width - gap))\" height=\"\(FlameGraph.rowHeight - 1)\"><title>")
    }

    private func top(_ depth: UInt32, _ rows: Int) -> Int {
        // The first row is the title's.
        (1 + (options.isInverted ? rows - 1 - Int(depth) : Int(depth))) * FlameGraph.rowHeight + 4
    }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    private static func percent(_ part: UInt64, of whole: UInt64) -> Double {
        rounded(100 * Double(part) / Double(max(whole, 1)))
    }

    /// The colour of a group as `flame.js` has it: hues apart by the golden angle.
    private static func colour(_ group: Int, _ saturation: String, _ lightness: String) -> String {
        "hsl(\(rounded((32 + Double(group) * 137.508).truncatingRemainder(dividingBy: 360))) \(saturation) \(lightness))"
    }
}
