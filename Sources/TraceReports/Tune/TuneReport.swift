public import TraceAnalysis
public import TraceFindings
public import TraceText

/// What to leave without hooks, and what that saves: a list that `fathom build --exclude-list` reads, or JSON.
public struct TuneReport: Report {
    private let tuning: HookTuning
    private let session: String
    private let bytes: UInt64
    private let costPerCall: Double
    private let isMeasured: Bool
    private let layout: TextLayout

    /// - Parameters:
    ///   - session: how the user named the session.
    ///   - bytes: of the records of all its calls.
    ///   - measured: what hooks cost this program; without it, or if it was too little to be measured, costs are estimated by
    ///     ``TraceAnalysis/TracingCost/usual``.
    ///   - layout: what comments fit in. Patterns are never cut: they are to be copied.
    public init(
        _ tuning: HookTuning, session: String, bytes: UInt64, measured: TracingCost?, layout: TextLayout = TextLayout()
    ) {
        self.tuning = tuning
        self.session = session
        self.bytes = bytes
        self.layout = layout
        let perCall = measured?.perCall ?? 0
        isMeasured = perCall > 0
        costPerCall = isMeasured ? perCall : TracingCost.usual
    }

    public func write(_ format: ReportFormat, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        }
    }

    // MARK: Before and after

    private var callsLeft: UInt64 { tuning.all.calls &- tuning.excluded.calls }
    private var bytesLeft: UInt64 { UInt64((Double(bytes) * part(callsLeft, of: tuning.all.calls)).rounded()) }

    private func part(_ number: UInt64, of all: UInt64) -> Double { all == 0 ? 1 : Double(number) / Double(all) }

    private func percent(_ number: UInt64, of all: UInt64) -> String {
        CountText.fixed(all == 0 ? 0 : Double(number) / Double(all) * 100, 1) + " %"
    }

    private func cost(_ calls: UInt64) -> UInt64 { UInt64((Double(calls) * costPerCall).rounded()) }

    /// What the list changes, a line each.
    public var summary: [String] {
        let (before, after) = (tuning.all.calls, callsLeft)
        let swift =
            tuning.swiftFunctions == 0
            ? []
            : [
                "Swift functions that are short and called much: \(tuning.swiftFunctions), which stay: --exclude-list is for C "
                    + "and C++"
            ]
        let further = tuning.further.map { further in
            let patterns = further.patterns.map { "\($0.pattern) (\(percent($0.calls, of: before)))" }
            return "calls that stay: \(patterns.joined(separator: ", ")); --keep \(further.keep) leaves them out, too"
        }
        return [
            "calls: \(CountText.grouped(before)), then \(CountText.grouped(after)) (\(percent(after, of: before)))",
            "cost of tracing: \(String(time: cost(before))), then \(String(time: cost(after))), at \(CountText.fixed(costPerCall, 1)) ns a call "
                + (isMeasured ? "as measured" : "(assumed: record --baseline measures it)"),
            "recording: \(CountText.size(bytes)), then about \(CountText.size(bytesLeft))",
            "call paths: \(hundredths(tuning.keptPercent)) % of their total time stays"
                + (tuning.systemHeaders.calls > 0 ? ", but for those of system headers" : ""),
            "self time: \(hundredths(100 - tuning.keptSelfPercent)) % moves to callers of functions left out",
        ] + (tuning.exclusions.isEmpty ? ["nothing to leave out: none saves enough for what it would lose"] : [])
            + [further].compactMap { $0 } + swift
    }

    private func hundredths(_ percent: Double) -> String { CountText.fixed(percent, 2) }

    // MARK: Text

    private func writeText(to writer: ByteWriter) {
        write(comment: "Functions to leave out: fathom build --exclude-list THIS-FILE -- COMMAND", to: writer)
        let shown = session.contains("\n") ? "SESSION" : session  // a line of a comment, and no more
        write(comment: "By fathom tune \(shown), times \(tuning.cost == nil ? "raw" : "corrected")", to: writer)
        for line in summary { write(comment: line, to: writer) }
        let longest = tuning.exclusions.map(\.pattern.columns).max() ?? 0
        let width = min(longest, layout.width.map { max($0 - TuneReport.remarkWidth, 0) } ?? 40, 40)
        for exclusion in tuning.exclusions where !writer.isClosed {
            write(exclusion.pattern, width, remark: remark(on: exclusion), to: writer)
            for other in exclusion.others {
                write(other, width, remark: "goes with \(exclusion.pattern)", to: writer)
            }
        }
        for obstacle in tuning.obstacles.prefix(10) where !writer.isClosed {
            let part = percent(obstacle.calls, of: tuning.all.calls)
            write(
                comment: "kept: \(obstacle.pattern), \(part) of calls: gcc would leave out \(obstacle.name) too",
                to: writer)
        }
    }

    /// The columns that most remarks take.
    private static let remarkWidth = 56

    private func remark(on exclusion: HookTuning.Exclusion) -> String {
        let sums = exclusion.sums
        var text = "\(percent(sums.calls, of: tuning.all.calls)) of calls, "
        text += "\(percent(sums.selfTime, of: tuning.all.selfTime)) of self time, avg "
        text += String(time: sums.calls == 0 ? 0 : sums.total / sums.calls)
        if exclusion.names.count > 1 { text += ", \(CountText.grouped(UInt64(exclusion.names.count))) functions" }
        return exclusion.isOfSystemHeaders ? text + " of system headers" : text
    }

    /// Writes a pattern with a remark behind it, or below it where there is no room.
    private func write(_ pattern: String, _ width: Int, remark: String, to writer: ByteWriter) {
        writer.write(pattern)
        let taken = max(pattern.columns, width)
        if let limit = layout.width, taken + 4 + remark.columns > limit {
            writer.write(byte: UInt8(ascii: "\n"))
            return write(comment: remark, indentation: 2, to: writer)
        }
        writer.write(spaces: taken - pattern.columns)
        writer.write(in: layout.style(.dim)) { writer.write("  # \(remark)") }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    /// Writes lines that say something and leave out nothing.
    private func write(comment: String, indentation: Int = 0, to writer: ByteWriter) {
        let start = "# " + String(repeating: " ", count: indentation)
        let lines = layout.width.map { comment.wrapped(to: $0 - start.count) } ?? comment
        for line in lines.split(separator: "\n") {
            writer.write(in: layout.style(.dim)) { writer.write("\(start)\(line)") }
            writer.write(byte: UInt8(ascii: "\n"))
        }
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        func write(_ name: StaticString, _ calls: UInt64, _ bytes: UInt64) {
            json.object(name) {
                json.field("calls", calls)
                json.field("cost_ns", cost(calls))
                json.field("bytes", bytes)
            }
        }
        json.document {
            json.field("times", tuning.cost == nil ? "raw" : "corrected")
            json.field("cost_per_call_ns", raw: CountText.fixed(costPerCall, 1))
            json.field("cost_is_measured", isMeasured)
            write("before", tuning.all.calls, bytes)
            write("after", callsLeft, bytesLeft)
            json.field("kept_total_percent", raw: hundredths(tuning.keptPercent))
            json.field("kept_self_percent", raw: hundredths(tuning.keptSelfPercent))
            json.objects("exclude", tuning.exclusions, .each) { exclusion in
                json.field("pattern", exclusion.pattern)
                json.field("others", exclusion.others)
                json.field("functions", exclusion.names)
                json.field("system_headers", exclusion.isOfSystemHeaders)
                json.field("calls", exclusion.sums.calls)
                json.field("total_ns", exclusion.sums.total)
                json.field("self_ns", exclusion.sums.selfTime)
            }
            json.name("further")
            if let further = tuning.further {
                json.object {
                    json.field("keep_percent", further.keep)
                    json.objects("exclude", further.patterns) { pattern, calls in
                        json.field("pattern", pattern)
                        json.field("calls", calls)
                    }
                }
            } else {
                json.null()
            }
            json.field("swift_functions", tuning.swiftFunctions)
            json.objects("kept", tuning.obstacles, .each) { obstacle in
                json.field("pattern", obstacle.pattern)
                json.field("calls", obstacle.calls)
                json.field("because_of", obstacle.name)
            }
        }
    }
}
