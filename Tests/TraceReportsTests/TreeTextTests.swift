import TestSupport
import Testing
import TraceFile
import TraceText

@testable import TraceAnalysis
@testable import TraceReports

@Suite struct TreeTextTests {
    /// Lines that are final are handed out, however few they are, before the rest of a long recording is put together.
    @Test func finalLinesDoNotWait() throws {
        let writer = TraceWriter()
        for sequence in 0..<4 as Range<UInt64> {
            let begin = 1000 * (sequence + 1)
            var chunk = TraceWriter.ChunkOptions()
            (chunk.sequence, chunk.begin, chunk.end) = (sequence, begin, begin + 999)
            (chunk.calls, chunk.depth) = (sequence == 0 ? 21 : 20, sequence == 0 ? 0 : 1)
            var records = RecordWriter(time: begin)
            if sequence == 0 { records.enter(0x40_1000, at: begin) }
            for call in 1...20 as ClosedRange<UInt64> {
                records.enter(0x40_2000, at: begin + 10 * call)
                records.exit(at: begin + 10 * call + 5)
            }
            if sequence == 3 { records.exit(at: begin + 900) }
            let path = [TraceWriter.PathCall(function: 0x40_1000, enter: 1000)]
            writer.add(chunk, path: sequence == 0 ? [] : path, records: records.bytes)
        }
        let directory = try TemporaryDirectory("final")
        try writer.write(to: directory.file("final.fathom"))
        let session = try Session(path: directory.file("final.fathom"))
        let functions = FunctionTable(resolve: { _, address in
            ResolvedFunction(name: address == 0x40_1000 ? "outer" : "inner", module: nil, file: nil, line: 0)
        })
        var pieces: [String] = []
        let output = ByteWriter { bytes in
            pieces.append(String(decoding: bytes, as: UTF8.self))
            return true
        }
        let tree = CallTree(
            of: session, resolver: FunctionResolver(functions), filter: TreeFilter(), layout: TreeLayout(), budget: 8)
        var report = TreeText(output, functions: functions, options: TreeText.Options())
        tree.walk(session.processes[0].threads[0], &report)
        report.finish()
        output.flush()
        #expect(pieces.count == 2, "\(pieces)")
        #expect(pieces.first?.hasSuffix("3.90 us    3.50 us  outer\n") == true, "\(pieces)")
        #expect(pieces.last?.contains("inner (80 calls)") == true, "\(pieces)")
    }
}
