internal import TraceAnalysis
internal import TraceFile
internal import TraceText

/// Writes one line for each call, callers before callees (RFC 4180, with plain line feeds).
///
/// `call` numbers the lines from 1 and `caller` is the number of the caller's, empty for roots. Times are ns since the
/// session's start. `state` is complete, open, unwound, or inherited (entered before a fork or before recording was
/// started).
struct CSVExporter: Exporter {
    static let header: StaticString = "call,caller,pid,tid,lane,depth,name,module,start_ns,total_ns,self_ns,state\n"

    func export(_ source: ExportSource, to writer: ByteWriter) -> ExportSummary {
        var tracks = CSVTracks(writer, functions: source.functions)
        writer.write(CSVExporter.header)
        return source.write(to: &tracks)
    }
}

private struct CSVTracks: TrackWriter {
    private let writer: ByteWriter
    private let functions: FunctionTable
    private var count: UInt64 = 0
    private var open: [UInt64] = []
    private var track: Track?

    init(_ writer: ByteWriter, functions: FunctionTable) {
        self.writer = writer
        self.functions = functions
    }

    var wantsMore: Bool { !writer.isClosed }

    mutating func begin(_ track: Track) { self.track = track }

    mutating func enter(_ call: TreeCall) {
        guard let track else { return }
        count += 1
        writer.write(decimal: count)
        writer.write(byte: UInt8(ascii: ","))
        if let caller = open.last { writer.write(decimal: caller) }
        for number in [
            UInt64(track.process.pid), UInt64(track.thread.tid), UInt64(track.lane), UInt64(call.depth),
        ] {
            add(number)
        }
        let function = functions[call.function]
        add(function.name)
        add(function.module ?? "")
        add(call.start)
        add(call.total)
        add(call.selfTime)
        writer.write(byte: UInt8(ascii: ","))
        writer.write(call.mark ?? "complete")
        writer.write(byte: UInt8(ascii: "\n"))
        open.append(count)
    }

    mutating func leave(_ call: TreeCall) { open.removeLast() }

    mutating func endTrack() {}

    private func add(_ number: UInt64) {
        writer.write(byte: UInt8(ascii: ","))
        writer.write(decimal: number)
    }

    private func add(_ text: String) {
        writer.write(byte: UInt8(ascii: ","))
        writer.write(csv: text)
    }
}
