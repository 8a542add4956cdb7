internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceStatistics
internal import TraceText

extension DiffReport {
    // MARK: Text

    func writeText(to writer: ByteWriter) {
        let layout = options.layout
        writeWhole(to: writer)
        let columns = columns
        if !rows.isEmpty { write(columns, to: writer) }
        let taken = columns.reduce(0) { $0 + $1.width }
        for row in rows where !writer.isClosed {
            for column in columns { write(column, of: row, to: writer) }
            let places = layout.places(of: comparison.functions[row.function])
            let (name, place) = layout.fit(names(of: row).joined(separator: " → "), places, behind: taken)
            writer.write(name)
            writer.write(in: layout.style(.dim)) { writer.write(place) }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        writeRest(to: writer)
    }

    /// Writes what is not in the rows.
    func writeRest(to writer: ByteWriter) {
        if moreRows > 0 { writer.write(TextLayout.more(moreRows)) }
        if hiddenCallChanges > 0 {
            let (what, verb) = hiddenCallChanges == 1 ? ("row has", "shows it") : ("rows have", "shows them")
            writer.write(
                options.layout.sentence(
                    "… \(hiddenCallChanges) hidden \(what) another number of calls; --sort calls\(options.minCost > 0 ? " without --min-cost" : "") \(verb) first\n"
                ))
        }
        if sameRows > 0 {
            let what = options.subject == .function ? "function" : "path"
            let change = comparison.isRepeated ? "no change beyond noise" : "no change"
            writer.write("… \(sameRows) \(what)\(sameRows == 1 ? "" : "s") with \(change)\n")
        } else if rows.isEmpty {
            writer.write(comparison.isRepeated ? "no change beyond noise\n" : "no change\n" as StaticString)
        }
        for line in noise.lines { writer.write(options.layout.sentence("\(line)\n")) }
        if !comparison.isRepeated { writer.write(options.layout.sentence(DiffReport.oneRun)) }
    }

    private static let oneRun = """
        With one run on a side, noise cannot be told from change: compare several, recorded by turns (A1 A2 A3 -- B1 B2 B3).

        """

    // MARK: Columns

    private static let intervalHeading = "\(number(SampleComparison.confidence * 100)) % interval"

    /// What is told before a name.
    private enum Column {
        case calls, callsChange
        case selfBefore, selfAfter, selfChange, selfInterval
        case totalBefore, totalAfter, totalChange
        case verdict

        static let all: [Column] = [
            .calls, .callsChange, .selfBefore, .selfAfter, .selfChange, .selfInterval, .totalBefore, .totalAfter,
            .totalChange, .verdict,
        ]
        /// Those that may give way to names, the first one first.
        static let firstToGo: [Column] = [.selfInterval, .totalBefore, .totalAfter, .selfBefore, .calls, .totalChange]

        var width: Int {
            switch self {
            case .calls: 17
            case .selfInterval: 17  // +12.3..+14.5 %
            case .verdict: 11
            default: 10
            }
        }

        var heading: String {
            switch self {
            case .calls, .callsChange: "calls"
            case .selfBefore, .selfAfter, .selfChange: "self"
            case .totalBefore, .totalAfter, .totalChange: "total"
            case .selfInterval: DiffReport.intervalHeading
            case .verdict: ""
            }
        }

        /// What it is called behind the first column of the same numbers.
        var furtherHeading: String {
            switch self {
            case .callsChange, .selfChange, .totalChange: "change"
            case .selfAfter, .totalAfter: "after"
            default: heading
            }
        }
    }

    private var columns: [Column] {
        let columns = Column.all.filter { $0 != .selfInterval || comparison.isRepeated }
        guard options.layout.width != nil else { return columns }
        let widths = rows.map { row in
            let place = options.layout.places(of: comparison.functions[row.function]).first ?? ""
            return names(of: row).joined(separator: " → ").columns + place.columns
        }
        return options.layout.chosen(of: columns, dropping: Column.firstToGo, names: widths.max() ?? 0) { $0.width }
    }

    private func write(_ columns: [Column], to writer: ByteWriter) {
        writer.write(in: options.layout.style(.bold)) {
            var told: Set<String> = []
            for column in columns {
                let heading = told.insert(column.heading).inserted ? column.heading : column.furtherHeading
                writer.write(DiffReport.padded(heading, column.width))
            }
            writer.write(options.subject == .function ? "function" : "path" as StaticString)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func write(_ column: Column, of row: SessionComparison.Row, to writer: ByteWriter) {
        let (own, total) = (row.selfTime.sample, row.total.sample)
        switch column {
        case .calls: writer.write(DiffReport.padded(DiffReport.number(row.calls.sample.before), column.width))
        case .callsChange:
            let text = DiffReport.change(row.calls.sample)
            writer.write(in: style(of: row.calls)) { writer.write(DiffReport.padded(text, column.width)) }
        case .selfBefore: writer.write(time: DiffReport.nanoseconds(own.before), width: column.width)
        case .selfAfter: writer.write(time: DiffReport.nanoseconds(own.after), width: column.width)
        case .totalBefore: writer.write(time: DiffReport.nanoseconds(total.before), width: column.width)
        case .totalAfter: writer.write(time: DiffReport.nanoseconds(total.after), width: column.width)
        case .selfChange: writeChange(row.selfTime, column.width, to: writer)
        case .totalChange: writeChange(row.total, column.width, to: writer)
        case .selfInterval: writer.write(DiffReport.padded(DiffReport.interval(own), column.width))
        case .verdict:
            let verdict = word(of: row)
            writer.write("  " as StaticString)
            writer.write(in: style(of: row.verdict)) { writer.write(verdict) }
            writer.write(spaces: column.width - 2 - verdict.utf8.count)
        }
    }

    private func writeChange(_ value: SessionComparison.Value, _ width: Int, to writer: ByteWriter) {
        writer.write(in: style(of: value)) {
            writer.write(DiffReport.padded(DiffReport.percent(value.sample.relativeChange), width))
        }
    }

    /// How a change stands out: red for more, green for less, and not at all when it may be noise.
    private func style(of value: SessionComparison.Value) -> TextStyle? {
        guard value.isBeyondNoise, value.sample.change != 0 else { return nil }
        return options.layout.style(value.sample.change > 0 ? .red : .green)
    }

    private func style(of verdict: SessionComparison.Verdict) -> TextStyle? {
        switch verdict {
        case .slower, .new: options.layout.style(.red)
        case .faster, .gone: options.layout.style(.green)
        case .calls, .callees, .same, .unknown: nil
        }
    }

    // MARK: The whole

    func writeWhole(to writer: ByteWriter) {
        let total = comparison.whole.total
        let change = DiffReport.percent(total.sample.relativeChange)
        let times = [total.sample.before, total.sample.after].map { String(time: DiffReport.nanoseconds($0)) }
        let start = "all\(options.part.map { ", \($0) time" } ?? ""): \(times[0]) → \(times[1])  "
        let noise =
            comparison.isRepeated
            ? " (\(DiffReport.interval(total.sample))), \(total.isBeyondNoise ? "beyond noise" : "within noise")" : ""
        writer.write(start)
        writer.write(in: style(of: total)) { writer.write(change) }
        writer.write(noise)
        var columns = start.columns + change.columns + noise.columns
        for (separator, detail) in wholeDetails where !detail.isEmpty {
            let fits = options.layout.width.map { columns + separator.columns + detail.columns <= $0 } ?? true
            columns = (fits ? columns + separator.columns : 0) + detail.columns
            writer.write(fits ? separator : "\n")
            writer.write(detail)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Why the change of the whole is noise, how the number of calls has changed, and what was compared.
    private var wholeDetails: [(separator: String, detail: String)] {
        let total = comparison.whole.total, calls = comparison.whole.calls.sample
        var doubt = total.doubt?.reason ?? ""
        if !doubt.isEmpty, let runs = total.runsNeeded { doubt += " (about \(runs) a side would tell)" }
        let numbers =
            calls.change == 0 ? "" : "\(DiffReport.number(calls.before)) → \(DiffReport.number(calls.after)) calls"
        let (before, after) = (comparison.runsBefore, comparison.runsAfter)
        let runs = "mean of \(before) \(before == 1 ? "run" : "runs") → \(after) \(after == 1 ? "run" : "runs")"
        return [(": ", doubt), ("; ", numbers), ("; ", runs)]
    }

    /// What the row says in a word: of a change that is noise, why.
    private func word(of row: SessionComparison.Row) -> String {
        switch row.verdict {
        case .unknown: ""
        case .same: row.doubted.doubt?.rawValue ?? row.verdict.rawValue
        default: row.verdict.rawValue
        }
    }

    static func nanoseconds(_ time: Double) -> UInt64 { UInt64(max(time, 0).rounded()) }

    /// A mean number of calls: whole if it is, else to a tenth.
    static func number(_ number: Double) -> String { decimal(number, digits: number == number.rounded() ? 0 : 1) }

    /// How many calls more or less there are, `+3`; `=` when it is none.
    static func change(_ calls: SampleComparison) -> String {
        calls.change == 0 ? "=" : (calls.change > 0 ? "+" : "-") + number(abs(calls.change))
    }

    /// Returns a change as a part, `+5.0 %`; nothing where nothing was before.
    static func percent(_ part: Double) -> String {
        part.isFinite ? (part >= 0 ? "+" : "-") + decimal(abs(part) * 100, digits: 1) + " %" : ""
    }

    /// The interval of a change as parts of what was before.
    private static func interval(_ sample: SampleComparison) -> String {
        guard let interval = sample.interval, sample.before > 0 else { return "" }
        let ends = [interval.lowerBound, interval.upperBound].map { end in
            (end >= 0 ? "+" : "-") + decimal(abs(end / sample.before) * 100, digits: 1)
        }
        return "\(ends[0])..\(ends[1]) %"
    }

    static func decimal(_ number: Double, digits: Int) -> String {
        guard number < 1e15 else { return "\(number)" }
        let scale = digits == 0 ? 1.0 : 10.0
        let scaled = UInt64((number * scale).rounded())
        return digits == 0 ? "\(scaled)" : "\(scaled / 10).\(scaled % 10)"
    }

    /// Behind at least one space, which keeps what is wider than its column apart from the one before.
    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 1)) + text
    }

    // MARK: JSON

    func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.object("runs") {
                json.field("before", comparison.runsBefore)
                json.field("after", comparison.runsAfter)
            }
            json.field("noise_known", comparison.isRepeated)
            json.field("beyond_noise", comparison.isRepeated ? comparison.hasChanges : nil)
            json.line().object("whole") { write([.calls, .total], of: comparison.whole, json) }
            json.line().objects(options.subject == .function ? "functions" : "paths", rows, .each) { row in
                let function = comparison.functions[row.function]
                if row.path != nil { json.field("path", names(of: row)) } else { json.field("name", function.name) }
                json.fields(placeOf: function)
                json.field("verdict", row.verdict.rawValue)
                write(SessionComparison.Metric.allCases, of: row, json)
            }
        }
    }

    private func write(_ metrics: [SessionComparison.Metric], of row: SessionComparison.Row, _ json: JSONWriter) {
        for metric in metrics {
            let value = row[metric]
            let sample = value.sample
            json.name(of: metric.rawValue + (metric == .calls ? "" : "_ns"))
            json.object {
                json.field("before", sample.before)
                json.field("after", sample.after)
                json.field("change", sample.change)
                json.field("relative_change", sample.relativeChange)
                // Each is known if the other is.
                let isKnown = sample.interval != nil && sample.chance != nil
                json.field("interval", isKnown ? sample.interval.map { [$0.lowerBound, $0.upperBound] } : nil)
                json.field("p", isKnown ? sample.chance : nil)
                json.field("beyond_noise", isKnown ? value.isBeyondNoise : nil)
                json.field("doubt", isKnown ? value.doubt?.rawValue : nil)
            }
        }
    }
}
