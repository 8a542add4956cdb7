import CTraceFormat
internal import Glibc
import TestSupport
import Testing

/// A damaged recording is read as far as it is whole, and never crashes the reader.
@Suite struct DamageTests {
    private let directory: TemporaryDirectory
    private let session: String
    private let trace: [UInt8]

    init() throws {
        directory = try TemporaryDirectory("damage")
        session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("subshells.c", .gccO2)
        #expect(try Fathom.record([binary, "20"], into: session).status == 0)
        trace = try readFile("\(session)/trace")
    }

    /// Where the log's chunks lie, and how many calls each begins; the first range is the file's header.
    private func parts() -> [(bytes: Range<Int>, calls: UInt64)] {
        let size = MemoryLayout<fathom_chunk>.size
        var parts = [(bytes: 0..<MemoryLayout<fathom_trace_header>.size, calls: UInt64(0))]
        while let start = parts.last?.bytes.upperBound, start + size <= trace.count {
            let chunk = trace.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: fathom_chunk.self) }
            parts.append((start..<(start + size + (Int(chunk.used) + 7) & ~7), chunk.calls))
        }
        return parts
    }

    /// Reads the session with these bytes in its log. Whatever became of the others, the calls of each chunk that is
    /// intact are shown, unless the file's header is not.
    private func expectReadable(_ bytes: [UInt8], _ what: String) throws {
        try writeFile(bytes, to: "\(session)/trace")
        let intact = parts().filter { part in
            part.bytes.upperBound <= bytes.count && bytes[part.bytes] == trace[part.bytes]
        }
        if intact.first?.bytes.lowerBound == 0 {
            let calls = intact.reduce(0) { $0 + $1.calls }
            let shown = try Dump(session).kinds()["enter", default: 0]
            #expect(shown >= Int(calls), "\(what)")
        }
        let output = try Fathom.run(["tree", session])
        #expect(output.signal == nil, "\(what)")
        // 1: cut where a chunk ends, before the first call, it looks like a recording without calls.
        #expect(0...2 ~= output.status, "\(what): \(output.stderr)")
        if output.status != 0 { #expect(!output.stderr.isEmpty, "\(what)") }
    }

    @Test func truncated() throws {
        for part in 0..<40 { try expectReadable(Array(trace[..<(trace.count * part / 40)]), "truncated at \(part)/40") }
        for length in 0..<20 {
            try expectReadable(Array(trace[..<min(length * 8, trace.count)]), "\(length * 8) bytes")
        }
    }

    @Test(arguments: 1...60)
    func flipped(_ seed: Int) throws {
        var generator = UInt64(truncatingIfNeeded: seed) &* 0x9e37_79b9_7f4a_7c15
        var bytes = trace
        for _ in 0..<(1 + seed % 8) {
            generator ^= generator << 13
            generator ^= generator >> 7
            generator ^= generator << 17
            bytes[Int(generator % UInt64(bytes.count))] ^= UInt8(truncatingIfNeeded: 1 << (generator >> 32 & 7))
        }
        try expectReadable(bytes, "seed \(seed)")
    }

    /// What is shown of a recording is checked: who reads the calls tells of damage in them, and who does not says so.
    @Test func damagedCalls() throws {
        let calls = try #require(parts().last { $0.calls > 0 })
        var bytes = trace
        bytes[calls.bytes.upperBound - 9] ^= 4
        try writeFile(bytes, to: "\(session)/trace")
        for command in [["tree"], ["report"], ["dump"], ["export", "--format", "folded", "-o", "-"]] {
            let output = try TestSupport.run(Fathom.executable, [command[0], session] + command[1...])
            #expect(output.stderr.contains("checksum mismatch"), "\(command)")
        }
        let info = try Fathom.run(["info", session])
        #expect(info.stdout.contains("damage       none in headers and metadata; --check looks at the calls, too"))
        let checked = try Fathom.run(["info", "--check", session])
        #expect(checked.stdout.contains("checksum mismatch") && checked.stderr.contains("checksum mismatch"))
    }

    /// A pipe that nobody writes to keeps nobody waiting; neither does one that a module's file has become.
    @Test(arguments: ["trace", "buffers", "session.json", "aggregate"])
    func pipes(_ file: String) throws {
        unlink("\(session)/\(file)")
        #expect(mkfifo("\(session)/\(file)", 0o600) == 0)
        for command in [["tree"], ["report"], ["info"], ["dump"], ["export", "--format", "folded", "-o", "-"]] {
            let output = try TestSupport.run(Fathom.executable, [command[0], session] + command[1...], seconds: 20)
            #expect(output.signal == nil)
            #expect(output.status == (file == "trace" ? 2 : 0), "\(command): \(output.stderr)")
            #expect((file == "aggregate") == output.stderr.isEmpty, "\(output.stderr)")
        }
    }

    @Test func pipesForPrograms() throws {
        let binary = directory.file("program")
        #expect(try TestSupport.run("cp", [try Binaries.instrumented("fib.c", .gccO2), binary]).status == 0)
        #expect(try Fathom.record([binary, "5"], into: directory.file("fib.fathom")).status == 0)
        unlink(binary)
        #expect(mkfifo(binary, 0o700) == 0)
        #expect(
            try TestSupport.run(Fathom.executable, ["tree", directory.file("fib.fathom")], seconds: 20).status == 0)
        let output = try TestSupport.run(Fathom.executable, ["record", "--", binary], seconds: 20)
        #expect(output.status == 126, "\(output.stderr)")
    }

    /// Whatever stands in session.json, what is printed of it is JSON.
    @Test func oddOptions() throws {
        for value in ["[]", "{}", "\"\"", "1e5", "[1, 2]", "-0.5", "{\"a\": [\"\\u001b\"]}"] {
            try writeFile(
                Array("{\"command\": [[], \"x\"], \"options\": {\"o\": \(value)}}".utf8), to: "\(session)/session.json")
            let output = try Fathom.run(["info", session, "--format", "json"])
            #expect(output.status == 0)
            #expect(
                try run("python3", ["-c", "import json,sys; json.load(sys.stdin)"], input: output.stdout).status == 0,
                "\(value)")
        }
    }

    @Test func emptiedOrMissing() throws {
        for file in ["trace", "buffers", "session.json"] {
            let original = try? readFile("\(session)/\(file)")
            try writeFile([], to: "\(session)/\(file)")
            #expect(try Fathom.run(["tree", session]).signal == nil)
            unlink("\(session)/\(file)")
            #expect(try Fathom.run(["tree", session]).signal == nil)
            if let original { try writeFile(original, to: "\(session)/\(file)") }
        }
        let missing = try Fathom.run(["tree", directory.file("missing.fathom")])
        #expect(missing.status == 2)
        #expect(missing.stderr.contains("missing.fathom"))
    }
}
