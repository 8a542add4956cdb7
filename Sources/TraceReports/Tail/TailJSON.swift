internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

/// Writes why a function's slowest calls are slow as one JSON document. Times of paths are own time in ns, means over the calls
/// compared, and add up to those calls' means.
struct TailJSON {
    private let report: TailReport
    private let writer: ByteWriter
    private var tail: TailComparison { report.tail }

    init(_ report: TailReport, _ writer: ByteWriter) {
        self.report = report
        self.writer = writer
    }

    func write() {
        writer.write("{\(TimesText(nil).json)\"function\":")
        writer.write(json: report.options.function)
        writer.write(",\"calls\":\(tail.durations.calls),\"difference_ns\":\(tail.difference.json)")
        write("slow", tail.slow)
        write("typical", tail.typical)
        if tail.partial.calls > 0 {
            writer.write(",\"partial\":{\"calls\":\(tail.partial.calls),\"longest_ns\":\(tail.partial.longest)}")
        }
        if tail.dropped.calls > 0 {
            writer.write(",\"dropped\":{\"calls\":\(tail.dropped.calls),\"time_ns\":\(tail.dropped.time)}")
        }
        list("percentiles", [0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100] as [UInt64]) { percent in
            writer.write("{\"percent\":\(percent),\"duration_ns\":\(tail.durations.percentile(percent))}")
        }
        list("histogram", report.histogram.rows) { row in
            writer.write("{\"from_ns\":\(row.from),\"to_ns\":\(row.to),\"calls\":\(row.calls)}")
        }
        list("paths", tail.pathsByOwnDifference) { write(path: $0) }
        list("slowest", tail.slowest.prefix(report.options.calls)) { write($0) }
        writer.write("}\n" as StaticString)
    }

    private func list<Element>(_ name: String, _ elements: some Sequence<Element>, _ body: (Element) -> Void) {
        writer.write(",\n\"\(name)\":[")
        for (index, element) in elements.enumerated() where !writer.isClosed {
            writer.write(index == 0 ? "\n" : ",\n" as StaticString)
            body(element)
        }
        writer.write(byte: UInt8(ascii: "]"))
    }

    private func write(_ name: String, _ side: TailComparison.Side) {
        writer.write(
            ",\n\"\(name)\":{\"calls\":\(side.calls),\"mean_ns\":\(side.mean.json),"
                + "\"from_ns\":\(side.durations.lowerBound),\"to_ns\":\(side.durations.upperBound)}")
    }

    private func write(path index: Int) {
        let path = tail.path(index)
        writer.write("{\"path\":" as StaticString)
        write(path: tail.functions(ofPath: index))
        writer.write(
            ",\"slow_ns\":\(path.slow.own.json),\"typical_ns\":\(path.typical.own.json),"
                + "\"difference_ns\":\(path.ownDifference.json),\"slow_total_ns\":\(path.slow.total.json),"
                + "\"typical_total_ns\":\(path.typical.total.json),\"slow_calls\":\(path.slow.calls.json),"
                + "\"typical_calls\":\(path.typical.calls.json)}")
    }

    private func write(path functions: [UInt32]) {
        writer.write(byte: UInt8(ascii: "["))
        for (index, name) in report.names(functions).enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            writer.write(json: name)
        }
        writer.write(byte: UInt8(ascii: "]"))
    }

    private func write(_ call: TailComparison.SlowCall) {
        writer.write("{\"name\":" as StaticString)
        writer.write(json: tail.functions[call.function].name)
        writer.write(
            ",\"start_ns\":\(call.start),\"duration_ns\":\(call.duration),\"pid\":\(call.thread.process.pid),\"program\":"
        )
        writer.write(json: call.thread.process.programName)
        writer.write(",\"tid\":\(call.thread.tid)")
        if let task = call.thread.task { writer.write(",\"task\":\(task)") }
        writer.write(",\"thread\":" as StaticString)
        writer.write(json: call.thread.name)
        if call.isUnwound { writer.write(",\"state\":\"unwound\"" as StaticString) }
        if let mark = call.mark {
            writer.write(",\"mark\":" as StaticString)
            writer.write(json: mark.name)
            writer.write(",\"mark_ns\":\(mark.moment)")
        }
        writer.write(",\"cause\":" as StaticString)
        write(path: tail.causes[call.cause])
        writer.write(byte: UInt8(ascii: "}"))
    }
}
