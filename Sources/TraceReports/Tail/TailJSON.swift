internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Writes why a function's slowest calls are slow as one JSON document. Times of paths are own time in ns, means over the calls
/// compared, and add up to those calls' means.
struct TailJSON {
    private let report: TailReport
    private let json: JSONWriter
    private var tail: TailComparison { report.tail }

    init(_ report: TailReport, _ writer: ByteWriter) {
        self.report = report
        json = writer.json
    }

    func write() {
        json.document {
            TimesText(nil).writeFields(json)
            json.field("function", report.options.function)
            json.field("calls", tail.durations.calls)
            json.field("difference_ns", tail.difference)
            json.line().object("slow") { writeFields(of: tail.slow) }
            json.line().object("typical") { writeFields(of: tail.typical) }
            if tail.partial.calls > 0 {
                json.object("partial") {
                    json.field("calls", tail.partial.calls)
                    json.field("longest_ns", tail.partial.longest)
                }
            }
            if tail.dropped.calls > 0 {
                json.object("dropped") {
                    json.field("calls", tail.dropped.calls)
                    json.field("time_ns", tail.dropped.time)
                }
            }
            let percents: [UInt64] = [0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100]
            json.line().objects("percentiles", percents, .each) { percent in
                json.field("percent", percent)
                json.field("duration_ns", tail.durations.percentile(percent))
            }
            json.line().objects("histogram", report.histogram.rows, .each) { row in
                json.field("from_ns", row.from)
                json.field("to_ns", row.to)
                json.field("calls", row.calls)
            }
            json.line().objects("paths", tail.pathsByOwnDifference, .each) { writeFields(ofPath: $0) }
            json.line().objects("slowest", tail.slowest.prefix(report.options.calls), .each) { writeFields(of: $0) }
        }
    }

    private func writeFields(of side: TailComparison.Side) {
        json.field("calls", side.calls)
        json.field("mean_ns", side.mean)
        json.field("from_ns", side.durations.lowerBound)
        json.field("to_ns", side.durations.upperBound)
    }

    private func writeFields(ofPath index: Int) {
        let path = tail.path(index)
        json.field("path", report.names(tail.functions(ofPath: index)))
        json.field("slow_ns", path.slow.own)
        json.field("typical_ns", path.typical.own)
        json.field("difference_ns", path.ownDifference)
        json.field("slow_total_ns", path.slow.total)
        json.field("typical_total_ns", path.typical.total)
        json.field("slow_calls", path.slow.calls)
        json.field("typical_calls", path.typical.calls)
    }

    private func writeFields(of call: TailComparison.SlowCall) {
        json.field("name", tail.functions[call.function].name)
        json.field("start_ns", call.start)
        json.field("duration_ns", call.duration)
        json.field("pid", call.thread.process.pid)
        json.field("program", call.thread.process.programName)
        json.field("tid", call.thread.tid)
        if let task = call.thread.task { json.field("task", task) }
        json.field("thread", call.thread.name)
        if call.isUnwound { json.field("state", "unwound") }
        if let mark = call.mark {
            json.field("mark", mark.name)
            json.field("mark_ns", mark.moment)
        }
        json.field("cause", report.names(tail.causes[call.cause]))
    }
}
