internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// A table of calls: one row each, callers before callees, with the columns that CSV has and more. Times are ns since the
/// session's start.
struct ParquetCallsExporter: Exporter {
    static let columns = [
        ParquetColumn(name: "call", kind: .integer), ParquetColumn(name: "caller", kind: .integer),
        ParquetColumn(name: "pid", kind: .integer), ParquetColumn(name: "process", kind: .word),
        ParquetColumn(name: "tid", kind: .integer), ParquetColumn(name: "thread", kind: .word),
        ParquetColumn(name: "lane", kind: .integer), ParquetColumn(name: "depth", kind: .integer),
        ParquetColumn(name: "name", kind: .word), ParquetColumn(name: "module", kind: .word),
        ParquetColumn(name: "file", kind: .word), ParquetColumn(name: "line", kind: .integer),
        ParquetColumn(name: "start_ns", kind: .integer), ParquetColumn(name: "total_ns", kind: .integer),
        ParquetColumn(name: "self_ns", kind: .integer), ParquetColumn(name: "state", kind: .word),
    ]

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tracks = ParquetTracks(writer, functions: source.functions)
        let summary = source.write(to: &tracks)
        tracks.file.finish()
        return summary
    }
}

private struct ParquetTracks: TrackWriter {
    var file: ParquetFile
    private let writer: ByteWriter
    private let functions: FunctionTable
    private var words = FunctionWords()
    private var count = 0
    private var open: [Int] = []
    private var track: Track?
    private var process: UInt32 = 0
    private var thread: UInt32 = 0
    private let complete: UInt32

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
        file = ParquetFile(writer, columns: ParquetCallsExporter.columns)
        complete = file.words.number(of: "complete".utf8)
    }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) {
        self.track = track
        process = file.words.number(of: track.process.programName.utf8)
        thread = file.words.number(of: track.thread.name.utf8)
    }

    mutating func enter(_ call: TreeCall) {
        guard let track else { return }
        count += 1
        let function = words.words(call.function, functions[call.function], &file.words)
        file.add(0, signed: count)
        file.add(1, signed: open.last ?? -1)
        file.add(2, UInt64(track.process.pid))
        file.add(3, word: process)
        file.add(4, UInt64(track.thread.tid))
        file.add(5, word: thread)
        file.add(6, UInt64(track.lane))
        file.add(7, UInt64(call.depth))
        file.add(8, word: function.name)
        file.add(9, word: function.module)
        file.add(10, word: function.file)
        file.add(11, function.line)
        file.add(12, call.start)
        file.add(13, call.total)
        file.add(14, call.selfTime)
        file.add(15, word: call.mark.map { file.words.number(of: "\($0)".utf8) } ?? complete)
        file.endRow()
        open.append(count)
    }

    mutating func leave(_ call: TreeCall) { open.removeLast() }
    mutating func endTrack() {}
}
