internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// The Firefox Profiler's processed profile
/// (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md), version 62.
///
/// A track is a thread. Its samples are the stretches between one enter or leave and the next: each holds the stack
/// that ran, when it began to run and, as its weight, for how long. So the profiler's call tree and timeline hold every
/// nanosecond. The samples of a track are kept in memory until its end, because the format has them by column.
struct FirefoxExporter: Exporter {
    /// Browsers give up on files of some 500 MB, and a call takes about 45 bytes.
    static let limit: ViewerLimit? = ViewerLimit(
        viewer: "the Firefox Profiler", depth: 4000, calls: 2_000_000, bytes: 400_000_000, callBytes: 44,
        namesPerCall: 0)
    private static let version = 62

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        writer.write("{\"meta\":{\"interval\":1," as StaticString)
        writer.write(
            "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}," as StaticString)
        writer.write("\"startTime\":" as StaticString)
        writer.write(milliseconds: source.session.startRealtimeNanoseconds)
        writer.write(",\"processType\":0,\"product\":" as StaticString)
        writer.write(json: source.session.description?.command.joined(separator: " ") ?? "fathom")
        writer.write(",\"stackwalk\":0,\"debug\":false,\"version\":24,\"preprocessedProfileVersion\":")
        writer.write(decimal: UInt64(FirefoxExporter.version))
        writer.write(",\"symbolicated\":true,\"usesOnlyOneStackType\":true," as StaticString)
        writer.write("\"markerSchema\":[{\"name\":\"counter\",\"display\":[\"marker-chart\",\"marker-table\"],")
        writer.write("\"fields\":[{\"key\":\"value\",\"label\":\"Value\",\"format\":\"decimal\"}]," as StaticString)
        writer.write("\"graphs\":[{\"key\":\"value\",\"type\":\"line\",\"color\":\"blue\"}]}]," as StaticString)
        writer.write("\"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{\"id\":[],\"name\":[]," as StaticString)
        writer.write("\"baseURL\":[],\"length\":0},\"categories\":" as StaticString)
        writer.write(column: FirefoxCategory.allCases) { writer.write($0.description) }
        writer.write("},\n\"pages\":[],\"profilerOverhead\":[],\"threads\":[" as StaticString)
        var tracks = FirefoxTracks(writer, functions: source.functions)
        let summary = source.write(to: &tracks, limit: FirefoxExporter.limit)
        writer.write("],\n" as StaticString)
        tracks.counters.write(to: writer)
        var tables = FirefoxTables(writer, source, tracks.frames, names: tracks.names)
        tables.write(stacks: tracks.stacks)
        writer.write("}\n" as StaticString)
        return summary
    }
}

private struct FirefoxTracks: TrackWriter {
    private let writer: ByteWriter
    private let functions: FunctionTable
    private(set) var frames = FrameNumbers()
    /// Stacks by number, each as its innermost frame and the number of the stack below it, or -1; and the numbers by
    /// stack.
    private(set) var stacks: [(frame: Int32, prefix: Int32)] = []
    private var numbers: [UInt64: Int32] = [:]
    private var open: [Int32] = []
    private var samples = FirefoxSamples()
    /// The track's marks and values of counters, each with the number of its name and the ns since the session's start.
    private var marks: [(name: UInt32, moment: UInt64, value: Double?)] = []
    /// The names of marks and counters.
    private(set) var names = NumberedTexts()
    private(set) var counters = FirefoxCounters()
    private var track: Track?
    private var threads = 0

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
    }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) {
        self.track = track
        samples.removeAll()
        marks.removeAll(keepingCapacity: true)
    }

    mutating func enter(_ call: TreeCall) {
        samples.add(open.last, until: call.start)
        let key = UInt64(UInt32(bitPattern: open.last ?? -1)) << 32 | UInt64(frames.frame(of: call.function))
        let stack = numbers[key] ?? Int32(stacks.count)
        if Int(stack) == stacks.count {
            numbers[key] = stack
            stacks.append((Int32(truncatingIfNeeded: key), open.last ?? -1))
        }
        open.append(stack)
    }

    mutating func leave(_ call: TreeCall) {
        samples.add(open.last, until: call.end)
        open.removeLast()
    }

    mutating func show(_ event: TreeEvent) {
        let number = names.number(of: event.name)
        marks.append((number, event.moment, event.value))
        guard let value = event.value, let process = track?.process else { return }
        counters.add(event.name, number, value, at: event.moment, of: process, thread: threads)
    }

    mutating func endTrack() {
        guard let track else { return }
        writer.write(threads == 0 ? "\n{\"name\":" : ",\n{\"name\":" as StaticString)
        threads += 1
        writer.write(json: track.name)
        writer.write(",\"processName\":" as StaticString)
        writer.write(json: track.process.programName)
        let isMain = track.thread.tid == track.process.pid && track.lane == 0
        writer.write(",\"isMainThread\":\(isMain),\"pid\":\"\(track.process.pid)\",\"tid\":\"\(track.thread.tid)")
        if track.lane != 0 { writer.write(".\(track.lane)") }
        writer.write("\",\"processType\":\"default\",\"processStartupTime\":0," as StaticString)
        writer.write("\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null," as StaticString)
        writer.write("\"pausedRanges\":[],\"showMarkersInTimeline\":false," as StaticString)
        writer.write("\"markers\":{\"length\":\(marks.count),\"name\":")
        writer.write(column: marks) { writer.write(decimal: UInt64($0.name)) }
        writer.write(",\"startTime\":" as StaticString)
        writer.write(column: marks) { writer.write(milliseconds: $0.moment) }
        writer.write(",\"data\":" as StaticString)
        writer.write(column: marks) {
            writer.write($0.value.map { "{\"type\":\"counter\",\"value\":\($0.json)}" } ?? "null")
        }
        // Phase 0 stands for an instant.
        writer.write(constants: ["endTime": "null", "phase": "0", "category": "0"], marks.count)
        writer.write("}," as StaticString)
        writer.write("\"samples\":{\"weightType\":\"tracing-ms\",\"length\":\(samples.count),\"stack\":")
        writer.write(column: samples) { writer.write(decimal: UInt64($0.stack)) }
        writer.write(",\"weight\":" as StaticString)
        writer.write(column: samples) { writer.write(milliseconds: $0.length) }
        writer.write(",\"time\":" as StaticString)
        writer.write(column: samples) { writer.write(milliseconds: $0.start) }
        if let offCPU = track.thread.offCPU() { write(processorTime: OffCPU.Cursor(offCPU)) }
        writer.write("}}" as StaticString)
    }

    /// What the thread had a CPU between each sample's beginning and that of the one before it, in ns.
    private func write(processorTime cursor: OffCPU.Cursor) {
        var cursor = cursor
        var last: UInt64?
        writer.write(",\"threadCPUDelta\":" as StaticString)
        writer.write(column: samples) { sample in
            defer { last = sample.start }
            guard let last else { return writer.write("null" as StaticString) }
            let times = cursor.times(from: last, to: sample.start)
            writer.write(decimal: sample.start &- last &- times.blocked &- times.runnable)
        }
    }
}

extension ByteWriter {
    /// Writes a time in ms, with ns as decimals.
    func write(milliseconds nanoseconds: UInt64) {
        write(decimal: nanoseconds / 1_000_000)
        write(byte: UInt8(ascii: "."))
        var scale: UInt64 = 100_000
        while scale > 0 {
            write(byte: UInt8(ascii: "0") + UInt8(nanoseconds / scale % 10))
            scale /= 10
        }
    }

    /// Writes a JSON array.
    func write<Values: Sequence>(column values: Values, _ writeOne: (Values.Element) -> Void) {
        write(byte: UInt8(ascii: "["))
        var needsComma = false
        for value in values {
            if needsComma { write(byte: UInt8(ascii: ",")) }
            needsComma = true
            writeOne(value)
        }
        write(byte: UInt8(ascii: "]"))
    }

    /// Writes columns in which all rows are alike, as further members of an object.
    func write(constants columns: KeyValuePairs<String, String>, _ count: Int) {
        for (name, value) in columns {
            write(",\"\(name)\":")
            write(column: 0..<count) { _ in write(value) }
        }
    }
}
