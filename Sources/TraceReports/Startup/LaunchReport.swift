internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// A launch plan beside a start: text, or a member of JSON.
public struct LaunchReport {
    private let comparison: LaunchComparison
    /// Scopes that ran; tasks that did not may mean one of them.
    private let scopes: [String]

    public init(_ comparison: LaunchComparison, scopes: [String]) {
        self.comparison = comparison
        self.scopes = scopes
    }

    private func id(_ task: Int) -> String { comparison.plan.tasks[task].id }

    private func list(_ tasks: [Int]) -> String { tasks.map(id).joined(separator: ", ") }

    private var path: String {
        comparison.critical.tasks.map { "\(id($0)) (\(String(time: comparison.costs[$0])))" }.joined(separator: " → ")
    }

    func text(_ difference: LaunchComparison.Difference) -> String {
        switch difference {
        case .order(let task, let dependency, let early):
            return
                "order broken: \(id(task)) began \(String(time: early)) before \(id(dependency)) was over, on which it depends"
        case .wait(let task, let other, let time):
            return "not in the plan: \(id(task)) waited \(String(time: time)) for \(id(other))"
        case .thread(let task):
            let (wanted, found) = (comparison.plan.tasks[task].thread ?? "", comparison.runs[task]?.thread ?? "")
            return "other thread: \(id(task)) ran on \(found), not on \(wanted)"
        case .missing(let task):
            let expected = comparison.plan.tasks[task].expected
            let near = NearNames(to: id(task), among: scopes).question
            return "did not run: no scope '\(id(task))' was entered before the end\(near)"
                + (expected.map { "; it is reckoned with as \(String(time: $0))" } ?? "")
        }
    }

    func text(_ change: LaunchComparison.Change) -> String {
        switch change.kind {
        case .delay: "\(String(time: change.gain)): do \(id(change.task)) after the end"
        case .beside(let others):
            "\(String(time: change.gain)): do \(id(change.task)) on another thread"
                + (others.isEmpty ? "" : ", beside \(list(others))")
        }
    }

    /// Those of text.
    var lines: [String] {
        let count = comparison.plan.tasks.count, width = comparison.width
        var lines = [
            "",
            "plan: \(count) \(count == 1 ? "task" : "tasks"), \(String(time: comparison.actual)) as they ran",
            "critical path: \(String(time: comparison.critical.time)): \(path)",
            "ideal end with \(width) \(width == 1 ? "thread" : "threads"): \(String(time: comparison.ideal.end))"
                + (comparison.ideal.isBest ? "" : ", or less: there are too many orders to try all"),
        ]
        lines += comparison.differences.map { "  " + text($0) }
        if !comparison.changes.isEmpty { lines.append("What would be gained, each by itself:") }
        lines += comparison.changes.map { "  " + text($0) }
        return lines
    }

    func writeFields(_ json: JSONWriter) {
        json.field("actual_ns", comparison.actual)
        json.field("width", comparison.width)
        json.field("ideal_ns", comparison.ideal.end)
        json.field("ideal_is_best", comparison.ideal.isBest)
        json.field("critical_path_ns", comparison.critical.time)
        json.array("critical_path", comparison.critical.tasks, .allButFirst) { json.value(id($0)) }
        json.line().objects("tasks", comparison.plan.tasks.indices, .allButFirst) { task in
            json.field("id", id(task))
            json.field("ns", comparison.costs[task])
            json.field("ideal_begin_ns", comparison.ideal.begins[task])
            json.field("ideal_end_ns", comparison.ideal.ends[task])
            if let run = comparison.runs[task] {
                json.field("begin_ns", run.begin)
                json.field("end_ns", run.end)
                json.field("thread", run.thread)
            }
        }
        json.line().array("differences", comparison.differences, .allButFirst) { json.value(text($0)) }
        json.line().objects("changes", comparison.changes, .allButFirst) { change in
            json.field("gain_ns", change.gain)
            json.field("text", text(change))
        }
    }

    /// Writes a plan as a file that can be read again.
    public static func write(_ plan: LaunchPlan, to writer: ByteWriter) {
        writer.write("{\"tasks\": [" as StaticString)
        for (index, task) in plan.tasks.enumerated() {
            writer.write(index == 0 ? "\n  {\"id\": " : ",\n  {\"id\": " as StaticString)
            writer.write(json: task.id)
            writer.write(", \"category\": " as StaticString)
            task.category.writeValue(to: writer.json)
            writer.write(", \"dependencies\": [" as StaticString)
            for (number, dependency) in task.dependencies.enumerated() {
                if number > 0 { writer.write(", " as StaticString) }
                writer.write(json: dependency)
            }
            writer.write("], \"thread\": " as StaticString)
            task.thread.writeValue(to: writer.json)
            writer.write(", \"priority\": \(task.priority)}")
        }
        writer.write("\n]}\n" as StaticString)
    }
}
