internal import TraceAnalysis
public import TraceHistory
internal import TraceStatistics
public import TraceText

/// A trend as a table with a line of bars, JSON, a picture, or a page with it.
public struct TrendReport: Report {
    public enum Format: String, CaseIterable, Sendable { case text, json, svg, html }

    let trend: Trend
    private let layout: TextLayout

    public init(_ trend: Trend, layout: TextLayout = TextLayout()) {
        self.trend = trend
        self.layout = layout
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .svg: writeSVG(to: writer)
        case .html: writeHTML(to: writer)
        }
    }

    /// `parse, own time`
    var title: String {
        let metric: String =
            switch trend.metric {
            case .total: ""
            case .self: ", own time"
            case .calls: ", calls"
            case .average: ", average of a call"
            case .call: ", single calls"
            case .blocked: ", waiting"
            }
        return trend.subject.title + metric
    }

    /// `p90`
    var percentile: String {
        "p" + (trend.percent == trend.percent.rounded() ? String(Int(trend.percent)) : String(trend.percent))
    }

    func text(_ value: Double) -> String { HistoryText.value(value, isTime: trend.isTime) }

    // MARK: Text

    private func writeText(to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) {
            writer.write(layout.sentence("\(title): \(HistoryText.subject(trend.selection))\n"))
        }
        guard !trend.points.isEmpty else { return writer.write("no run has it\n" as StaticString) }
        writeTable(to: writer)
        let values = trend.points.map(\.value)
        let bars = TrendReport.bars(values, width: min(layout.width ?? 80, 80))
        writer.write("\(bars)\n\(text(values.min()!)) to \(text(values.max()!))")
        writer.write(trend.missing > 0 ? "; \(trend.missing) more runs do not have it\n" : "\n")
        for change in trend.changes {
            let run = trend.points[change.index].run
            writer.write("\(HistoryText.name(run)): ")
            writer.write(in: layout.style(change.change > 0 ? .red : .green)) {
                writer.write(
                    "\(text(change.before)) → \(text(change.after)), \(HistoryText.percent(change.relativeChange))")
            }
            writer.write(", \(HistoryText.chance(change.chance))\n")
        }
        if let noChange { writer.write("\(noChange)\n") }
    }

    /// What is said where no change was found.
    var noChange: String? {
        guard trend.changes.isEmpty else { return nil }
        if trend.points.isEmpty { return "no run has it" }
        return trend.points.count < HistoryChanges.leastRuns
            ? "too few runs to tell a change from noise: \(HistoryChanges.leastRuns) are needed"
            : "no change that is beyond noise"
    }

    /// By group, by which part of it the percentile is greater than that of the group before.
    var changesOfGroups: [Double?] {
        trend.groups.indices.map { index in
            guard index > 0 else { return nil }
            let (before, after) = (trend.groups[index - 1].percentile, trend.groups[index].percentile)
            return before == 0 ? 0 : (after - before) / abs(before)
        }
    }

    private func writeTable(to writer: ByteWriter) {
        var rows = [[trend.label ?? "", "runs", "median", percentile, "its change"]]
        for (group, change) in zip(trend.groups, changesOfGroups) {
            rows.append(
                [
                    group.name, "\(group.points.count)", text(group.median), text(group.percentile),
                    change.map(HistoryText.percent) ?? "",
                ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].columns }.max()! }
        for (index, row) in rows.enumerated() where !writer.isClosed {
            writer.write(in: index == 0 ? layout.style(.bold) : nil) {
                for (column, cell) in row.enumerated() {
                    let room = widths[column] - cell.columns
                    if column > 0 { writer.write(spaces: 2 + room) }
                    writer.write(cell)
                    if column == 0 { writer.write(spaces: room) }
                }
            }
            writer.write(byte: UInt8(ascii: "\n"))
        }
    }

    /// A line of bars, one for each value, or for the median of neighbours where there are more than have room.
    static func bars(_ values: [Double], width: Int) -> String {
        let count = min(values.count, max(width, 1))
        let heights = (0..<count).map { place in
            Percentile.median(Array(values[(place * values.count / count)..<((place + 1) * values.count / count)]))
        }
        guard let low = heights.min(), let high = heights.max() else { return "" }
        let signs = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        return heights.map { high > low ? signs[Int((($0 - low) / (high - low) * 7).rounded())] : signs[0] }.joined()
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("subject", trend.subject.title)
            json.field("metric", trend.metric.rawValue)
            json.field("unit", trend.isTime ? "ns" : nil)
            json.field("program", trend.selection.program)
            json.field("command", trend.selection.command)
            json.field("host", trend.selection.host)
            json.field("percentile", trend.percent)
            json.field("missing", trend.missing)
            json.line().objects("groups", trend.groups, .each) { group in
                json.field("name", group.name)
                json.field("runs", group.points.count)
                json.field("median", group.median)
                json.field("percentile", group.percentile)
            }
            json.line().objects("changes", trend.changes, .each) { change in
                json.field("index", change.index)
                json.field("run", trend.points[change.index].run.id)
                json.field("before", change.before)
                json.field("after", change.after)
                json.field("relative_change", change.relativeChange)
                json.field("chance", change.chance)
            }
            json.line().objects("points", trend.points, .each) { point in
                json.field("run", point.run.id)
                json.field("time_ns", point.run.time)
                json.object("labels", point.run.labels)
                json.field("value", point.value)
            }
        }
    }
}
