import TestSupport
import Testing
import TraceAnalysis
import TraceFile
import TraceText

@testable import TraceReports

@Suite struct InfoReportTests {
    /// What headers tell is handed out while no payload was read, and what the payloads tell comes behind it.
    @Test(arguments: [false, true])
    func headersAreToldBeforePayloadsAreRead(_ isJSON: Bool) throws {
        let directory = try TemporaryDirectory("info")
        let path = directory.file("x.fathom")
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        (options.calls, options.end) = (1, 20)
        writer.add(options, records: [UInt8](repeating: 0, count: 16))
        var log = writer.log
        log[log.count - 1] ^= 1
        try writer.write(to: path)
        try writeFile(log, to: path + "/trace")

        let session = try Session(path: path)
        var pieces: [(text: String, damage: Int)] = []
        let output = ByteWriter { bytes in
            pieces.append((String(decoding: bytes, as: UTF8.self), session.damage.entries.count))
            return true
        }
        let report = InfoReport(output, session: session, showsModules: false, checksPayloads: true)
        if isJSON { report.write(.json) } else { report.write(.text) }
        output.flush()
        #expect(pieces.count == 2)
        #expect(
            pieces.first?.damage == 0
                && pieces.first?.text.contains(isJSON ? "\"tid\":1000" : "thread     1000") == true)
        #expect(pieces.last?.damage == 1 && pieces.last?.text.contains("checksum mismatch") == true)
    }

    /// Without the check, the report says that payloads were not looked at. It looks only at payloads that it takes numbers
    /// from, such as the records of a chunk that its thread never finished.
    @Test(arguments: [UInt64(20), 0])
    func whatWasNotLookedAt(_ end: UInt64) throws {
        let directory = try TemporaryDirectory("info")
        let path = directory.file("x.fathom")
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        (options.calls, options.end) = (4, end)
        writer.add(options, records: records(4))
        var log = writer.log
        log[log.count - 1] ^= 1
        try writer.write(to: path)
        try writeFile(log, to: path + "/trace")
        func tell(checks: Bool, _ write: (InfoReport) -> Void) throws -> String {
            let session = try Session(path: path)
            let bytes = ByteWriter.bytes {
                write(InfoReport($0, session: session, showsModules: false, checksPayloads: checks))
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        let told = try tell(checks: false) { $0.write(.text) }
        let isRead = end == 0
        #expect(told.contains("damage       \(isRead ? "1" : "none") in headers and metadata; --check"), "\(told)")
        #expect(told.contains("checksum mismatch") == isRead)
        #expect(told.contains("\ncalls        \(isRead ? 0 : 4)\n"))
        #expect(try tell(checks: false) { $0.write(.json) }.hasSuffix("],\"checked\":\"headers\"}\n"))
        let checked = try tell(checks: true) { $0.write(.text) }
        #expect(checked.contains("\ndamage       1\n") && checked.contains("checksum mismatch"))
        #expect(try tell(checks: true) { $0.write(.json) }.hasSuffix("],\"checked\":\"all\"}\n"))
    }

    /// Whatever number of threads look, the same damage is told of in the same order.
    @Test(arguments: [1, 2, 5])
    func allDamageIsFoundInOrder(_ workers: Int) throws {
        let directory = try TemporaryDirectory("check")
        let path = directory.file("x.fathom")
        let writer = TraceWriter()
        var damaged: [UInt64] = []
        var ends: [Int] = []
        for thread in 1...3 as ClosedRange<UInt32> {
            for sequence in 0..<700 as Range<UInt64> {
                var options = TraceWriter.ChunkOptions()
                (options.thread, options.sequence) = (thread, sequence)
                if sequence % 100 == UInt64(thread) { damaged.append(UInt64(writer.log.count)) }
                writer.add(options, records: [UInt8](repeating: 0, count: 16))
                if damaged.count > ends.count { ends.append(writer.log.count) }
            }
        }
        var log = writer.log
        for end in ends { log[end - 1] ^= 0x80 }
        try writer.write(to: path)
        try writeFile(log, to: path + "/trace")
        let session = try Session(path: path)
        #expect(session.damage.entries.isEmpty)
        PayloadCheck.run(session, workers: workers)
        #expect(session.damage.entries.map(\.offset) == damaged)
        #expect(session.damage.entries.allSatisfy { $0.kind == .payloadSum })
    }
}
