internal import TraceAnalysis
internal import TraceFile
internal import TraceText

extension DiffReport {
    // MARK: Text

    private static let columnWidth = 10
    /// Of an interval: `+12.3..+14.5 %`.
    private static let intervalWidth = 17
    private static let verdictWidth = 9

    func writeText(to writer: ByteWriter) {
        writeWhole(to: writer)
        if !rows.isEmpty { writeHeadings(to: writer) }
        for row in rows where !writer.isClosed {
            write(row, to: writer)
            writer.write(names(of: row).joined(separator: " → "))
            let function = comparison.functions[row.function]
            if let module = function.module {
                writer.write("  " as StaticString)
                writer.write(module.split(separator: "/").last.map(String.init) ?? module)
                if let file = function.file { writer.write("  \(file):\(function.line)") }
            }
            writer.write(byte: UInt8(ascii: "\n"))
        }
        writeRest(to: writer)
    }

    /// What is not in the rows.
    func writeRest(to writer: ByteWriter) {
        if moreRows > 0 { writer.write("… \(moreRows) more\n") }
        if hiddenCallChanges > 0 {
            let (what, verb) = hiddenCallChanges == 1 ? ("row has", "shows it") : ("rows have", "shows them")
            writer.write(
                "… \(hiddenCallChanges) hidden \(what) another number of calls; --sort calls without --min-cost \(verb) first\n"
            )
        }
        if sameRows > 0 {
            let what = options.subject == .function ? "function" : "path"
            let change = comparison.isRepeated ? "no change beyond noise" : "no change"
            writer.write("… \(sameRows) \(what)\(sameRows == 1 ? "" : "s") with \(change)\n")
        } else if rows.isEmpty {
            writer.write(comparison.isRepeated ? "no change beyond noise\n" : "no change\n" as StaticString)
        }
        for line in noise.lines { writer.write("\(line)\n") }
        if !comparison.isRepeated {
            writer.write("With one run on a side, noise cannot be told from change: " as StaticString)
            writer.write("compare several, recorded by turns (A1 A2 A3 -- B1 B2 B3).\n" as StaticString)
        }
    }

    func writeWhole(to writer: ByteWriter) {
        let (before, after) = (comparison.runsBefore, comparison.runsAfter)
        writer.write("whole: " as StaticString)
        let total = comparison.whole.total
        writer.write(time: DiffReport.nanoseconds(total.sample.before))
        writer.write(" → " as StaticString)
        writer.write(time: DiffReport.nanoseconds(total.sample.after))
        writer.write("  \(DiffReport.percent(total.sample.relativeChange))")
        if comparison.isRepeated {
            writer.write(" (\(DiffReport.interval(total.sample))), ")
            writer.write(total.isBeyondNoise ? "beyond noise" : "within noise" as StaticString)
            if let doubt = total.doubt {
                writer.write(": \(doubt.reason)")
                if let runs = total.runsNeeded { writer.write(" (about \(runs) a side would tell)") }
            }
        }
        let calls = comparison.whole.calls.sample
        if calls.change != 0 {
            writer.write("; \(DiffReport.number(calls.before)) → \(DiffReport.number(calls.after)) calls")
        }
        writer.write("; mean of \(before) \(before == 1 ? "run" : "runs") → \(after) \(after == 1 ? "run" : "runs")\n")
    }

    private func writeHeadings(to writer: ByteWriter) {
        writer.write("            calls" as StaticString)
        for heading in ["change", "self", "after", "change"] { Report.writeHeading(heading, to: writer) }
        if comparison.isRepeated {
            writer.write(
                DiffReport.padded(
                    "\(DiffReport.number(SampleComparison.confidence * 100)) % interval", DiffReport.intervalWidth))
        }
        for heading in ["total", "after", "change"] { Report.writeHeading(heading, to: writer) }
        writer.write("  " + DiffReport.filled("", DiffReport.verdictWidth))
        writer.write(options.subject == .function ? "function\n" : "path\n" as StaticString)
    }

    private func write(_ row: SessionComparison.Row, to writer: ByteWriter) {
        let width = DiffReport.columnWidth
        writer.write(DiffReport.padded(DiffReport.number(row.calls.sample.before), 17))
        writer.write(DiffReport.padded(DiffReport.change(row.calls.sample), width))
        write(row.selfTime.sample, to: writer)
        if comparison.isRepeated {
            writer.write(DiffReport.padded(DiffReport.interval(row.selfTime.sample), DiffReport.intervalWidth))
        }
        write(row.total.sample, to: writer)
        writer.write("  " + DiffReport.filled(verdict(of: row), DiffReport.verdictWidth))
    }

    /// What the row says in a word: of a change that is noise, why.
    private func verdict(of row: SessionComparison.Row) -> String {
        switch row.verdict {
        case .unknown: ""
        case .same: row.doubted.doubt?.rawValue ?? row.verdict.rawValue
        default: row.verdict.rawValue
        }
    }

    private func write(_ sample: SampleComparison, to writer: ByteWriter) {
        let width = DiffReport.columnWidth
        writer.write(time: DiffReport.nanoseconds(sample.before), width: width)
        writer.write(time: DiffReport.nanoseconds(sample.after), width: width)
        writer.write(DiffReport.padded(DiffReport.percent(sample.relativeChange), width))
    }

    static func nanoseconds(_ time: Double) -> UInt64 { UInt64(max(time, 0).rounded()) }

    /// A mean number of calls: whole if it is, else to a tenth.
    static func number(_ number: Double) -> String { decimal(number, digits: number == number.rounded() ? 0 : 1) }

    /// How many calls more or less there are, `+3`; `=` when it is none.
    static func change(_ calls: SampleComparison) -> String {
        calls.change == 0 ? "=" : (calls.change > 0 ? "+" : "-") + number(abs(calls.change))
    }

    /// A change as a part, `+5.0 %`; nothing where nothing was before.
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

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }

    private static func filled(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    // MARK: JSON

    func writeJSON(to writer: ByteWriter) {
        writer.write("{\"runs\":{\"before\":\(comparison.runsBefore),\"after\":\(comparison.runsAfter)},")
        writer.write("\"noise_known\":\(comparison.isRepeated),\"beyond_noise\":")
        writer.write(comparison.isRepeated ? "\(comparison.hasChanges)" : "null")
        writer.write(",\n\"whole\":{" as StaticString)
        writeMetrics(of: comparison.whole, [.calls, .total], to: writer)
        writer.write(options.subject == .function ? "},\n\"functions\":[" : "},\n\"paths\":[" as StaticString)
        for (index, row) in rows.enumerated() where !writer.isClosed {
            writer.write(index == 0 ? "\n{" : ",\n{" as StaticString)
            writeSubject(of: row, to: writer)
            writer.write(",\"verdict\":\"\(row.verdict.rawValue)\",")
            writeMetrics(of: row, SessionComparison.Metric.allCases, to: writer)
            writer.write(byte: UInt8(ascii: "}"))
        }
        writer.write("]}\n" as StaticString)
    }

    private func writeSubject(of row: SessionComparison.Row, to writer: ByteWriter) {
        if row.path != nil {
            writer.write("\"path\":[" as StaticString)
            for (position, name) in names(of: row).enumerated() {
                if position > 0 { writer.write(byte: UInt8(ascii: ",")) }
                writer.write(json: name)
            }
            writer.write(byte: UInt8(ascii: "]"))
        } else {
            writer.write("\"name\":" as StaticString)
            writer.write(json: comparison.functions[row.function].name)
        }
        let function = comparison.functions[row.function]
        writer.write(jsonPlaceOf: function)
    }

    private func writeMetrics(
        of row: SessionComparison.Row, _ metrics: [SessionComparison.Metric], to writer: ByteWriter
    ) {
        for (index, metric) in metrics.enumerated() {
            let value = row[metric]
            let sample = value.sample
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            writer.write("\"\(metric.rawValue)\(metric == .calls ? "" : "_ns")\":{")
            writer.write("\"before\":\(sample.before),\"after\":\(sample.after),\"change\":\(sample.change),")
            writer.write("\"relative_change\":\(sample.relativeChange.isFinite ? "\(sample.relativeChange)" : "null"),")
            if let interval = sample.interval, let chance = sample.chance {
                writer.write("\"interval\":[\(interval.lowerBound),\(interval.upperBound)],\"p\":\(chance),")
                writer.write("\"beyond_noise\":\(value.isBeyondNoise),\"doubt\":")
                writer.write(value.doubt.map { "\"\($0.rawValue)\"}" } ?? "null}")
            } else {
                writer.write("\"interval\":null,\"p\":null,\"beyond_noise\":null,\"doubt\":null}" as StaticString)
            }
        }
    }
}
