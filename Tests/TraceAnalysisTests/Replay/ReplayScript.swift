import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// A replay told as text: lines of input, each followed by the `->` lines it caused.
///
///     chunk 0 @0            a chunk: sequence and begin; also path=a:5,b:7 depth=3 inherited=1 lane=2 lost=4,
///                           its own end=100, and switch=50, what the tracer took before it
///     enter a @10
///     exit @20
///     unwind 2 @30
///     lane 1 depth 0 @40
///     dropped 3 5           calls and ticks
///
/// Functions are letters, followed by their depth, and by their lane when it is not the main one; times are ns. What happens at the end of the recording follows the line `end`.
struct ReplayScript {
    let text: String

    /// The script with the outcome of running it in place of the expected one.
    func run() throws -> String {
        let input = text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("->") }
        var result: [String] = []
        var known: [String] = []
        for count in input.indices {
            result.append(input[count])
            let isEnd = input[count] == "end"
            let output = try replay(Array(input[0...count]).filter { $0 != "end" })
                .filter { isEnd || !$0.hasSuffix("open") }
            result += output.dropFirst(known.count).map { "-> " + $0 }
            known = output
        }
        return result.joined(separator: "\n")
    }

    private func replay(_ lines: [String]) throws -> [String] {
        let writer = TraceWriter()
        var options: TraceWriter.ChunkOptions?
        var path: [TraceWriter.PathCall] = []
        var records = RecordWriter(time: 0)
        func finishChunk() {
            if let options { writer.add(options, path: path, records: records.bytes) }
        }
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let time = words.last { $0.hasPrefix("@") }.flatMap { UInt64($0.dropFirst()) } ?? 0
            switch words[0] {
            case "chunk":
                finishChunk()
                var next = TraceWriter.ChunkOptions()
                next.sequence = UInt64(words[1])!
                next.begin = time
                path = []
                for word in words.dropFirst(2) {
                    let pair = word.split(separator: "=")
                    switch pair[0] {
                    case "path":
                        path = pair[1].split(separator: ",").map {
                            let call = $0.split(separator: ":")
                            return TraceWriter.PathCall(function: address(String(call[0])), enter: UInt64(call[1])!)
                        }
                    case "depth": next.depth = UInt32(pair[1])!
                    case "inherited": next.inherited = UInt32(pair[1])!
                    case "lane": next.lane = UInt32(pair[1])!
                    case "end": next.end = UInt64(pair[1])!
                    case "switch": next.switchTicks = UInt64(pair[1])!
                    case "lost": next.lostCalls = UInt64(pair[1])!
                    default: break
                    }
                }
                options = next
                records = RecordWriter(time: time)
            case "enter": records.enter(address(words[1]), at: time)
            case "exit": records.exit(at: time)
            case "unwind": records.unwind(UInt32(words[1])!, at: time)
            case "lane": records.lane(UInt32(words[1])!, depth: UInt32(words[3])!, at: time)
            case "dropped": records.dropped(UInt32(words[1])!, ticks: UInt64(words[2])!)
            default: Issue.record("unknown line \(line)")
            }
        }
        finishChunk()
        let directory = try TemporaryDirectory("replay")
        try writer.write(to: directory.file("x.fathom"))
        let session = try Session(path: directory.file("x.fathom"))
        var sink = TextSink()
        StackReplay.run(session.processes[0].threads[0], clock: session.clock, into: &sink)
        return sink.lines
            + session.damage.entries.compactMap {
                if case .missingChunks = $0.kind { nil } else { "damage \($0.kind)" }
            }
    }

    private func address(_ name: String) -> UInt64 { UInt64(name.utf8.first!) }
}

/// Notes what a replay says.
private struct TextSink: CallSink {
    struct Payload: BitwiseCopyable { var depth = -1 }

    var lines: [String] = []
    private var lane: UInt32 = 0

    func base(ofLane lane: UInt32) -> Payload { Payload() }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload.depth = (call - 1).pointee.payload.depth + 1
        let inherited = call.pointee.isInherited ? " inherited" : ""
        lines.append("\(call.pointee.start) \(place(call)) begins\(inherited)")
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        lines.append("\(end) \(place(call)) \(state)")
    }

    mutating func drop(
        _ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at moment: UInt64
    ) {
        lines.append("\(moment) \(place(call)) dropped \(calls) \(time)")
    }

    mutating func run(lane: UInt32, at moment: UInt64) { self.lane = lane }

    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {
        if afterGap { lines.append("\(moment) gap") }
    }

    func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }

    private func place(_ call: UnsafeMutablePointer<OpenCall<Payload>>) -> String {
        let name = call.pointee.function == 0 ? "?" : String(UnicodeScalar(UInt8(call.pointee.function)))
        return "\(name)\(call.pointee.payload.depth)" + (lane == 0 ? "" : "/\(lane)")
    }
}
