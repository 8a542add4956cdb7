public import TraceHistory
public import TraceText

/// The runs of a history.
public struct HistoryListReport: Report {
    private let runs: [HistoryRun]
    private let layout: TextLayout
    private let limit: Int

    /// - Parameters:
    ///   - runs: the oldest first.
    ///   - limit: how many of the newest to show.
    public init(_ runs: [HistoryRun], limit: Int = .max, layout: TextLayout = TextLayout()) {
        self.runs = runs
        self.limit = limit
        self.layout = layout
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        if format == .json { return writeJSON(to: writer) }
        var rows = [["run", "when", "calls", "total", "kept", "host", "labels and command"]]
        for run in runs.suffix(limit) {
            let labels = run.labels.map { "\($0.name)=\($0.value)" } + [run.command]
            rows.append([
                "\(run.id)", HistoryText.moment(run), CountText.grouped(run.calls),
                run.mode.hasTimes ? String(time: run.total) : "", run.mode.rawValue, run.host,
                labels.joined(separator: "  "),
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].columns }.max()! }
        let numbers: Set<Int> = [0, 2, 3]
        for (index, row) in rows.enumerated() where !writer.isClosed {
            writer.write(in: index == 0 ? layout.style(.bold) : nil) {
                for (column, cell) in row.enumerated() {
                    if column > 0 { writer.write("  " as StaticString) }
                    let room = widths[column] - cell.columns
                    if numbers.contains(column) { writer.write(spaces: room) }
                    writer.write(cell)
                    if !numbers.contains(column), column + 1 < row.count { writer.write(spaces: room) }
                }
            }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        if runs.count > limit { writer.write(TextLayout.more(runs.count - limit, "runs")) }
    }

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document { json.objects("runs", runs, .each) { HistoryRunReport.writeFields(of: $0, json) } }
    }
}
