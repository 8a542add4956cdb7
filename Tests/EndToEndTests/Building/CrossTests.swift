internal import Glibc
import TestSupport
import Testing

/// The runtime on aarch64: cross-compiled, and run under qemu, where it writes into a session of this machine's
/// `fathom record`. Times mean nothing there: the emulated counter is not this machine's.
@Suite(
    .enabled(if: ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"].allSatisfy(Toolchain.isInstalled)))
struct CrossTests {
    @Test(arguments: ["fib.c", "json.c", "threads.c", "subshells.c", "signals.c"])
    func everyCallIsCounted(_ source: String) throws {
        let directory = try TemporaryDirectory("cross")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let arguments = ["subshells.c": ["20"], "signals.c": ["timer", "1000"]][source] ?? []
        let command = [try Binaries.instrumented(source, .gccO0)] + arguments
        let plain = try run(command[0], arguments)
        let recorded = try record(try compile(source), arguments, into: session, truth: truth)
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.status == plain.status)
        let counts = try Dump(session).counts()
        guard source == "signals.c" else { return expectEqual(counts, try Truth.counts(command)) }
        for line in try Truth.lines(truth) {
            let name = String(try line.at(0))
            #expect(counts[name, default: 0] == Int(try line.at(1)), "calls of \(name)")
        }
    }

    @Test(arguments: ["torture.cpp", "jumps.c", "coroutines.c", "cancelled.c"], [0, 2])
    func everyCallHasItsCaller(_ source: String, _ level: Int) throws {
        let directory = try TemporaryDirectory("cross")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let arguments = ["coroutines.c", "cancelled.c"].contains(source) ? [] : ["5000"]
        #expect(try record(try compile(source, level: level), arguments, into: session, truth: truth).status == 0)
        expectSameTree(try Dump(session).enters(), try Truth.calls(truth))
    }

    /// The hooks of Swift's compiler, which say less than others; and a register that C knows nothing of.
    @Test(arguments: [0, 2]) func swiftHooks(_ level: Int) throws {
        let directory = try TemporaryDirectory("cross")
        let session = directory.file("session.fathom")
        let walk = try record(try compileWithSwiftHooks("sanitizer", level), ["3000"], into: session, truth: "")
        #expect(walk.status == 0)
        let tree = try SanitizerHookTests.tree(session).map { "\($0[0]) \($0[1])" }
        #expect(tree == walk.stdout.split(separator: "\n").map(String.init))
        let jobs = directory.file("jobs.fathom")
        let pieces = try record(try compileWithSwiftHooks("jobs", level), ["1"], into: jobs, truth: "")
        #expect(pieces.status == 0)
        #expect(try TaskPieceTests.contexts(jobs) == ["0", "0", "2"])
    }

    /// A weakly ordered processor must not show readers a slot's new header under the old one's magic. No emulator
    /// reorders stores, so the instructions are read: a barrier stands behind the store that takes the magic away.
    @Test(arguments: ["record/chunk.c", "session/metadata.c"]) func headersStayBehindTheirMagic(_ source: String) throws
    {
        let sources = "\(Binaries.sources)/../../Sources"
        let assembly = try run(
            "clang",
            ["--target=aarch64-linux-gnu", "-std=gnu17", "-O2", "-fPIC", "-S", "-o", "-"]
                + ["CTraceFormat", "CFathom", "CTraceRuntime"].map { "-I\(sources)/\($0)/include" }
                + ["\(sources)/CTraceRuntime/\(source)"])
        try #require(assembly.status == 0, Comment(rawValue: assembly.stderr))
        let lines = assembly.stdout.split(separator: "\n").map { $0.split(separator: "\t").joined(separator: " ") }
        let barrier = try #require(lines.firstIndex(of: "dmb ish"))
        let store = try #require(lines[..<barrier].last { $0.hasPrefix("st") })
        #expect(store.hasPrefix("str wzr, [x") && store.hasSuffix("]"))
    }

    /// A static program, by what the package for aarch64 holds.
    @Test func staticPrograms() throws {
        let directory = try TemporaryDirectory("cross")
        let session = directory.file("session.fathom")
        let runtime = try Self.products()
        let program = try Binaries.make(
            "fib-aarch64-static", command: "aarch64-linux-gnu-gcc", ["-g", "-static", "-finstrument-functions"],
            ["\(Binaries.sources)/fib.c"], ["-L\(runtime)", "@\(runtime)/libfathom.static"])
        let recorded = try Fathom.record(
            ["qemu-aarch64", program, "10"], into: session, options: ["--quiet", "--force"])
        #expect(recorded.stdout == "55\n", "\(recorded)")
        #expect(try Dump(session).counts()["fib"] == 177)
    }

    private func compileWithSwiftHooks(_ program: String, _ level: Int) throws -> String {
        let sources = "\(Binaries.sources)/../../Sources"
        return try Binaries.make(
            "\(program)-aarch64-O\(level)", command: "aarch64-linux-gnu-gcc",
            ["-g", "-O\(level)", "-I\(sources)/CFathom/include"],
            ["\(Binaries.sources)/\(program).c", "\(try Self.products())/libfathom-swift.o"])
    }

    private func compile(_ source: String, level: Int = 0) throws -> String {
        let name = "\(source.split(separator: ".")[0])-aarch64-O\(level)"
        let command = "aarch64-linux-gnu-\(source.hasSuffix(".cpp") ? "g++" : "gcc")"
        return try Binaries.make(
            name, command: command, ["-g", "-O\(level)", "-finstrument-functions", "-pthread"],
            ["\(Binaries.sources)/\(source)"])
    }

    /// The directory of the runtime for aarch64, as it is packaged.
    static func products() throws -> String {
        try Binaries.make("runtime-aarch64", command: "\(Binaries.repository)/Tools/cross-runtime", [], [])
    }

    private func record(
        _ binary: String, _ arguments: [String], into session: String, truth: String
    ) throws -> ProcessOutput {
        let emulator = [
            "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", "LD_PRELOAD=\(try Self.products())/libfathom.so",
        ]
        return try Fathom.record(
            emulator + [binary] + arguments, into: session, options: ["--quiet", "--force"],
            environment: ["TRUTH": truth])
    }
}
