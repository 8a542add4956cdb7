internal import TraceAnalysis
public import TraceHistory
public import TraceText

/// One run: what is known of it, and the functions with most time of their own.
public struct HistoryRunReport: Report {
    private let run: HistoryRun
    private let content: RunContent
    private let limit: Int
    private let layout: TextLayout

    public init(_ run: HistoryRun, _ content: RunContent, limit: Int = .max, layout: TextLayout = TextLayout()) {
        self.run = run
        self.content = content
        self.limit = limit
        self.layout = layout
    }

    /// Those with most time first, or calls where times were not kept.
    private var functions: [RunContent.Function] {
        content.functions.sorted { left, right in
            (left.sums.selfTime, left.sums.calls, right.identity.name)
                > (right.sums.selfTime, right.sums.calls, left.identity.name)
        }
    }

    public func write(_ format: HistoryListReport.Format, to writer: ByteWriter) {
        if format == .json { return writeJSON(to: writer) }
        let facts = [
            ("run", "\(run.id)"),
            ("when", run.time == 0 ? "" : DateText.utc(secondsSinceEpoch: run.time / 1_000_000_000)),
            ("command", run.command), ("session", run.session), ("host", run.host), ("cpu", run.cpu),
            ("kernel", run.kernel), ("fathom", run.recorder), ("kept", run.mode.rawValue),
            ("calls", CountText.grouped(run.calls)), ("total", run.mode.hasTimes ? String(time: run.total) : ""),
            ("paths", CountText.grouped(UInt64(run.paths))), ("lost", run.lost > 0 ? CountText.grouped(run.lost) : ""),
        ]
        for (name, value) in facts + run.labels where !value.isEmpty {
            writer.write(in: layout.style(.bold)) { writer.write(name) }
            writer.write(spaces: max(1, 10 - name.columns))
            writer.write("\(value)\n")
        }
        for module in content.modules where !module.buildID.isEmpty {
            let path = layout.path(module.path)
            let (name, identity) = layout.fit(
                path, ["  \(module.buildID)", "  \(module.buildID.prefix(8))…"], behind: 10)
            writer.write("module    \(name)\(identity)\n")
        }
        for (name, mark) in content.events.marks.sorted(by: { $0.value.first < $1.value.first }) {
            write(
                "mark      ", name, " at \(String(time: mark.first))\(mark.count > 1 ? ", \(mark.count) times" : "")",
                to: writer)
        }
        for (name, counter) in content.events.counters.sorted(by: { $0.key < $1.key }) {
            let (last, greatest) = (DiffReport.number(counter.value), DiffReport.number(counter.greatest))
            write("counter   ", name, " \(last), at most \(greatest)", to: writer)
        }
        for (measure, value) in content.measures {
            let text = measure.isTime ? String(time: value) : CountText.grouped(value)
            write("measure   ", measure.title, "  \(text)", to: writer)
        }
        writer.write("\n       calls       total        self  function\n" as StaticString)
        let shown = functions
        for function in shown.prefix(limit) where !writer.isClosed {
            writer.write(grouped: function.sums.calls, width: 12)
            writer.write(time: function.sums.total, width: 12)
            writer.write(time: function.sums.selfTime, width: 12)
            writer.write("  \(layout.fit(function.identity.name, behind: 38).name)\n")
        }
        if shown.count > limit { writer.write(TextLayout.more(shown.count - limit)) }
    }

    /// Writes a name that the program gave, with room for what follows it.
    private func write(_ lead: String, _ name: String, _ end: String, to writer: ByteWriter) {
        writer.write("\(lead)\(layout.fit(name.visible, behind: lead.columns + end.columns).name)\(end)\n")
    }

    static func writeFields(of run: HistoryRun, _ json: JSONWriter) {
        json.field("run", run.id)
        json.field("time_ns", run.time)
        json.field("program", run.program)
        json.field("command", run.command)
        json.field("session", run.session)
        json.field("host", run.host)
        json.field("cpu", run.cpu)
        json.field("kernel", run.kernel)
        json.field("fathom", run.recorder)
        json.field("kept", run.mode.rawValue)
        json.field("calls", run.calls)
        json.field("total_ns", run.total)
        json.field("lost", run.lost)
        json.field("functions", run.functions)
        json.field("paths", run.paths)
        json.object("labels", run.labels)
    }

    private func writeJSON(to writer: ByteWriter) {
        let json = writer.json
        json.document {
            HistoryRunReport.writeFields(of: run, json)
            json.line().object("marks") {
                for (name, mark) in content.events.marks.sorted(by: { $0.key < $1.key }) {
                    json.name(of: name)
                    json.object {
                        json.field("first_ns", mark.first)
                        json.field("last_ns", mark.last)
                        json.field("count", mark.count)
                    }
                }
            }
            json.line().object("counters") {
                for (name, counter) in content.events.counters.sorted(by: { $0.key < $1.key }) {
                    json.name(of: name)
                    json.object {
                        json.field("last", counter.value)
                        json.field("greatest", counter.greatest)
                        json.field("count", counter.count)
                    }
                }
            }
            json.line().object("measures") {
                for (measure, value) in content.measures {
                    json.name(of: measure.title)
                    json.value(value)
                }
            }
            json.line().objects("by_function", functions, .each) { function in
                json.field("name", function.identity.name)
                json.field("module", function.identity.module)
                json.field("calls", function.sums.calls)
                json.field("total_ns", function.sums.total)
                json.field("self_ns", function.sums.selfTime)
                json.field("min_ns", function.sums.minimum)
                json.field("max_ns", function.sums.maximum)
                if content.tellsAllocations {
                    json.field("allocations", function.allocations)
                    json.field("allocated_bytes", function.allocatedBytes)
                }
            }
        }
    }
}
