internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// A table of calls: one row each, callers before callees, with the columns that CSV has and more. Times are ns since the
/// session's start.
struct ParquetCallsExporter: Exporter {
    private static let columns: [ParquetColumn] =
        [.integer("call"), .integer("caller")] + ParquetThread.columns + [.integer("lane"), .integer("depth")]
        + ParquetFunction.columns
        + [.integer("start_ns"), .integer("total_ns"), .integer("self_ns"), .word("state")]

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        let file = ParquetFile(writer, columns: ParquetCallsExporter.columns)
        var tracks = ParquetTracks(file, writer, source.functions)
        let summary = source.write(to: &tracks)
        tracks.file.finish()
        return summary
    }
}

private struct ParquetTracks: TrackWriter {
    var file: ParquetFile
    private let writer: ByteWriter
    private let functions: FunctionTable
    private var known = ParquetFunctions()
    private var count = 0
    private var open: [Int] = []
    private var track: Track?
    private var thread: ParquetThread?
    private let complete: UInt32

    init(_ file: ParquetFile, _ writer: ByteWriter, _ functions: FunctionTable) {
        self.file = file
        self.writer = writer
        self.functions = functions
        complete = self.file.words.number(of: "complete")
    }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) {
        self.track = track
        thread = ParquetThread(track.process, tid: track.thread.tid, name: track.thread.name, &file.words)
    }

    mutating func enter(_ call: TreeCall) {
        guard let track, let thread else { return }
        count += 1
        file.add(signed: count)
        file.add(signed: open.last ?? -1)
        file.add(thread)
        file.add(UInt64(track.lane))
        file.add(UInt64(call.depth))
        file.add(known.function(call.function, functions[call.function], &file.words))
        file.add(call.start)
        file.add(call.total)
        file.add(call.selfTime)
        file.add(word: call.mark.map { file.words.number(of: "\($0)") } ?? complete)
        file.endRow()
        open.append(count)
    }

    mutating func leave(_ call: TreeCall) { open.removeLast() }
    mutating func endTrack() {}
}
