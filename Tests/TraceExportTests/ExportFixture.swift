import TestSupport
import TraceAnalysis
import TraceFile
import TraceQuery
import TraceReports
import TraceText

@testable import TraceExport

/// A session of one thread, written for a test, and what the exporters make of it.
struct ExportFixture {
    private static let bias: UInt64 = 0x5555_0000_0000
    private let directory: TemporaryDirectory
    private let session: Session
    private let names: [String]

    /// - Parameters:
    ///   - names: of the functions, by the number they have in `record`.
    ///   - marks: names of marks and counters, by their number there.
    ///   - record: writes the records; ``address(_:)`` gives a function's address.
    init(_ names: [String], marks: [String] = [], _ record: (inout RecordWriter) -> Void) throws {
        self.names = names
        directory = try TemporaryDirectory("export")
        var records = RecordWriter(time: 1000)
        record(&records)
        var metadata = MetadataWriter()
        metadata.process(pid: 1000, path: "/opt/program", arguments: ["./program"])
        let bias = ExportFixture.bias
        metadata.module("/opt/program", buildID: [1], low: bias, high: bias + 0x10000, bias: bias)
        for (number, name) in marks.enumerated() { metadata.mark(UInt32(number), name) }
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        options.isMetadata = true
        writer.add(options, records: metadata.bytes)
        options.isMetadata = false
        options.begin = 1000
        options.end = records.time
        options.calls = records.calls
        options.name = "program"
        writer.add(options, records: records.bytes)
        try writer.write(to: directory.file("x.fathom"))
        session = try Session(path: directory.file("x.fathom"))
    }

    /// The address of function `number`.
    static func address(_ number: Int) -> UInt64 { bias + UInt64(number) * 16 + 16 }

    func source(_ filter: TreeFilter = TreeFilter()) -> ExportSource {
        let names = names
        let functions = FunctionTable(resolve: { module, address in
            ResolvedFunction(
                name: names[Int(address / 16) - 1], module: module?.path, file: "program.c", line: Int(address / 16))
        })
        var options = QueryOptions()
        options.filter = filter
        return try! ExportSource(SessionQuery(session, options, functions: functions))
    }

    /// The file, and what is said of it.
    func export(_ format: ExportFormat, _ filter: TreeFilter = TreeFilter()) -> (bytes: [UInt8], ExportSummary) {
        var summary = ExportSummary()
        let bytes = ByteWriter.bytes { summary = format.exporter!.export(source(filter), to: $0) }
        return (bytes, summary)
    }

    /// The file's lines.
    func lines(_ format: ExportFormat, _ filter: TreeFilter = TreeFilter()) -> [String] {
        String(decoding: export(format, filter).bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
