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
        writer.write("[" as StaticString)
        let summary = source.write(to: &tracks, limit: ChromeExporter.limit)
        writer.write("\n]\n" as StaticString)
        return summary
    }
}

private struct ChromeTracks: TrackWriter {
    private let writer: ByteWriter
    private let functions: FunctionTable
    private var needsComma = false
    private var pid: UInt64 = 0
    private var tid: UInt64 = 0
    private var layouts: [UInt32: ArgumentLayout] = [:]
    private var namedProcesses: Set<UInt32> = []
    /// Each lane needs a thread id of its own: these ids are above any that Linux gives (PID_MAX_LIMIT).
    private var nextLaneID: UInt64 = 1 << 22

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
    }

    var wantsMore: Bool { !writer.isClosed }

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
        event("B")
        write(microseconds: call.start)
        writer.write(",\"name\":" as StaticString)
        writer.write(json: functions[call.function].name)
        if let mark = call.mark {
            writer.write(",\"cat\":\"" as StaticString)
            writer.write(mark)
            writer.write("\"" as StaticString)
        }
        if !call.arguments.isEmpty || !call.result.isEmpty {
            writer.write(",\"args\":" as StaticString)
            let result = call.result.result(by: layouts).map { [(name: "returned", value: $0)] } ?? []
            writer.write(jsonObject: call.arguments.values(by: layouts) + result)
        }
        writer.write("}" as StaticString)
    }

    /// Viewers show what an end says of its call together with what its begin says.
    mutating func leave(_ call: TreeCall) {
        event("E")
        write(microseconds: call.end)
        writer.write(",\"name\":" as StaticString)
        writer.write(json: functions[call.function].name)
        if let offCPU = call.offCPU, !offCPU.isZero {
            let running = call.total &- offCPU.blocked &- offCPU.runnable
            writer.write(
                ",\"args\":{\"running_ns\":\(running),\"blocked_ns\":\(offCPU.blocked),"
                    + "\"runnable_ns\":\(offCPU.runnable)}")
        }
        writer.write("}" as StaticString)
    }

    /// A counter belongs to the process, as the format has it.
    mutating func show(_ event: TreeEvent) {
        self.event(event.value == nil ? "i" : "C")
        write(microseconds: event.moment)
        writer.write(",\"name\":" as StaticString)
        writer.write(json: event.name)
        if let value = event.value {
            writer.write(",\"args\":{\"value\":\(value.json)}}")
        } else {
            writer.write(",\"s\":\"t\",\"cat\":\"mark\"}" as StaticString)
        }
    }

    mutating func endTrack() {}

    private mutating func event(_ phase: StaticString) {
        writer.write(needsComma ? ",\n{\"ph\":\"" : "\n{\"ph\":\"" as StaticString)
        needsComma = true
        writer.write(phase)
        writer.write("\",\"pid\":" as StaticString)
        writer.write(decimal: pid)
        writer.write(",\"tid\":" as StaticString)
        writer.write(decimal: tid)
    }

    /// Writes a time in the format's unit, with ns as decimals.
    private func write(microseconds nanoseconds: UInt64) {
        writer.write(",\"ts\":" as StaticString)
        writer.write(decimal: nanoseconds / 1000)
        writer.write(byte: UInt8(ascii: "."))
        for scale: UInt64 in [100, 10, 1] {
            writer.write(byte: UInt8(ascii: "0") + UInt8(nanoseconds / scale % 10))
        }
    }

    private mutating func describe(_ what: StaticString, _ name: String) {
        event("M")
        writer.write(",\"name\":\"" as StaticString)
        writer.write(what)
        writer.write("\",\"args\":{\"name\":" as StaticString)
        writer.write(json: name)
        writer.write("}}" as StaticString)
    }
}
