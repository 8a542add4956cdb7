internal import TraceAnalysis
public import TraceHistory
public import TraceText

/// What a gate found: text for people, Markdown for a summary, JSON for programs, JUnit's XML for those who show tests.
public struct GateReport: Report {
    public enum Format: String, CaseIterable, Sendable {
        case text, markdown, json, junit

        /// The format of a file whose name ends like this, without the dot; nil when it does not say.
        public init?(ending: String) {
            switch ending {
            case "txt": self = .text
            case "md": self = .markdown
            case "xml": self = .junit
            default: self.init(rawValue: ending)
            }
        }
    }

    private let result: GateResult
    private let layout: TextLayout

    /// Functions that are named.
    private static let mostFunctions = 20

    /// - Parameter layout: of the text.
    public init(_ result: GateResult, layout: TextLayout = TextLayout()) {
        self.result = result
        self.layout = layout
    }

    /// In one line: what is worse, or why nobody can tell.
    public var headline: String {
        switch result.finding {
        case .nothing(let reason): return reason
        case .counts(let counts):
            let more = counts.differences.filter { $0.after > $0.before }
            let fewer = counts.differences.count - more.count
            if let first = more.first {
                let others = more.count - 1
                return
                    "\(first.function.name): \(CountText.grouped(first.before)) → \(CountText.grouped(first.after)) \(first.what.rawValue)"
                    + (others > 0
                        ? ", and \(others) more number\(others == 1 ? "" : "s") that \(others == 1 ? "is" : "are") greater"
                        : "")
            }
            return fewer > 0
                ? "no function has more calls, and \(fewer) \(fewer == 1 ? "has" : "have") fewer"
                : "every function has as many calls as before"
        case .times(let judgement, let subject, let percent, let limit, _):
            let what = "\(GateReport.percentile(percent)) of \(subject.title)"
            let change = GateReport.change(judgement, isTime: subject.isTime)
            let allowed = "\(DiffReport.percent(limit)) allowed"
            switch judgement.verdict {
            case .fine: return "\(what): \(change), \(allowed)"
            case .worse: return "\(what): \(change), \(allowed)"
            case .unknown:
                let runs = judgement.runsNeeded.map { needed in
                    let lacking = max(needed - min(judgement.baseline.runs, judgement.candidate.runs), 1)
                    return
                        "about \(CountText.grouped(UInt64(lacking))) more run\(lacking == 1 ? "" : "s") of each side would tell"
                }
                return
                    "\(what): \(change), \(allowed); \(runs ?? "the difference is at the limit, and more runs would hardly tell")"
            }
        }
    }

    private static func percentile(_ percent: Double) -> String {
        "p" + (percent == percent.rounded() ? String(Int(percent)) : String(percent))
    }

    private static func change(_ judgement: GateJudgement, isTime: Bool) -> String {
        let (before, after) = (judgement.baseline.value, judgement.candidate.value)
        let part = before > 0 ? " (\(DiffReport.percent((after - before) / before)))" : ""
        return "\(text(before, isTime: isTime)) → \(text(after, isTime: isTime))\(part)"
    }

    private static func text(_ value: Double, isTime: Bool) -> String {
        isTime ? time(value) : DiffReport.number(value)
    }

    private static func time(_ value: Double) -> String { String(time: DiffReport.nanoseconds(value)) }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .markdown: writeMarkdown(to: writer)
        case .json: writeJSON(to: writer)
        case .junit: writeJUnit(to: writer)
        }
    }

    // MARK: Text and Markdown

    /// What text and Markdown show of the finding.
    private struct Table {
        var name: String
        /// Whether names are of functions.
        var isOfFunctions = true
        var columns: [String]
        var rows: [(name: String, cells: [String])]
        /// Behind a row.
        var remarks: [String] = []
    }

    private var title: String {
        switch result.verdict {
        case .fine: "Passed"
        case .worse: "Worse"
        case .unknown: "Could not tell"
        }
    }

    private var tables: [Table] {
        switch result.finding {
        case .nothing: return []
        case .counts(let counts):
            let rows = counts.differences.map { difference in
                let isMore = difference.after > difference.before
                let size = isMore ? difference.after - difference.before : difference.before - difference.after
                let change = (isMore ? "+" : "-") + CountText.grouped(size)
                return (
                    name: difference.function.name + (difference.what == .allocations ? ", allocations" : ""),
                    cells: [CountText.grouped(difference.before), CountText.grouped(difference.after), change]
                )
            }
            let remarks = counts.differences.map { $0.follows ? ", by its callers" : "" }
            return [
                Table(
                    name: "function", columns: [counts.comparesAllocations ? "before" : "calls", "now", "change"],
                    rows: rows, remarks: remarks)
            ]
        case .times(let judgement, let subject, let percent, _, let functions):
            func text(_ value: Double) -> String { GateReport.text(value, isTime: subject.isTime) }
            let sides = [("baseline", judgement.baseline), ("candidate", judgement.candidate)].map { side, estimate in
                let bounds = [estimate.lower, estimate.upper].map { $0.map(text) ?? "?" }
                return (name: side, cells: ["\(estimate.runs)", text(estimate.value)] + bounds)
            }
            let rows = functions.map { function in
                let times = [function.own.before, function.own.after].map(GateReport.time)
                return (
                    name: function.function.name, cells: times + [HistoryText.percent(function.own.relativeChange)]
                )
            }
            return [
                Table(
                    name: "side", isOfFunctions: false,
                    columns: ["runs", GateReport.percentile(percent), "between", "and"], rows: sides),
                Table(name: "function", columns: ["own time", "now", "change"], rows: rows),
            ]
        }
    }

    /// What is to be said besides.
    ///
    /// - Parameter name: how a function's name is written.
    private func remarks(_ name: (String) -> String) -> [String] {
        guard case .counts(let counts) = result.finding else { return [] }
        var remarks: [String] = []
        if counts.baselineRuns == 1, !counts.differences.isEmpty {
            remarks.append("The baseline is one run, which does not tell which numbers vary by themselves.")
        }
        if !counts.varying.isEmpty {
            let names = counts.varying.prefix(5).map { name($0.name) }.joined(separator: ", ")
            remarks.append(
                "\(counts.varying.count) functions are called by chance more or less often, and are not compared: \(names)"
            )
        }
        return remarks
    }

    private static let width = 11

    private func writeText(to writer: ByteWriter) {
        let style: TextStyle =
            switch result.verdict {
            case .fine: .green
            case .worse: .red
            case .unknown: .yellow
            }
        writer.write(in: layout.style(style)) { writer.write(title) }
        writer.write(String(layout.sentence("\(title): \(headline)\n").dropFirst(title.count)))
        let baseline = result.baseline.isEmpty ? "" : ", compared with \(result.baseline)"
        writer.write(layout.sentence("\(result.command)\(baseline)\n"))
        for table in tables where !table.rows.isEmpty {
            writer.write(byte: UInt8(ascii: "\n"))
            func write(_ cells: [String], _ name: String) {
                for cell in cells {
                    writer.write(spaces: GateReport.width - cell.columns)
                    writer.write(cell)
                }
                writer.write("  \(layout.fit(name, behind: cells.count * GateReport.width + 2).name)")
            }
            writer.write(in: layout.style(.bold)) { write(table.columns, table.name) }
            writer.write(byte: UInt8(ascii: "\n"))
            for (index, row) in table.rows.prefix(GateReport.mostFunctions).enumerated() {
                write(row.cells, row.name + (index < table.remarks.count ? table.remarks[index] : ""))
                writer.write(byte: UInt8(ascii: "\n"))
            }
            writeMore(table.rows.count, to: writer)
        }
        for remark in remarks({ $0 }) { writer.write("\n" + layout.sentence(remark + "\n")) }
    }

    private func writeMarkdown(to writer: ByteWriter) {
        writer.write("**\(title)**: \(DiffReport.code(headline))\n\n")
        let baseline = result.baseline.isEmpty ? "" : ", compared with \(DiffReport.code(result.baseline))"
        writer.write("\(DiffReport.code(result.command))\(baseline)\n")
        for table in tables where !table.rows.isEmpty {
            let marks = table.columns.map { _ in " --: |" }.joined()
            writer.write("\n| \(table.name) | \(table.columns.joined(separator: " | ")) |\n| --- |\(marks)\n")
            for (index, row) in table.rows.prefix(GateReport.mostFunctions).enumerated() {
                let name = table.isOfFunctions ? DiffReport.code(row.name) : row.name
                let remark = index < table.remarks.count ? table.remarks[index] : ""
                writer.write("| \(name) | \(row.cells.joined(separator: " | "))\(remark) |\n")
            }
            writeMore(table.rows.count, to: writer)
        }
        for remark in remarks(DiffReport.code) { writer.write("\n\(remark)\n") }
    }

    private func writeMore(_ count: Int, to writer: ByteWriter) {
        if count > GateReport.mostFunctions {
            writer.write("\nand \(count - GateReport.mostFunctions) more functions\n")
        }
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("verdict", result.verdict.rawValue)
            json.field("headline", headline)
            json.field("command", result.command)
            json.field("baseline", result.baseline)
            switch result.finding {
            case .nothing: break
            case .counts(let counts):
                json.field("baseline_runs", counts.baselineRuns)
                json.field("varying", counts.varying.count)
                json.objects("functions", counts.differences, .each) { difference in
                    json.field("name", difference.function.name)
                    json.name(of: difference.what.rawValue)
                    json.value([difference.before, difference.after])
                    json.field("follows", difference.follows)
                }
            case .times(let judgement, let subject, let percent, let limit, let functions):
                json.field("subject", subject.title)
                json.field("percentile", percent)
                json.field("limit", limit)
                json.object("before") { writeFields(of: judgement.baseline, isTime: subject.isTime, json) }
                json.object("after") { writeFields(of: judgement.candidate, isTime: subject.isTime, json) }
                json.field("runs_needed", judgement.runsNeeded)
                json.objects("functions", functions, .each) { function in
                    json.field("name", function.function.name)
                    json.field("self_ns", [function.own.before, function.own.after])
                }
            }
        }
    }

    private func writeFields(of side: GateJudgement.Estimate, isTime: Bool, _ json: JSONWriter) {
        json.field("runs", side.runs)
        json.field(isTime ? "ns" : "count", side.value)
        json.field(isTime ? "from_ns" : "from", side.lower)
        json.field(isTime ? "to_ns" : "to", side.upper)
    }

    // MARK: JUnit

    /// Writes one test: one that passed, one that failed, or one that was skipped because nobody could tell.
    public func writeJUnit(to writer: ByteWriter) {
        let (failures, skipped) = (result.verdict == .worse ? 1 : 0, result.verdict == .unknown ? 1 : 0)
        writer.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" as StaticString)
        writer.write(
            "<testsuite name=\"fathom gate\" tests=\"1\" failures=\"\(failures)\" skipped=\"\(skipped)\" errors=\"0\">\n"
        )
        writer.write("<testcase classname=\"fathom.gate\" name=\"" as StaticString)
        writer.write(markup: result.command)
        writer.write("\">\n" as StaticString)
        if result.verdict != .fine {
            let name: StaticString = result.verdict == .worse ? "failure" : "skipped"
            writer.write("<\(name) message=\"")
            writer.write(markup: headline)
            writer.write("\"/>\n" as StaticString)
        }
        writer.write("<system-out>" as StaticString)
        var text = ""
        let lines = ByteWriter { bytes in
            text += String(decoding: bytes, as: UTF8.self)
            return true
        }
        writeMarkdown(to: lines)
        lines.flush()
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            writer.write(markup: String(line))
            writer.write("\n" as StaticString)
        }
        writer.write("</system-out>\n</testcase>\n</testsuite>\n" as StaticString)
    }
}
