import TestSupport
import Testing

/// A program that is run plain, under the counting hooks and under `fathom record`.
struct TracedProgram: Sendable, CustomTestStringConvertible {
    var source: String
    var arguments: [String]
    var flags: [String]
    /// Functions that are called a different number of times in every run.
    var varying: Set<String>

    init(_ source: String, _ arguments: [String] = [], flags: [String] = [], varying: Set<String> = []) {
        self.source = source
        self.arguments = arguments
        self.flags = flags
        self.varying = varying
    }

    var testDescription: String { ([source] + arguments).joined(separator: " ") }

    static let all = [
        TracedProgram("fib.c", ["20"]),
        TracedProgram("json.c"),
        TracedProgram("frames.c"),
        TracedProgram("musttail.c"),
        TracedProgram("counter.c"),
        TracedProgram("allocator.c"),
        TracedProgram("churn.c", ["2000"]),
        TracedProgram("threads.c"),
        TracedProgram("thread_local.cpp"),
        TracedProgram("constructors.c", flags: ["-no-pie"]),
        TracedProgram("ifunc.c", flags: ["-Wl,-z,now"]),
        TracedProgram("subshells.c", ["100"]),
        TracedProgram("fork_threads.c", varying: ["spin"]),
        TracedProgram("spawn.c", ["10"]),
        TracedProgram("ending.cpp", ["exit"]),
        TracedProgram("ending.cpp", ["quick_exit"]),
        TracedProgram("ending.cpp", ["_exit"]),
        TracedProgram("ending.cpp", ["abort"]),
        TracedProgram("ending.cpp", ["segv"]),
        TracedProgram("ending.cpp", ["kill"]),
        TracedProgram("ending.cpp", ["term"]),
        TracedProgram("ending.cpp", ["throw"]),
        TracedProgram("ending.cpp", ["return"]),
        TracedProgram("descriptors.c", ["closefrom"]),
        TracedProgram("descriptors.c", ["close_range"]),
        TracedProgram("descriptors.c", ["closeall"]),
        TracedProgram("descriptors.c", ["dup2"]),
        TracedProgram("descriptors.c", ["nofile"]),
        TracedProgram("descriptors.c", ["chdir"]),
        TracedProgram("descriptors.c", ["chroot"]),
        TracedProgram("descriptors.c", ["rights"]),
        TracedProgram("limits.c", ["fsize"]),
        TracedProgram("limits.c", ["nofile"]),
        TracedProgram("limits.c", ["as"]),
        TracedProgram("limits.c", ["nproc"]),
        TracedProgram("limits.c", ["stack"]),
        TracedProgram("timing.c"),
    ]

    /// Programs of many calls, or of many processes: once is enough.
    static let large = [
        TracedProgram("churn.c"),
        TracedProgram("subshells.c"),
        TracedProgram("spawn.c", ["50"]),
        TracedProgram("deep.c"),
    ]
}

/// Whatever a program does, it does the same under Fathom, and every call is recorded.
@Suite struct ProgramTests {
    @Test(arguments: TracedProgram.all, Build.all)
    func runsAlikeAndIsCounted(_ program: TracedProgram, _ build: Build) throws {
        try check(program, build)
    }

    @Test(arguments: TracedProgram.large)
    func largeProgramsToo(_ program: TracedProgram) throws {
        try check(program, .gccO2)
    }

    /// One distance stands for "the caller's own call site" in a record, and is none.
    @Test func callSitesAtAnyDistance() throws {
        let binary = try Binaries.make("call_sites", command: "gcc", [], ["\(Binaries.sources)/call_sites.c"])
        let directory = try TemporaryDirectory("sites")
        let session = directory.file("session.fathom")
        let recorded = try Fathom.record([binary], into: session)
        let dump = try Fathom.run(["dump", session, "--format", "jsonl"]).stdout
        let sites = dump.split(separator: "\n").filter { $0.contains("\"kind\":\"enter\"") }.map {
            $0.split(separator: "\"").last { $0.hasPrefix("0x") } ?? ""
        }
        #expect(sites.count == 15)
        #expect(sites == recorded.stdout.split(separator: "\n"))
    }

    private func check(_ program: TracedProgram, _ build: Build) throws {
        let binary = try Binaries.instrumented(program.source, build, flags: program.flags)
        let command = [binary] + program.arguments
        let directory = try TemporaryDirectory("program")
        let session = directory.file("session.fathom")

        let plain = try run(binary, program.arguments)
        let recorded = try Fathom.record(command, into: session)
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.stderr == plain.stderr)
        #expect(recorded.status == plain.status)
        #expect(recorded.signal == plain.signal)

        let dump = try Dump(session)
        #expect(dump.output.status == 0, "\(dump.output.stderr)")
        expectEqual(try dump.counts(), try Truth.counts(command), except: program.varying)
    }
}

/// Names every function whose number of calls is not the expected one.
func expectEqual(
    _ found: [String: Int], _ expected: [String: Int], except varying: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for function in Set(found.keys).union(expected.keys).subtracting(varying).sorted() {
        #expect(
            found[function] == expected[function], "calls of \(function)", sourceLocation: sourceLocation)
    }
}
