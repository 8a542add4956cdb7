internal import TraceHistory
internal import TraceText

/// The words that all reports of a history share.
enum HistoryText {
    /// A value of a trend, as people read it.
    static func value(_ value: Double, isTime: Bool) -> String {
        isTime ? String(time: DiffReport.nanoseconds(value)) : DiffReport.number(value)
    }

    /// `+5.0 %`; empty when there is no difference, or when there was nothing before.
    static func percent(_ part: Double) -> String { part == 0 ? "" : DiffReport.percent(part) }

    /// A run by its number, with its version or else its first label.
    static func name(_ run: HistoryRun) -> String {
        let label = run.labels.first { $0.name == "version" } ?? run.labels.first
        return "run \(run.id)" + (label.map { " (\($0.value))" } ?? "")
    }

    /// When a run began: `2026-11-21 02:04`; empty when that is not known.
    static func moment(_ run: HistoryRun) -> String {
        run.time == 0 ? "" : String(DateText.utc(secondsSinceEpoch: run.time / 1_000_000_000).dropLast(7))
    }

    /// How sure a change is: `certain`, or the chance to find such a change where there is none.
    static func chance(_ chance: Double) -> String {
        if chance == 0 { return "certain" }
        if chance < 1e-6 { return "chance below 1 in a million" }
        return "by chance 1 in \(CountText.grouped(UInt64((1 / chance).rounded())))"
    }

    /// What the runs have in common.
    static func subject(_ selection: RunSelection.Found) -> String {
        let count = selection.runs.count
        return "\(count) run\(count == 1 ? "" : "s") of \(selection.command)"
            + (selection.host.isEmpty ? "" : " on \(selection.host)")
    }
}
