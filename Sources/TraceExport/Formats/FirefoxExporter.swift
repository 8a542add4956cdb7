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
        let json = writer.json
        json.beginObject()
        json.object("meta") {
            json.field("interval", 1)
            json.field("sampleUnits", raw: #"{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"}"#)
            json.name("startTime")
            writer.write(milliseconds: source.session.startRealtimeNanoseconds)
            json.field("processType", 0)
            json.field("product", source.session.description?.command.joined(separator: " ") ?? "fathom")
            json.field("stackwalk", 0)
            json.field("debug", false)
            json.field("version", 24)
            json.field("preprocessedProfileVersion", FirefoxExporter.version)
            json.field("symbolicated", true)
            json.field("usesOnlyOneStackType", true)
            json.field("markerSchema", raw: FirefoxExporter.markerSchema)
            json.field("sourceCodeIsNotOnSearchfox", true)
            json.field("extensions", raw: #"{"id":[],"name":[],"baseURL":[],"length":0}"#)
            json.objects("categories", FirefoxCategory.allCases) { $0.writeFields(json) }
        }
        json.line().array("pages") {}
        json.array("profilerOverhead") {}
        json.beginArray("threads")
        var tracks = FirefoxTracks(writer, functions: source.functions)
        let summary = source.write(to: &tracks, limit: FirefoxExporter.limit)
        json.endArray()
        tracks.counters.write(json.line())
        var tables = FirefoxTables(json, source, tracks.frames, names: tracks.names)
        tables.write(stacks: tracks.stacks)
        json.endDocument()
        return summary
    }

    /// How counters are shown.
    private static let markerSchema =
        #"[{"name":"counter","display":["marker-chart","marker-table"],"#
        + #""fields":[{"key":"value","label":"Value","format":"decimal"}],"#
        + #""graphs":[{"key":"value","type":"line","color":"blue"}]}]"#
}

private struct FirefoxTracks: TrackWriter {
    private let json: JSONWriter
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
        json = writer.json
        self.functions = functions
    }

    var wantsMore: Bool { !json.bytes.isClosed }

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
        threads += 1
        json.line().object {
            json.field("name", track.name)
            json.field("processName", track.process.programName)
            json.field("isMainThread", track.thread.tid == track.process.pid && track.lane == 0)
            json.field("pid", "\(track.process.pid)")
            json.field("tid", "\(track.thread.tid)\(track.lane == 0 ? "" : ".\(track.lane)")")
            json.field("processType", "default")
            json.field("processStartupTime", 0)
            json.field("processShutdownTime", raw: "null")
            json.field("registerTime", 0)
            json.field("unregisterTime", raw: "null")
            json.array("pausedRanges") {}
            json.field("showMarkersInTimeline", false)
            json.object("markers") {
                json.field("length", marks.count)
                json.array("name", marks) { json.value($0.name) }
                json.array("startTime", marks) { json.bytes.write(milliseconds: $0.moment) }
                json.array("data", marks) { mark in
                    guard let value = mark.value else { return json.null() }
                    json.object {
                        json.field("type", "counter")
                        json.field("value", value)
                    }
                }
                // Phase 0 stands for an instant.
                json.columns(["endTime": "null", "phase": "0", "category": "0"], marks.count)
            }
            json.object("samples") {
                json.field("weightType", "tracing-ms")
                json.field("length", samples.count)
                json.array("stack", samples) { json.value($0.stack) }
                json.array("weight", samples) { json.bytes.write(milliseconds: $0.length) }
                json.array("time", samples) { json.bytes.write(milliseconds: $0.start) }
                if let offCPU = track.thread.offCPU() { write(processorTime: OffCPU.Cursor(offCPU)) }
            }
        }
    }

    /// What the thread had a CPU between each sample's beginning and that of the one before it, in ns.
    private func write(processorTime cursor: OffCPU.Cursor) {
        var cursor = cursor
        var last: UInt64?
        json.array("threadCPUDelta", samples) { sample in
            defer { last = sample.start }
            guard let last else { return json.null() }
            let times = cursor.times(from: last, to: sample.start)
            json.value(sample.start &- last &- times.blocked &- times.runnable)
        }
    }
}

extension JSONWriter {
    /// Writes columns in which all rows are alike.
    func columns(_ columns: KeyValuePairs<StaticString, String>, _ count: Int) {
        for (name, value) in columns { array(name, 0..<count) { _ in self.value(raw: value) } }
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
}
