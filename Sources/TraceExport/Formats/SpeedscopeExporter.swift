internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// speedscope's own format, evented: one profile a track (https://www.speedscope.app/file-format-schema.json).
///
/// Every call that opens also closes, and times never go back, because speedscope refuses other files.
struct SpeedscopeExporter: Exporter {
    /// Its importer recurses: 7,000 nested calls exhaust a browser's stack.
    static let limit: ViewerLimit? = ViewerLimit(
        viewer: "speedscope", depth: 4000, calls: 1_000_000, bytes: 400_000_000, callBytes: 82, namesPerCall: 0)

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tracks = SpeedscopeTracks(writer)
        let json = writer.json
        json.beginObject()
        json.field("$schema", "https://www.speedscope.app/file-format-schema.json")
        json.beginArray("profiles")
        let summary = source.write(to: &tracks, limit: SpeedscopeExporter.limit)
        json.endArray()
        json.line().object("shared") {
            json.objects("frames", tracks.frames.functions, .each) { number in
                let function = source.functions[number]
                json.field("name", function.name)
                if let file = function.file {
                    json.field("file", file)
                    json.field("line", max(function.line, 0))
                }
            }
        }
        json.field("exporter", "fathom")
        json.endDocument()
        return summary
    }
}

private struct SpeedscopeTracks: TrackWriter {
    private let json: JSONWriter
    private(set) var frames = FrameNumbers()
    private var hasEvent = false
    private var start: UInt64 = 0
    private var end: UInt64 = 0

    init(_ writer: ByteWriter) { json = writer.json }

    var wantsMore: Bool { !json.bytes.isClosed }

    mutating func begin(_ track: Track) {
        hasEvent = false
        json.beginObject(.each)
        json.field("type", "evented")
        json.field("name", "\(track.process.programName) \(track.process.pid) · \(track.ownName)")
        json.field("unit", "nanoseconds")
        json.beginArray("events")
    }

    mutating func enter(_ call: TreeCall) { event("O", frames.frame(of: call.function), at: call.start) }
    mutating func leave(_ call: TreeCall) { event("C", frames.frame(of: call.function), at: call.end) }

    mutating func endTrack() {
        json.endArray()
        json.field("startValue", start)
        json.field("endValue", end)
        json.endObject()
    }

    private mutating func event(_ type: StaticString, _ frame: Int32, at time: UInt64) {
        if !hasEvent { start = time }
        hasEvent = true
        end = time
        json.beginObject(.each)
        json.field("type", type)
        json.field("frame", frame)
        json.field("at", time)
        json.endObject()
    }
}
