import CTraceFormat
import TestSupport
import Testing

@testable import TraceFile

/// What the recorder writes into session.json is what a reader finds there.
@Suite struct SessionDescriptionTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("description") }

    private func read(_ text: String) throws -> (SessionDescription?, DamageLog) {
        let damage = DamageLog()
        let path = try directory.write(text, to: "session.json")
        return (try SessionDescription(try? MappedFile(path: path), path: path, damage: damage), damage)
    }

    private func description() -> SessionDescription {
        var options = RecordOptions()
        (options.maxDepth, options.minCost, options.startsPaused) = (3, 250, true)
        return SessionDescription(
            command: ["./program", "a \"b\"", "tab\tline\n\u{1b}"], executable: "/bin/program", options: options,
            startRealtime: 17)
    }

    @Test(arguments: [true, false]) func comesBack(withBaseline: Bool) throws {
        var written = description()
        if withBaseline {
            func usage(_ user: UInt64) -> Baseline.Usage { .init(userNanoseconds: user, systemNanoseconds: 2) }
            written.baseline = Baseline(traced: usage(10), plain: usage(7), runs: 5)
        }
        let (read, damage) = try read(written.json)
        let found = try #require(read)
        #expect(damage.entries.isEmpty)
        #expect(found.command == written.command && found.executable == written.executable)
        #expect(found.directory == written.directory && found.host == written.host && found.cpu == written.cpu)
        #expect(found.kernel == written.kernel && found.fathom == written.fathom)
        #expect(found.startRealtimeNanoseconds == 17 && found.baseline == written.baseline)
        let options = found.options.map { option in "\(option.name)=\(option.value)" }
        #expect(
            options == [
                "mode=trace", "keep_bytes=null", "keep_ns=null", "max_paths=null", "interval_ns=null",
                "max_depth=3", "min_cost_ns=250", "max_size_bytes=null", "buffer_size_bytes=65536",
                "min_size_bytes=null", "budget_percent=null", "paused=true", "blocked=false",
            ])
        #expect(found.options.allSatisfy { option in option.isBare || option.name == "mode" })
    }

    @Test func aChangedByteIsTold() throws {
        let (read, damage) = try read(
            description().json.replacing("\"min_cost_ns\": 250", with: "\"min_cost_ns\": 251"))
        #expect(read != nil && damage.entries.count == 1)
    }

    /// What a later Fathom means by its members is not guessed.
    @Test(arguments: [("4", 4), ("4294967296", .max)] as [(String, UInt32)])
    func aNewerFormatIsRefused(_ number: String, _ found: UInt32) throws {
        let text = description().json.replacing("\"format\": 2", with: "\"format\": \(number)")
        let path = directory.file("session.json")
        #expect(throws: TraceFileError.unsupportedVersion(path: path, found: found, supported: 3)) {
            try self.read(text)
        }
    }

    /// The deepest depth there can be is no limit that wraps around.
    @Test(arguments: [(0, 1), (7, 8), (Int(UInt32.max) - 1, UInt32.max), (.max, .max)] as [(Int, UInt32)])
    func depthForTheRuntime(_ deepest: Int, _ firstLeftOut: UInt32) {
        var options = RecordOptions()
        options.maxDepth = deepest
        var head = fathom_buffers()
        options.tell(&head, SessionClock())
        #expect(head.max_depth == firstLeftOut)
    }
}
