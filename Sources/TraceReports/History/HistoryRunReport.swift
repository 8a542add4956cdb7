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
            writer.write(decimal: function.sums.calls, width: 12)
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

    static func write(_ run: HistoryRun, to writer: ByteWriter) {
        writer.write("{\"run\":\(run.id),\"time_ns\":\(run.time)")
        let texts = [
            ("program", run.program), ("command", run.command), ("session", run.session), ("host", run.host),
            ("cpu", run.cpu), ("kernel", run.kernel), ("fathom", run.recorder), ("kept", run.mode.rawValue),
        ]
        for (name, text) in texts {
            writer.write(",\"\(name)\":")
            writer.write(json: text)
        }
        writer.write(",\"calls\":\(run.calls),\"total_ns\":\(run.total),\"lost\":\(run.lost)")
        writer.write(",\"functions\":\(run.functions),\"paths\":\(run.paths),\"labels\":")
        writer.write(jsonObject: run.labels)
    }

    private func writeJSON(to writer: ByteWriter) {
        HistoryRunReport.write(run, to: writer)
        writer.write(",\n\"marks\":{" as StaticString)
        for (index, (name, mark)) in content.events.marks.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            writer.write(json: name)
            writer.write(":{\"first_ns\":\(mark.first),\"last_ns\":\(mark.last),\"count\":\(mark.count)}")
        }
        writer.write("},\n\"counters\":{" as StaticString)
        for (index, (name, counter)) in content.events.counters.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            writer.write(json: name)
            writer.write(
                ":{\"last\":\(counter.value.json),\"greatest\":\(counter.greatest.json),\"count\":\(counter.count)}")
        }
        writer.write("},\n\"measures\":" as StaticString)
        for (index, (measure, value)) in content.measures.enumerated() {
            writer.write(byte: UInt8(ascii: index == 0 ? "{" : ","))
            writer.write(json: measure.title)
            writer.write(":\(value)")
        }
        writer.write(content.measures.isEmpty ? "{},\n\"by_function\":[" : "},\n\"by_function\":[" as StaticString)
        for (index, function) in functions.enumerated() where !writer.isClosed {
            writer.write(index == 0 ? "\n{\"name\":" : ",\n{\"name\":" as StaticString)
            writer.write(json: function.identity.name)
            writer.write(",\"module\":" as StaticString)
            writer.write(json: function.identity.module)
            let sums = function.sums
            writer.write(",\"calls\":\(sums.calls),\"total_ns\":\(sums.total),\"self_ns\":\(sums.selfTime),")
            writer.write("\"min_ns\":\(sums.minimum),\"max_ns\":\(sums.maximum)")
            if content.tellsAllocations {
                writer.write(",\"allocations\":\(function.allocations),\"allocated_bytes\":\(function.allocatedBytes)")
            }
            writer.write(byte: UInt8(ascii: "}"))
        }
        writer.write("]}\n" as StaticString)
    }
}
