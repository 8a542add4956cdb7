internal import TraceAnalysis
public import TraceText

extension FlameGraph {
    /// Width of the picture and height of a row, in px.
    private static let width = 1200.0
    private static let rowHeight = 17
    /// Frames narrower than this many px are drawn together.
    private static let narrowest = 0.1
    /// Width of a letter of the font, in px.
    private static let letter = 6.7

    /// Writes a picture: every frame with its name and times as a tooltip. A browser that opens the file by itself and
    /// runs scripts shows the page of ``writeHTML(to:)`` instead, with the frames of the picture.
    public func writeSVG(to writer: ByteWriter) {
        let graph = summing(narrowerThan: FlameGraph.narrowest * Double(total) / FlameGraph.width)
        graph.writePicture(to: writer)
        writer.write("<script type=\"text/html\" id=\"page\"><![CDATA[" as StaticString)
        graph.writeHTML(to: writer)
        writer.write("]]></script>\n<script><![CDATA[\n" as StaticString)
        writer.write(PackageResources.picture_js)
        writer.write("]]></script>\n</svg>\n" as StaticString)
    }

    /// Writes everything but the end of the document.
    private func writePicture(to writer: ByteWriter) {
        let rows = Int((frames.map(\.depth).max() ?? 0) + 1)
        let height = (rows + 1) * FlameGraph.rowHeight + 8
        writer.write("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 \(height)\" width=\"1200\"")
        writer.write(" height=\"\(height)\" font-family=\"ui-monospace, DejaVu Sans Mono, monospace\"")
        // Without a title of the whole picture, Chromium looks for one among all frames whenever it reads a frame's.
        writer.write(" font-size=\"11\" role=\"img\">\n<title>" as StaticString)
        writer.write(markup: options.title)
        writer.write("</title>\n<style>" as StaticString)
        writeStyle(to: writer)
        // Without a rectangle of its own, the picture is transparent where no browser shows it.
        writer.write("</style>\n<rect class=\"b\" width=\"1200\" height=\"\(height)\"/>\n")
        writer.write("<text x=\"4\" y=\"\(FlameGraph.rowHeight - 4)\">")
        writer.write(markup: options.title)
        writer.write("</text>\n" as StaticString)
        let scale = FlameGraph.width / Double(max(total, 1))
        for frame in frames { write(frame, scale, rows, writer) }
    }

    private func writeStyle(to writer: ByteWriter) {
        let used = Set(functions.indices.map { [groupOf($0), shades[$0]] }).sorted { $0.lexicographicallyPrecedes($1) }
        for isDark in [false, true] {
            writer.write(isDark ? "\n@media(prefers-color-scheme:dark){" : "text{pointer-events:none}" as StaticString)
            writer.write(isDark ? ".b{fill:#16171a}text{fill:#f4f4f6}" : ".b{fill:#fff}text{fill:#17171a}")
            writer.write(isDark ? ".n{fill:#3a3c43}" : ".n{fill:#dcdce2}" as StaticString)
            for style in used {
                let colour = FlamePalette.colour(group: style[0], shade: style[1], isDark: isDark)
                writer.write(".g\(style[0])-\(style[1]){fill:\(colour)}")
            }
            writeChangeStyle(isDark: isDark, to: writer)
        }
        writer.write("}" as StaticString)
    }

    private func write(_ frame: Frame, _ scale: Double, _ rows: Int, _ writer: ByteWriter) {
        let isSummed = frame.function == FlameGraph.summed
        let number = isSummed ? 0 : Int(numbers[Int(frame.function)])
        let style = isSummed ? "n" : changeStyle(of: frame) ?? "g\(groupOf(number))-\(shades[number])"
        let x = Double(frame.start) * scale
        let width = max(Double(frame.total) * scale, FlameGraph.narrowest)
        let seen = width > 2 ? width - 0.5 : width
        // The first row is the title's.
        let row = 1 + (options.isInverted ? rows - 1 - Int(frame.depth) : Int(frame.depth))
        let top = row * FlameGraph.rowHeight + 4
        writer.write("<rect class=\"\(style)\" x=\"\(FlameGraph.rounded(x))\" y=\"\(top)\"")
        writer.write(" width=\"\(FlameGraph.rounded(seen))\" height=\"\(FlameGraph.rowHeight - 1)\"><title>")
        guard !isSummed else {
            writer.write("\(frame.calls) \(frame.calls == 1 ? "frame" : "frames") too narrow to show: total ")
            write(share: frame.selfTime, writer)
            return writer.write("</title></rect>\n" as StaticString)
        }
        let name = names[frame.function].name
        writer.write(markup: name)
        writer.write("\n\(frame.calls) \(frame.calls == 1 ? "call" : "calls"), total ")
        write(share: frame.total, writer)
        writer.write(", self " as StaticString)
        write(share: frame.selfTime, writer)
        writeChange(of: frame, to: writer)
        writer.write("</title></rect>\n" as StaticString)
        let letters = Int((width - 6) / FlameGraph.letter)
        guard letters > 2 else { return }
        writer.write("<text x=\"\(FlameGraph.rounded(x + 3))\" y=\"\(top + FlameGraph.rowHeight - 5)\">")
        writer.write(markup: name.count > letters ? name.prefix(letters - 1) + "…" : name)
        writer.write("</text>\n" as StaticString)
    }

    /// A time, and its share of the whole.
    private func write(share time: UInt64, _ writer: ByteWriter) {
        writer.write(time: time)
        let hundredths = Int((10_000 * Double(time) / Double(max(total, 1))).rounded())
        writer.write(" (\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) %)")
    }

    private func groupOf(_ number: Int) -> Int { options.colouring == .module ? moduleOf[number] : kindOf[number] }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
