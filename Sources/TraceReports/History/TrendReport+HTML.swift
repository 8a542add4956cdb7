internal import TraceHistory
internal import TracePage
internal import TraceStatistics
internal import TraceText

extension TrendReport {
    /// The picture, wide or as narrow as a phone's screen: letters are as large in either.
    private static let articleStyle = """
        #article .narrow{display:none}#article ul{padding-left:1.2rem}#article li{overflow-wrap:anywhere}
        #article .scroll{overflow-x:auto}#article table{width:auto}
        #article :is(td,th){padding:.2rem .75rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
        #article th{color:var(--dim);font-weight:500}
        #article :is(td,th):first-child{text-align:left;padding-left:0;white-space:normal;overflow-wrap:anywhere;min-width:4rem;max-width:16rem}
        #article td.u{color:#c53030}#article td.d{color:#276749}
        @media (prefers-color-scheme:dark){#article td.u{color:#fc8181}#article td.d{color:#68d391}}
        @media (max-width:40rem){#article .wide{display:none}#article .narrow{display:block}
        #article :is(td,th){padding:.2rem 0 .2rem .45rem;font-size:13px}#article .spare{display:none}}

        """

    func writeSVG(to writer: ByteWriter) {
        TrendPicture(report: self, width: 960, height: 380, hasTitle: true).write(to: writer)
    }

    /// A page with the picture, what changed, and a table of the groups. It loads nothing, and can be read without a script.
    func writeHTML(to writer: ByteWriter) {
        let style = Array((TrendReport.articleStyle + TrendPicture.style).utf8)
        let article = ViewArticle("Trend", style: style) { writeArticle(to: $0) }
        ViewPage.write(title: title, to: writer, content: ViewArticle.content(title: title), article: article)
    }

    private func writeArticle(to writer: ByteWriter) {
        writer.write("<h1>" as StaticString)
        writer.write(markup: title)
        writer.write("</h1>\n<p>" as StaticString)
        writer.write(markup: HistoryText.subject(trend.selection) + dates)
        writer.write("</p>\n" as StaticString)
        for (style, width, height) in [("wide", 960.0, 360.0), ("narrow", 368, 300)] {
            writer.write("<div class=\"\(style)\">\n")
            TrendPicture(report: self, width: width, height: height, hasTitle: false).write(to: writer)
            writer.write("</div>\n" as StaticString)
        }
        writer.write("<ul>\n" as StaticString)
        for change in trend.changes {
            let run = trend.points[change.index].run
            writer.write("<li>" as StaticString)
            writer.write(
                markup: [
                    "\(HistoryText.name(run)), \(HistoryText.moment(run)): \(text(change.before)) → \(text(change.after))",
                    HistoryText.percent(change.relativeChange), HistoryText.chance(change.chance),
                ].joined(separator: ", "))
            writer.write("</li>\n" as StaticString)
        }
        if let noChange { writer.write("<li>\(noChange)</li>\n") }
        if trend.missing > 0 { writer.write("<li>\(trend.missing) more runs do not have it</li>\n") }
        writer.write("</ul>\n" as StaticString)
        if !trend.groups.isEmpty { writeGroups(to: writer) }
    }

    /// When the first and the last run were.
    var dates: String {
        guard let first = trend.points.first.map({ HistoryText.moment($0.run) }), !first.isEmpty,
            let last = trend.points.last.map({ HistoryText.moment($0.run) }), !last.isEmpty
        else { return "" }
        return first == last ? ", \(first)" : ", \(first) to \(last)"
    }

    private func writeGroups(to writer: ByteWriter) {
        writer.write("<div class=\"scroll\"><table><tr><th>" as StaticString)
        writer.write(markup: trend.label ?? "")
        let heads = ["runs", "median", percentile, "its change"].map { "<th>\($0)</th>" }.joined()
        // Narrow screens have dates in the picture alone.
        writer.write("</th><th class=\"spare\">since</th>\(heads)</tr>\n")
        for (group, change) in zip(trend.groups, changesOfGroups) where !writer.isClosed {
            writer.write("<tr><td>" as StaticString)
            writer.write(markup: group.name)
            let since = group.points.first.map { HistoryText.moment(trend.points[$0].run).prefix(10) } ?? ""
            writer.write(
                "</td><td class=\"spare\">\(since)</td><td>\(group.points.count)</td><td>\(text(group.median))</td>")
            let style = change.map { $0 > 0 ? " class=\"u\"" : $0 < 0 ? " class=\"d\"" : "" } ?? ""
            let percent = change.map(HistoryText.percent) ?? ""
            writer.write("<td>\(text(group.percentile))</td><td\(style)>\(percent)</td></tr>\n")
        }
        writer.write("</table></div>\n" as StaticString)
    }
}
