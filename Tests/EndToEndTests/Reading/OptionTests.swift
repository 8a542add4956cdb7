internal import Glibc
import TestSupport
import Testing

/// What the options of `fathom record` leave out is counted, and the rest is as it was.
@Suite struct OptionTests {
    private static let calls = 242_785 + 1  // of fib(25), and main

    private func record(
        _ options: [String], _ directory: TemporaryDirectory
    ) throws -> Dump {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let session = directory.file("session.fathom")
        let recorded = try Fathom.record([binary, "25"], into: session, options: options + ["--quiet"])
        #expect(recorded.stdout == "75025\n")
        #expect(recorded.status == 0)
        return try Dump(session)
    }

    /// Calls that a dump says were left out.
    private func dropped(_ dump: Dump) throws -> Int {
        var calls = 0
        try dump.forEach { line in
            if line.kind == "dropped" || line.kind == "lost" { calls += line.number(.calls) ?? 0 }
        }
        return calls
    }

    @Test func maxDepth() throws {
        let directory = try TemporaryDirectory("options")
        let dump = try record(["--max-depth", "3"], directory)
        // fib at depth 1, 2 and 3.
        #expect(try dump.counts() == ["main": 1, "fib": 1 + 2 + 4])
        #expect(try dump.enters().allSatisfy { $0.depth <= 3 })
        #expect(try dropped(dump) == Self.calls - 8)
    }

    /// A short option's value may be joined to it, in every command that has the option.
    @Test func joinedValues() throws {
        let directory = try TemporaryDirectory("options")
        let session = directory.file("d")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(try Fathom.run(["record", "-D3", "-t1ns", "-o\(session)", "-q", "--", binary, "5"]).status == 0)
        #expect(try Dump(session).counts() == ["main": 1, "fib": 1 + 2 + 4])
        for command in [
            ["tree"], ["report"], ["graph"], ["flame", "-o/dev/null"], ["export", "--format", "csv", "-o-"],
        ] {
            let apart = try Fathom.run(command + [session, "-D", "1", "-t", "1ns", "-F", "ma*", "-N", "x", "-H", "y"])
            let joined = try Fathom.run(command + [session, "-D1", "-t1ns", "-Fma*", "-Nx", "-Hy"])
            #expect(joined.status == 0, "\(joined.stderr)")
            #expect(joined.stdout == apart.stdout)
        }
        #expect(try Fathom.run(["tune", session, "-o\(directory.file("list"))"]).status == 0)
        #expect(try Fathom.run(["diff", session, session, "-o\(directory.file("change.html"))"]).status == 0)
    }

    @Test func minCost() throws {
        let directory = try TemporaryDirectory("options")
        let dump = try record(["--min-cost", "20us"], directory)
        let counts = try dump.counts()
        #expect(counts["main"] == 1)
        #expect(counts["fib", default: 0] < 10_000)
        #expect(try dropped(dump) + counts.values.reduce(0, +) == Self.calls)
    }

    /// Readers of a running recording see what is long enough by then, and nothing that is taken back later.
    @Test func nothingPublishedIsTakenBack() throws {
        let binary = try Binaries.instrumented("busy.c", .gccO2)
        let directory = try TemporaryDirectory("options")
        let session = directory.file("session.fathom")
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", session, "--quiet", "-t", "300ms", "--", binary, "2", "100000",
        ])
        // The recorder passes it on; killed before it has, it would leave the program behind.
        defer {
            recorder.signal(SIGTERM)
            recorder.wait()
        }
        #expect(waitUntil { ((try? Dump(session).counts()["run"]) ?? 0) > 0 })
        for _ in 0..<6 {
            let dump = try Dump(session)
            let growing = "fathom: \(session) is still being recorded: this is what it holds so far\n"
            #expect(dump.output.status == 0 && dump.output.stderr == growing, "\(dump.output.stderr)")
            let counts = try dump.counts()
            #expect(Set(counts.keys).isSubset(of: ["main", "run"]), "\(counts)")
        }
    }

    /// The calls that were open when a process was killed are there, even those that were short by then.
    @Test func openCallsOfAKilledProcess() throws {
        let binary = try Binaries.instrumented("progress.c", .gccO2)
        let directory = try TemporaryDirectory("options")
        let session = directory.file("session.fathom")
        let progress = try SharedProgress(directory.file("progress"))
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", session, "--quiet", "-t", "3600s", "--", binary,
            directory.file("progress"),
        ])
        try #require(waitUntil { progress.calls > 0 })
        kill(progress.process, SIGKILL)
        recorder.wait()
        let counts = try Dump(session).counts()
        #expect(counts["outer"] == 10 && counts["forever"] == 1 && counts["leaf", default: 0] <= 1, "\(counts)")
    }

    /// What was left out before a fork is the parent's to tell, not the child's.
    @Test func maxDepthAcrossFork() throws {
        let directory = try TemporaryDirectory("options")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("left_out_fork.c", .gccO2)
        #expect(try Fathom.record([binary], into: session, options: ["-D", "0", "--quiet"]).status == 0)
        #expect(try dropped(try Dump(session)) == 5 + 1)
    }

    /// The cap holds to within the buffers that are in flight when it is reached.
    @Test func maxSize() throws {
        let directory = try TemporaryDirectory("options")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let output = try Fathom.record([binary, "28"], into: session, options: ["--max-size", "1M"])
        #expect(output.stdout == "317811\n")
        #expect(try readFile("\(session)/trace").count <= 3 << 20)
        let recorded = try Dump(session).counts().values.reduce(0, +)
        #expect(recorded > 50_000)
        #expect(recorded + Fathom.missingCalls(output.stderr) == 1_028_457 + 1, "\(output.stderr)")
    }

    @Test(arguments: ["16K", "64K", "4M"])
    func bufferSize(_ size: String) throws {
        let directory = try TemporaryDirectory("options")
        let dump = try record(["--buffer-size", size], directory)
        #expect(try dump.counts() == ["main": 1, "fib": Self.calls - 1])
    }

    @Test(arguments: [
        ["record"], ["record", "--buffer-size", "1", "--", "true"], ["no-such-command"], ["tree", "-D", "x"],
    ])
    func badUsage(_ arguments: [String]) throws {
        let output = try Fathom.run(arguments)
        #expect(output.status == 64)
        #expect(output.stdout == "")
        #expect(output.stderr.contains("Usage"))
    }

    @Test func version() throws {
        let output = try Fathom.run(["--version"])
        #expect(output.status == 0)
        #expect(output.stdout.split(separator: ".").count == 3)
    }
}
