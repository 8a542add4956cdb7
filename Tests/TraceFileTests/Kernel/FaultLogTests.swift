import CTraceFormat
import TestSupport
import Testing

@testable import TraceFile

/// What the kernel told of page faults.
@Suite struct FaultLogTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("faults") }

    /// A session of one call from 100 to 900 ns, and a file of page faults in these blocks.
    private func session(_ blocks: [[fathom_event]], lost: UInt64 = 0) throws -> Session {
        try TraceWriter.session(path) { records in
            records.enter(0x1000, at: 100)
            records.exit(at: 900)
        }
        try FaultFile.write(blocks, lost: lost, to: path)
        return try Session(path: path)
    }

    @Test func faultsOfAThread() throws {
        // The thread moved from one CPU to another, so its faults are not in order in the file.
        let session = try session(
            [
                [FaultFile.fault(500), FaultFile.fault(200, 77)],
                [FaultFile.fault(300, isMajor: true), FaultFile.fault(600)],
            ], lost: 4)
        let thread = try #require(session.processes.first?.threads.first)
        #expect(
            thread.faults() == [
                PageFault(ticks: 300, isMajor: true), PageFault(ticks: 500, isMajor: false),
                PageFault(ticks: 600, isMajor: false),
            ])
        #expect(session.faults?.count == 4 && session.faults?.lost == 8 && session.followsMemory)
        #expect(session.damage.entries.isEmpty && thread.offCPU() == nil)
    }

    @Test func notAskedFor() throws {
        try TraceWriter.session(path) { $0.enter(0x1000, at: 100) }
        let session = try Session(path: path)
        #expect(session.faults == nil && !session.followsMemory)
        #expect(session.processes[0].threads[0].faults() == nil)
    }

    /// Whichever byte of the file is wrong, what is before that block is read, and the rest is told of.
    @Test func damage() throws {
        _ = try session([[FaultFile.fault(200), FaultFile.fault(300)], [FaultFile.fault(400)]])
        let whole = try readFile(path + "/faults")
        let first = 32 + 32 + 2 * 16
        for place in stride(from: 0, to: whole.count, by: 3) {
            var bytes = whole
            bytes[place] ^= 0x40
            try writeFile(bytes, to: path + "/faults")
            let session = try Session(path: path)
            let count = session.processes[0].threads[0].faults()?.count ?? 0
            #expect(count <= 3 && (place < first || count >= 2), "byte \(place)")
        }
        try writeFile(Array(whole[..<(first + 40)]), to: path + "/faults")
        let session = try Session(path: path)
        #expect(session.processes[0].threads[0].faults()?.count == 2)
        #expect(session.damage.entries.map(\.kind) == [.faults])
    }

    @Test func theDescriptionSaysWhy() throws {
        for source in [
            FaultSource(isTold: false, seesSystemCalls: false, refusal: "it is \"no\""),
            FaultSource(isTold: true, seesSystemCalls: true, refusal: nil),
        ] {
            try TraceWriter.session(path) { $0.enter(0x1000, at: 100) }
            var options = RecordOptions()
            options.tellsFaults = true
            var description = SessionDescription(
                command: ["program"], executable: "/program", options: options, startRealtime: 0)
            description.faultSource = source
            try writeFile(Array(description.json.utf8), to: path + "/session.json")
            let read = try #require(try Session(path: path).description)
            #expect(read.faultSource == source)
            #expect(read.options.contains { $0.name == "faults" && $0.value == "true" })
        }
    }
}
