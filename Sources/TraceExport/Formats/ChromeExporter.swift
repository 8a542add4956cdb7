internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Chrome's trace events as begin and end pairs: "Trace Event Format", JSON array form.
///
/// Calls are pairs, because several complete events of length 0 at one moment would lose their order. The file is in
/// the array form, because a truncated one still loads. Ends have names, too, because some importers match them.
struct ChromeExporter: Exporter {
    /// Perfetto's interface reads these files as well; chrome://tracing gives up at 256 MB.
    static let limit: ViewerLimit? = ViewerLimit(
        viewer: "a Chrome trace viewer", depth: 512, calls: 1_000_000, bytes: 250_000_000, callBytes: 130,
        namesPerCall: 2)

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tracks = ChromeTracks(writer, functions: source.functions)
        writer.json.beginArray()
        let summary = source.write(to: &tracks, limit: ChromeExporter.limit)
        writer.write("\n]\n" as StaticString)
        return summary
    }
}

private struct ChromeTracks: TrackWriter {
    private let json: JSONWriter
    private let functions: FunctionTable
    private var pid: UInt64 = 0
    private var tid: UInt64 = 0
    private var layouts: [UInt32: ArgumentLayout] = [:]
    private var namedProcesses: Set<UInt32> = []
    /// Each lane needs a thread id of its own: these ids are above any that Linux gives (PID_MAX_LIMIT).
    private var nextLaneID: UInt64 = 1 << 22

    init(_ writer: ByteWriter, functions: FunctionTable) {
        json = writer.json
        self.functions = functions
    }

    var wantsMore: Bool { !json.bytes.isClosed }

    mutating func begin(_ track: Track) {
        pid = UInt64(track.process.pid)
        layouts = track.process.argumentLayouts
        tid = UInt64(track.thread.tid)
        if track.lane != 0 {
            nextLaneID += 1
            tid = nextLaneID
        }
        if namedProcesses.insert(track.process.index).inserted {
            describe("process_name", track.process.programName)
        }
        describe("thread_name", track.name)
    }

    mutating func enter(_ call: TreeCall) {
        begin("B", at: call.start)
        json.field("name", functions[call.function].name)
        if let mark = call.mark { json.field("cat", mark) }
        if !call.arguments.isEmpty || !call.result.isEmpty {
            let result = call.result.result(by: layouts).map { [(name: "returned", value: $0)] } ?? []
            json.object("args", call.arguments.values(by: layouts) + result)
        }
        json.endObject()
    }

    /// Viewers show what an end says of its call together with what its begin says.
    mutating func leave(_ call: TreeCall) {
        begin("E", at: call.end)
        json.field("name", functions[call.function].name)
        if let offCPU = call.offCPU, !offCPU.isZero {
            json.object("args") {
                json.field("running_ns", call.total &- offCPU.blocked &- offCPU.runnable)
                json.field("blocked_ns", offCPU.blocked)
                json.field("runnable_ns", offCPU.runnable)
            }
        }
        json.endObject()
    }

    /// A counter belongs to the process, as the format has it.
    mutating func show(_ event: TreeEvent) {
        begin(event.value == nil ? "i" : "C", at: event.moment)
        json.field("name", event.name)
        if let value = event.value {
            json.object("args") { json.field("value", value) }
        } else {
            json.field("s", "t")
            json.field("cat", "mark")
        }
        json.endObject()
    }

    mutating func endTrack() {}

    /// Begins an event.
    ///
    /// - Parameter time: in ns, and written in µs, the format's unit, with ns as decimals.
    private func begin(_ phase: StaticString, at time: UInt64? = nil) {
        json.beginObject(.each)
        json.field("ph", phase)
        json.field("pid", pid)
        json.field("tid", tid)
        guard let time else { return }
        json.field("ts", time / 1000)
        json.bytes.write(byte: UInt8(ascii: "."))
        for scale: UInt64 in [100, 10, 1] { json.bytes.write(byte: UInt8(ascii: "0") + UInt8(time / scale % 10)) }
    }

    private func describe(_ what: StaticString, _ name: String) {
        begin("M")
        json.field("name", what)
        json.object("args") { json.field("name", name) }
        json.endObject()
    }
}
