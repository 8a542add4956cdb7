internal import TraceAnalysis
public import TraceFindings
internal import TraceStatistics
public import TraceText

/// What starts took in an old and a new layout.
public struct VerifyReport: Report {
    /// What was measured.
    public struct Facts {
        public var old: String
        public var new: String
        public var runs: Int
        /// Why no start was cold; nil where some were.
        public var notCold: String?

        public init(old: String, new: String, runs: Int, notCold: String?) {
            self.old = old
            self.new = new
            self.runs = runs
            self.notCold = notCold
        }
    }

    private let comparison: StartComparison
    private let facts: Facts

    public init(_ comparison: StartComparison, _ facts: Facts) {
        self.comparison = comparison
        self.facts = facts
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    private func writeText(to writer: ByteWriter) {
        writer.write(
            "\(facts.runs) starts each, by turns: means, and the change without the most extreme starts with its interval of 95 %\n"
        )
        writer.write("old: \(facts.old.visible)\nnew: \(facts.new.visible)\n")
        for isCold in [true, false] {
            let rows = comparison.rows.filter { $0.isCold == isCold }
            if rows.isEmpty { continue }
            writer.write(
                isCold ? "\ncold, the program's file not in memory\n" : "\nwarm, the program's file in memory\n")
            for row in rows { writer.write(line(row) + "\n") }
        }
        if let reason = facts.notCold { writer.write("\nno cold starts: \(reason)\n") }
        writer.write(comparison.isBetter ? "\nbetter\n" : "\nnot better\n")
    }

    private func line(_ row: StartComparison.Row) -> String {
        let numbers = row.comparison
        var text = VerifyReport.padded(VerifyReport.name(row.measure), 22, isRight: false)
        text += VerifyReport.padded(amount(numbers.before, row.measure), 12)
        text += VerifyReport.padded(amount(numbers.after, row.measure), 12)
        if let interval = numbers.interval, numbers.before > 0 {
            let (low, high) = (interval.lowerBound / numbers.before, interval.upperBound / numbers.before)
            text += VerifyReport.padded(VerifyReport.percent(numbers.estimate / numbers.before), 10)
            text += " (\(VerifyReport.percent(low)) to \(VerifyReport.percent(high)))"
        }
        return row.verdict == .same ? text : text + "  \(row.verdict.rawValue)"
    }

    private static func name(_ measure: StartComparison.Measure) -> String {
        switch measure {
        case .residentPages: "resident file pages"
        case .majorFaults: "major faults"
        case .minorFaults: "minor faults"
        case .time: "time"
        }
    }

    private func amount(_ value: Double, _ measure: StartComparison.Measure) -> String {
        measure == .time ? String(time: UInt64(max(value, 0).rounded())) : CountText.fixed(value, 1)
    }

    private static func percent(_ part: Double) -> String {
        (part < 0 ? "-" : "+") + CountText.fixed(abs(part) * 100, 1) + " %"
    }

    private static func padded(_ text: String, _ width: Int, isRight: Bool = true) -> String {
        let spaces = String(repeating: " ", count: max(0, width - text.utf8.count))
        return isRight ? spaces + text : text + spaces
    }

    /// `{"old","new","runs","better","rows":[{"start","measure","before","after","change","low","high","verdict"}]}`
    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("old", facts.old)
            json.field("new", facts.new)
            json.field("runs", facts.runs)
            json.field("better", comparison.isBetter)
            if let reason = facts.notCold { json.field("not_cold", reason) }
            json.objects("rows", comparison.rows, .each) { row in
                json.field("start", row.isCold ? "cold" : "warm")
                json.field("measure", row.measure.rawValue)
                json.field("before", row.comparison.before)
                json.field("after", row.comparison.after)
                json.field("change", row.comparison.estimate)
                json.field("low", row.comparison.interval?.lowerBound)
                json.field("high", row.comparison.interval?.upperBound)
                json.field("verdict", row.verdict.rawValue)
            }
        }
    }
}
