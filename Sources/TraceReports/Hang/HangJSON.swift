internal import TraceAnalysis
public import TraceFindings
public import TraceText

/// Writes what is known of a hang as one JSON object on one line. Times are in ns, processor time in percent of a core.
public struct HangJSON {
    private let json: JSONWriter

    public init(_ writer: ByteWriter) { json = writer.json }

    public func write(_ hang: Hang) {
        json.document {
            json.field("kind", hang.kind.rawValue)
            json.field("program", hang.program)
            json.field("pid", hang.pid)
            json.field("thread", hang.thread)
            json.field("thread_name", hang.threadName)
            json.field("started_ns", hang.startRealtime)
            json.field("duration_ns", hang.duration)
            json.field("ended", hang.hasEnded)
            json.field("cpu_percent", rounded(hang.cpuPercent))
            json.field("thread_count", hang.threadCount)
            json.field("memory_bytes", hang.memory)
            write(hang.path)
            json.field("circle", hang.circle)
            if let repeated = hang.repeated {
                json.object("repeated") {
                    json.field("samples", repeated.samples)
                    json.field("in_a_row", repeated.count)
                    json.objects("path", repeated.frames) { frame in
                        json.field("name", frame.name)
                        json.field("repeat_count", frame.count)
                    }
                }
            }
            if !hang.laterPaths.isEmpty {
                json.objects("later_paths", hang.laterPaths) { later in
                    json.field("duration_ns", later.duration)
                    write(later.path)
                }
            }
            json.objects("threads", hang.threads) { thread in
                json.field("name", thread.name)
                json.field("tid", thread.tid)
                json.field("cpu_percent", rounded(thread.cpuPercent))
                json.field("waits_for", thread.waitsFor)
                json.field("wait", thread.wait)
                json.field("owner", thread.owner)
                json.field("library_calls", thread.libraryCalls)
                write(thread.path)
            }
        }
    }

    private func write(_ path: [HangFrame]) {
        json.objects("path", path) { frame in
            json.field("name", frame.name)
            json.field("ns", frame.nanoseconds)
        }
    }

    private func rounded(_ percent: Double) -> Double { (percent * 10).rounded() / 10 }
}
