internal import TraceHistory
internal import TraceStatistics
internal import TraceText

/// A trend as a picture: a point for each run, the median and the percentile of each group, and a line where it changes. Values
/// begin at zero, so that a change looks as large as it is.
struct TrendPicture {
    let report: TrendReport
    /// In px.
    let width: Double
    let height: Double
    /// Whether it says what it shows: a picture by itself does.
    let hasTitle: Bool

    private var trend: Trend { report.trend }
    private static let left = 76.0, right = 16.0, bottom = 48.0, letter = 7.0
    /// Where the legend stands, and where values begin.
    private var legend: Double { hasTitle ? 42 : 16 }
    private var top: Double { legend + 28 }

    static let style = """
        text{fill:currentColor;font:12px system-ui,sans-serif}
        .p{fill:#2b6cb0}.m{stroke:#2b6cb0;stroke-width:2}.q{stroke:#b34700;stroke-dasharray:4 3;stroke-width:1.5}
        .c{stroke-width:1.5}.c.u{stroke:#c53030}.c.d{stroke:#276749}.c.e{stroke:currentColor}
        text.u{fill:#c53030}text.d{fill:#276749}.a{stroke:#8886}.z{stroke:currentColor}
        @media (prefers-color-scheme:dark){.p{fill:#63b3ed}.m{stroke:#63b3ed}.q{stroke:#f6ad55}.c.u{stroke:#fc8181}
        .c.d{stroke:#68d391}text.u{fill:#fc8181}text.d{fill:#68d391}}

        """

    private static let ownStyle = """
        svg{background:#fff;color:#1c2330}@media (prefers-color-scheme:dark){svg{background:#14181f;color:#e6e9ef}}

        """

    func write(to writer: ByteWriter) {
        writer.write("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(width)) \(Int(height))\"")
        writer.write(" width=\"\(Int(width))\" height=\"\(Int(height))\" role=\"img\">\n<title>")
        writer.write(markup: report.title)
        writer.write("</title>\n" as StaticString)
        if hasTitle {
            writer.write("<style>\(TrendPicture.ownStyle)\(TrendPicture.style)</style>\n")
            writer.write("<text x=\"10\" y=\"20\" font-weight=\"bold\">" as StaticString)
            writer.write(markup: "\(report.title): \(HistoryText.subject(trend.selection))\(report.dates)")
            writer.write("</text>\n" as StaticString)
        }
        if !trend.points.isEmpty {
            writeLegend(to: writer)
            writePoints(to: writer)
        }
        writer.write("</svg>\n" as StaticString)
    }

    // MARK: Places

    /// Values at round places, the first one at or below the least value, or at zero.
    private var ticks: [Double] {
        let values = trend.points.map(\.value)
        let (least, most) = (min(values.min() ?? 0, 0), max(values.max() ?? 0, 0))
        let rough = max(most - least, 1e-9) / 4
        var magnitude = 1.0
        while magnitude > rough { magnitude /= 10 }
        while magnitude * 10 <= rough { magnitude *= 10 }
        let step = magnitude * ([1.0, 2, 5].first { magnitude * $0 >= rough } ?? 10)
        let first = (least / step).rounded(.down), last = (most / step).rounded(.up)
        return stride(from: first, through: max(last, first + 1), by: 1).map { $0 * step }
    }

    private func x(_ index: Double) -> Double {
        let step = (width - TrendPicture.left - TrendPicture.right) / Double(trend.points.count)
        return TrendPicture.left + (index + 0.5) * step
    }

    private func y(_ value: Double, _ ticks: [Double]) -> Double {
        let part = (value - ticks[0]) / (ticks[ticks.count - 1] - ticks[0])
        return height - TrendPicture.bottom - part * (height - top - TrendPicture.bottom)
    }

    // MARK: Drawing

    private func writeLegend(to writer: ByteWriter) {
        var at = TrendPicture.left - 60
        let label = trend.label.map { " of a \($0)" } ?? ""
        var items = [("p", "a run"), ("m", "median" + label), ("q", report.percentile)]
        if !trend.changes.isEmpty { items.append(("c e", "change beyond noise")) }
        let room = items.reduce(0) { $0 + 34 + Double($1.1.columns) * TrendPicture.letter }
        if at + room > width {
            items =
                [("p", "run"), ("m", "median"), ("q", report.percentile)] + items.dropFirst(3).map { ($0.0, "change") }
        }
        for (style, text) in items {
            if style == "p" {
                writer.write("<circle class=\"p\" cx=\"\(at + 9)\" cy=\"\(legend - 4)\" r=\"3\"/>\n")
            } else if style.hasPrefix("c") {
                line(style, (at + 9, legend - 11), (at + 9, legend + 3), writer)
            } else {
                line(style, (at, legend - 4), (at + 18, legend - 4), writer)
            }
            write(text, at + 24, legend, writer)
            at += 34 + Double(text.columns) * TrendPicture.letter
        }
    }

    private func writePoints(to writer: ByteWriter) {
        let ticks = self.ticks, count = Double(trend.points.count)
        for value in ticks {
            let place = y(value, ticks)
            line(value == 0 ? "z" : "a", (x(-0.5), place), (x(count - 0.5), place), writer)
            write(value == 0 ? "0" : report.text(value), TrendPicture.left - 8, place + 4, anchor: "end", writer)
        }
        for group in trend.groups {
            // Runs of a group need not stand side by side; its lines span all of them.
            let (first, last) = (x(Double(group.points.first!) - 0.4), x(Double(group.points.last!) + 0.4))
            line("m", (first, y(group.median, ticks)), (last, y(group.median, ticks)), writer)
            // Of single calls, the percentile may be far from all runs' values.
            if ticks[0]...ticks[ticks.count - 1] ~= group.percentile {
                line("q", (first, y(group.percentile, ticks)), (last, y(group.percentile, ticks)), writer)
            }
        }
        writeNames(to: writer)
        var room = 0.0
        for change in trend.changes {
            let place = x(Double(change.index) - 0.5), style = change.change > 0 ? "u" : "d"
            line("c \(style)", (place, top - 8), (place, height - TrendPicture.bottom), writer)
            let text = HistoryText.percent(change.relativeChange)
            let half = Double(text.columns + 1) * TrendPicture.letter / 2
            let middle = min(place, width - half)
            guard middle - half >= room else { continue }
            room = middle + half
            write(text, middle, top - 12, anchor: "middle", style: style, writer)
        }
        for (index, point) in trend.points.enumerated() where !writer.isClosed {
            let place = [x(Double(index)), y(point.value, ticks)].map(TrendPicture.coordinate)
            writer.write("<circle class=\"p\" cx=\"\(place[0])\" cy=\"\(place[1])\" r=\"3\"><title>")
            writer.write(
                markup: "\(HistoryText.name(point.run)) \(HistoryText.moment(point.run)): \(report.text(point.value))")
            writer.write("</title></circle>\n" as StaticString)
        }
    }

    /// Names of groups, and below them when their first runs were: as many as there is room for. The page's table has them all.
    private func writeNames(to writer: ByteWriter) {
        var nameRoom = 0.0, dateRoom = 0.0
        let moments = trend.points.map { HistoryText.moment($0.run) }
        // Of runs of one day, which the page names above, the time of day tells more.
        let isOneDay = Set(moments.map { $0.prefix(10) }).count <= 1
        let starts = trend.label == nil ? Array(trend.points.indices) : trend.groups.map { $0.points.first! }
        for (index, point) in starts.enumerated() {
            let begin = x(Double(point) - 0.4)
            if trend.label != nil {
                let name = trend.groups[index].name
                let end = begin + Double(name.columns + 1) * TrendPicture.letter
                if begin >= nameRoom, end <= width || nameRoom == 0 {
                    write(name, begin, height - 28, writer)
                    nameRoom = end
                }
            }
            let date = isOneDay ? String(moments[point].dropFirst(11)) : String(moments[point].prefix(10))
            let end = begin + Double(date.columns + 1) * TrendPicture.letter
            guard !date.isEmpty, begin >= dateRoom, end <= width || dateRoom == 0 else { continue }
            write(date, begin, height - 10, writer)
            dateRoom = end
        }
    }

    private func write(
        _ text: String, _ x: Double, _ y: Double, anchor: String? = nil, style: String? = nil, _ writer: ByteWriter
    ) {
        writer.write("<text")
        if let style { writer.write(" class=\"\(style)\"") }
        writer.write(" x=\"\(TrendPicture.coordinate(x))\" y=\"\(TrendPicture.coordinate(y))\"")
        if let anchor { writer.write(" text-anchor=\"\(anchor)\"") }
        writer.write(">" as StaticString)
        writer.write(markup: text)
        writer.write("</text>\n" as StaticString)
    }

    private func line(_ style: String, _ from: (Double, Double), _ to: (Double, Double), _ writer: ByteWriter) {
        let ends = [from.0, from.1, to.0, to.1].map(TrendPicture.coordinate)
        writer.write(
            "<line class=\"\(style)\" x1=\"\(ends[0])\" y1=\"\(ends[1])\" x2=\"\(ends[2])\" y2=\"\(ends[3])\"/>\n")
    }

    /// A coordinate to a tenth of a pixel.
    private static func coordinate(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
