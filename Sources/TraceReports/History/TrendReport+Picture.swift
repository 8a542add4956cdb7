internal import TraceHistory
internal import TraceStatistics
internal import TraceText

/// The trend as a picture: a point for each run, the median and the percentile of each group, and a line where it changes.
extension TrendReport {
    private static let width = 960.0, height = 360.0
    private static let left = 90.0, right = 20.0, letter = 7.0, top = 40.0, bottom = 50.0

    private static let style = """
        svg{background:#fff;color:#222}text{fill:currentColor;font:12px system-ui,sans-serif}
        .p{fill:#2b6cb0}.m{stroke:#2b6cb0;stroke-width:2}.q{stroke:#c05621;stroke-dasharray:4 3;stroke-width:1.5}
        .c{stroke:#c53030;stroke-width:1.5}.a{stroke:#8888;stroke-width:1}.w{fill:#c53030}
        @media (prefers-color-scheme:dark){svg{background:#1a1a1a;color:#ddd}.p{fill:#63b3ed}.m{stroke:#63b3ed}.c{stroke:#fc8181}.w{fill:#fc8181}}

        """

    /// On narrow screens, the picture keeps letters that can be read, and is moved sideways.
    private static let pageStyle = """
        :root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:1.5rem}
        .scroll{overflow-x:auto}svg{display:block;width:100%;min-width:48rem;height:auto}ul{padding-left:1.2rem}
        table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:2px 12px;text-align:right;white-space:nowrap}
        td:first-child,th:first-child{text-align:left;padding-left:0;white-space:normal;overflow-wrap:break-word;max-width:14rem}
        @media (max-width:60rem){body{padding:1rem}}

        """

    func writeSVG(to writer: ByteWriter) {
        let (width, height) = (Int(TrendReport.width), Int(TrendReport.height))
        writer.write("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\"")
        writer.write(" height=\"\(height)\" role=\"img\">\n<title>")
        writer.write(markup: title)
        writer.write("</title>\n<style>\(TrendReport.style)</style>\n")
        writer.write("<text x=\"10\" y=\"20\" font-weight=\"bold\">" as StaticString)
        writer.write(markup: "\(title): \(HistoryText.subject(trend.selection))")
        writer.write("</text>\n" as StaticString)
        if !trend.points.isEmpty { writePoints(to: writer) }
        writer.write("</svg>\n" as StaticString)
    }

    private func writePoints(to writer: ByteWriter) {
        let values = trend.points.map(\.value)
        let (least, most) = (values.min()!, values.max()!)
        let margin = most > least ? (most - least) / 20 : max(abs(most), 1) / 20
        let (low, high) = (least - margin, most + margin)
        let step = (TrendReport.width - TrendReport.left - TrendReport.right) / Double(values.count)
        func place(_ index: Double) -> Double { TrendReport.left + (index + 0.5) * step }
        func x(_ index: Double) -> String { TrendReport.coordinate(place(index)) }
        func y(_ value: Double) -> String {
            let part = (value - low) / (high - low)
            return TrendReport.coordinate(
                TrendReport.height - TrendReport.bottom - part
                    * (TrendReport.height - TrendReport.top - TrendReport.bottom))
        }
        for value in [least, (least + most) / 2, most] {
            line("a", (x(-0.5), y(value)), (x(Double(values.count) - 0.5), y(value)), writer)
            writer.write("<text x=\"\(Int(TrendReport.left) - 8)\" y=\"\(y(value))\" text-anchor=\"end\">")
            writer.write(markup: text(value))
            writer.write("</text>\n" as StaticString)
        }
        // Names for which there is no room behind the last one are left out; the page's table has them all.
        var room = 0.0
        for group in trend.groups {
            // Runs of a group need not stand side by side; its lines span all of them.
            let (first, last) = (Double(group.points.first!) - 0.4, Double(group.points.last!) + 0.4)
            line("m", (x(first), y(group.median)), (x(last), y(group.median)), writer)
            if low...high ~= group.percentile {
                line("q", (x(first), y(group.percentile)), (x(last), y(group.percentile)), writer)
            }
            let begin = place(first), end = begin + Double(group.name.columns + 1) * TrendReport.letter
            guard trend.label != nil, begin >= room, end <= TrendReport.width || room == 0 else { continue }
            room = end
            writer.write("<text x=\"\(x(first))\" y=\"\(Int(TrendReport.height) - 20)\">")
            writer.write(markup: group.name)
            writer.write("</text>\n" as StaticString)
        }
        for change in trend.changes {
            let place = x(Double(change.index) - 0.5)
            line("c", (place, y(low)), (place, y(high)), writer)
            writer.write("<text class=\"w\" x=\"\(place)\" y=\"\(Int(TrendReport.top) - 4)\">")
            writer.write(markup: HistoryText.percent(change.relativeChange))
            writer.write("</text>\n" as StaticString)
        }
        for (index, point) in trend.points.enumerated() where !writer.isClosed {
            writer.write("<circle class=\"p\" cx=\"\(x(Double(index)))\" cy=\"\(y(point.value))\" r=\"3\"><title>")
            writer.write(
                markup: "\(HistoryText.name(point.run)) \(HistoryText.moment(point.run)): \(text(point.value))")
            writer.write("</title></circle>\n" as StaticString)
        }
    }

    private func line(
        _ name: StaticString, _ from: (String, String), _ to: (String, String), _ writer: ByteWriter
    ) {
        writer.write("<line class=\"\(name)\" x1=\"\(from.0)\" y1=\"\(from.1)\" x2=\"\(to.0)\" y2=\"\(to.1)\"/>\n")
    }

    /// A coordinate to a tenth of a pixel.
    private static func coordinate(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    /// A page with the picture, what changed, and a table of the groups. It loads nothing.
    func writeHTML(to writer: ByteWriter) {
        writer.write("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" as StaticString)
        writer.write("<meta name=\"viewport\" content=\"width=device-width\"><title>" as StaticString)
        writer.write(markup: title)
        writer.write("</title>\n<style>\(TrendReport.pageStyle)</style></head><body>\n<div class=\"scroll\">\n")
        writeSVG(to: writer)
        writer.write("</div>\n<ul>\n" as StaticString)
        for change in trend.changes {
            writer.write("<li>" as StaticString)
            writer.write(
                markup:
                    "\(HistoryText.name(trend.points[change.index].run)): \(text(change.before)) → \(text(change.after)), "
                    + "\(HistoryText.percent(change.relativeChange)), \(HistoryText.chance(change.chance))")
            writer.write("</li>\n" as StaticString)
        }
        if trend.changes.isEmpty { writer.write("<li>no change that is beyond noise</li>\n" as StaticString) }
        writer.write("</ul>\n<div class=\"scroll\"><table><tr><th>" as StaticString)
        writer.write(markup: trend.label ?? "")
        writer.write("</th><th>runs</th><th>median</th><th>\(percentile)</th></tr>\n")
        for group in trend.groups where !writer.isClosed {
            writer.write("<tr><td>" as StaticString)
            writer.write(markup: group.name)
            writer.write("</td><td>\(group.points.count)</td><td>\(text(group.median))</td>")
            writer.write("<td>\(text(group.percentile))</td></tr>\n")
        }
        writer.write("</table></div></body></html>\n" as StaticString)
    }
}
