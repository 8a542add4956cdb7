internal import TraceAnalysis
public import TraceHistory
internal import TraceStatistics
public import TraceText

/// What changed between runs, for people, programs, or a comment on a change.
public struct ChangesReport: Report {
    public enum Format: String, CaseIterable, Sendable { case text, json, markdown }

    private let changes: HistoryChanges
    private let layout: TextLayout
    private let limit: Int

    /// Followers that are named.
    private static let mostNamed = 4

    /// - Parameter limit: how many changes to show.
    public init(_ changes: HistoryChanges, limit: Int = .max, layout: TextLayout = TextLayout()) {
        self.changes = changes
        self.limit = limit
        self.layout = layout
    }

    public func write(_ format: Format, to writer: ByteWriter) {
        switch format {
        case .text: writeText(to: writer)
        case .json: writeJSON(to: writer)
        case .markdown: writeMarkdown(to: writer)
        }
    }

    private typealias Change = HistoryChanges.Change

    private func time(_ value: Double) -> String { String(time: DiffReport.nanoseconds(value)) }

    /// `1,000 → 1,001 calls` or `10.0 ms → 10.4 ms, +4.0 %`.
    private func what(_ change: Change) -> String {
        if change.isOfCalls {
            let calls = change.calls
            return "\(DiffReport.number(calls.before)) → \(DiffReport.number(calls.after)) calls"
        }
        let own = change.own
        return "own time \(time(own.before)) → \(time(own.after)), \(HistoryText.percent(own.relativeChange))"
    }

    /// The time that goes with a change of calls.
    private func cost(_ change: Change) -> String {
        guard change.isOfCalls, change.total.before > 0 || change.total.after > 0 else { return "" }
        let total = change.total
        return "total \(time(total.before)) → \(time(total.after))"
    }

    private func followers(_ change: Change) -> String {
        guard !change.followers.isEmpty else { return "" }
        let names = change.followers.prefix(ChangesReport.mostNamed).map(\.function.name).joined(separator: ", ")
        let more = change.followers.count - ChangesReport.mostNamed
        return (change.isOfCalls ? "and with it what it calls: " : "and with it its callers: ")
            + names + (more > 0 ? " and \(more) more" : "")
    }

    /// What changed of the run as a whole, and of its measures.
    private var whole: [String] {
        func lines(_ title: String, isTime: Bool, _ points: [ChangePoint]) -> [String] {
            points.map { point in
                let values = [point.before, point.after].map { isTime ? time($0) : DiffReport.number($0) }
                return
                    "\(title): \(values[0]) → \(values[1]), \(HistoryText.percent(point.relativeChange)), since "
                    + HistoryText.name(changes.runs[point.index])
            }
        }
        return lines("total", isTime: true, changes.whole)
            + changes.measures.flatMap { lines($0.measure.title.visible, isTime: $0.measure.isTime, $0.points) }
    }

    /// What is not told.
    private var rest: String {
        if !changes.tellsCalls {
            return "too few runs to tell what changed: calls need \(HistoryChanges.leastRunsOfCalls), times "
                + "\(HistoryChanges.leastRuns); fathom diff compares two recordings\n"
        }
        if changes.tellsTimes || !changes.runs[0].mode.hasTimes { return "" }
        return "times need \(HistoryChanges.leastRuns) runs to tell a change from noise: only calls are compared\n"
    }

    private func writeText(to writer: ByteWriter) {
        writer.write(in: layout.style(.bold)) { writer.write("\(HistoryText.subject(changes.selection))\n") }
        for line in whole { writer.write("\(line)\n") }
        for change in changes.changes.prefix(limit) where !writer.isClosed {
            let run = changes.runs[change.index]
            let isMore = (change.isOfCalls ? change.calls.change : change.own.change) > 0
            writer.write(in: layout.style(isMore ? .red : .green)) {
                writer.write(layout.fit(change.function.name, behind: 0).name)
            }
            writer.write("\n    \(what(change)), since \(HistoryText.name(run))")
            if !change.isOfCalls { writer.write(", \(HistoryText.chance(change.chance))") }
            writer.write(byte: UInt8(ascii: "\n"))
            for line in [cost(change), followers(change)] where !line.isEmpty {
                writer.write(in: layout.style(.dim)) { writer.write("    \(line)") }
                writer.write(byte: UInt8(ascii: "\n"))
            }
        }
        if changes.changes.count > limit { writer.write(TextLayout.more(changes.changes.count - limit)) }
        if changes.changes.isEmpty, whole.isEmpty, changes.tellsCalls {
            writer.write("nothing changed\n" as StaticString)
        }
        writer.write(layout.sentence(rest))
    }

    private func writeMarkdown(to writer: ByteWriter) {
        writer.write(
            "**\(changes.changes.count) change\(changes.changes.count == 1 ? "" : "s")** in \(changes.runs.count) run\(changes.runs.count == 1 ? "" : "s") of "
        )
        writer.write(DiffReport.code(changes.selection.command))
        writer.write("\n\n" as StaticString)
        for line in whole { writer.write("- \(line)\n") }
        if !changes.changes.isEmpty {
            writer.write(
                "\n| function | what | since | how sure | with it |\n| --- | --- | --- | --- | --- |\n" as StaticString)
        }
        for change in changes.changes.prefix(limit) where !writer.isClosed {
            let cost = cost(change)
            writer.write(
                "| \(DiffReport.code(change.function.name)) | \(what(change))\(cost.isEmpty ? "" : ", \(cost)") | ")
            writer.write("\(DiffReport.code(HistoryText.name(changes.runs[change.index]))) | ")
            writer.write("\(HistoryText.chance(change.chance)) | ")
            let names = change.followers.prefix(ChangesReport.mostNamed).map { DiffReport.code($0.function.name) }
            writer.write(names.joined(separator: ", "))
            if change.followers.count > names.count {
                writer.write(" and \(change.followers.count - names.count) more")
            }
            writer.write(" |\n" as StaticString)
        }
        writer.write("\n\(rest)")
    }

    // MARK: JSON

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            json.field("program", changes.selection.program)
            json.field("command", changes.selection.command)
            json.field("host", changes.selection.host)
            json.field("runs", changes.runs.count)
            json.field("tells_times", changes.tellsTimes)
            json.line().objects("whole", changes.whole, .each) { point in
                json.field("run", changes.runs[point.index].id)
                json.field("before_ns", point.before)
                json.field("after_ns", point.after)
                json.field("chance", point.chance)
            }
            let measures = changes.measures.flatMap { one in one.points.map { (one.measure, $0) } }
            json.line().objects("measures", measures, .each) { measure, point in
                json.field("name", measure.title)
                json.field("run", changes.runs[point.index].id)
                json.field("before", point.before)
                json.field("after", point.after)
                json.field("chance", point.chance)
            }
            json.line().objects("changes", changes.changes, .each) { change in
                let run = changes.runs[change.index]
                json.field("function", change.function.name)
                json.field("module", change.function.module)
                json.field("kind", change.isOfCalls ? "calls" : "time")
                json.field("index", change.index)
                json.field("run", run.id)
                json.object("labels", run.labels)
                json.field("calls", [change.calls.before, change.calls.after])
                json.field("self_ns", [change.own.before, change.own.after])
                json.field("total_ns", [change.total.before, change.total.after])
                json.field("chance", change.chance)
                json.objects("followers", change.followers) { follower in
                    json.field("function", follower.function.name)
                    json.field("calls", [follower.calls.before, follower.calls.after])
                    json.field("total_ns", [follower.total.before, follower.total.after])
                }
            }
        }
    }
}
