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
        writer.write(
            "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[" as StaticString)
        let summary = source.write(to: &tracks, limit: SpeedscopeExporter.limit)
        writer.write("],\n\"shared\":{\"frames\":[" as StaticString)
        for (index, function) in tracks.frames.functions.enumerated() {
            writer.write(index == 0 ? "\n" : ",\n" as StaticString)
            write(source.functions[function], to: writer)
        }
        writer.write("]},\"exporter\":\"fathom\"}\n" as StaticString)
        return summary
    }

    private func write(_ function: ResolvedFunction, to writer: ByteWriter) {
        writer.write("{\"name\":" as StaticString)
        writer.write(json: function.name)
        if let file = function.file {
            writer.write(",\"file\":" as StaticString)
            writer.write(json: file)
            writer.write(",\"line\":" as StaticString)
            writer.write(decimal: UInt64(max(function.line, 0)))
        }
        writer.write("}" as StaticString)
    }
}

private struct SpeedscopeTracks: TrackWriter {
    private let writer: ByteWriter
    private(set) var frames = FrameNumbers()
    private var hasProfile = false
    private var hasEvent = false
    private var start: UInt64 = 0
    private var end: UInt64 = 0

    init(_ writer: ByteWriter) { self.writer = writer }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) {
        writer.write(hasProfile ? ",\n" : "\n" as StaticString)
        hasProfile = true
        hasEvent = false
        writer.write("{\"type\":\"evented\",\"name\":" as StaticString)
        writer.write(json: "\(track.process.programName) \(track.process.pid) · \(track.ownName)")
        writer.write(",\"unit\":\"nanoseconds\",\"events\":[" as StaticString)
    }

    mutating func enter(_ call: TreeCall) { event("O", frames.frame(of: call.function), at: call.start) }
    mutating func leave(_ call: TreeCall) { event("C", frames.frame(of: call.function), at: call.end) }

    mutating func endTrack() {
        writer.write("],\"startValue\":" as StaticString)
        writer.write(decimal: start)
        writer.write(",\"endValue\":" as StaticString)
        writer.write(decimal: end)
        writer.write("}" as StaticString)
    }

    private mutating func event(_ type: StaticString, _ frame: Int32, at time: UInt64) {
        writer.write(hasEvent ? ",\n{\"type\":\"" : "\n{\"type\":\"" as StaticString)
        if !hasEvent { start = time }
        hasEvent = true
        end = time
        writer.write(type)
        writer.write("\",\"frame\":" as StaticString)
        writer.write(decimal: UInt64(frame))
        writer.write(",\"at\":" as StaticString)
        writer.write(decimal: time)
        writer.write("}" as StaticString)
    }
}
