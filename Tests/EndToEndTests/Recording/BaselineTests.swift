internal import Glibc
import TestSupport
import Testing

/// `fathom record --baseline` runs the program again without the runtime, and reports take out what recording cost.
@Suite struct BaselineTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("session.fathom") }
    private var runs: String { directory.file("runs") }

    init() throws { directory = try TemporaryDirectory("baseline") }

    /// Records a shell script that starts an instrumented program.
    private func record(_ script: String, input: String = "") throws -> ProcessOutput {
        let fib = try Binaries.instrumented("fib.c", .gccO2)
        return try run(
            Fathom.executable,
            ["record", "--force", "--baseline", "-o", session, "--", "sh", "-c", script],
            environment: Fathom.inherited(adding: ["FIB": fib, "RUNS": runs]), input: input)
    }

    private func times(_ options: [String]) throws -> Substring? {
        let report = try Fathom.run(["report", session] + options)
        #expect(report.status == 0, "\(report.stderr)")
        return report.stdout.split(separator: "\n").first
    }

    /// The program's output is there once; each run reads the whole input; reports say what they show.
    @Test func theProgramRunsAgain() throws {
        let output = try record("wc -c >>$RUNS; $FIB 25", input: "twelve bytes")
        #expect(output.status == 0)
        #expect(output.stdout == "75025\n")
        #expect(output.stderr.contains("without recording"))
        let counts = String(decoding: try readFile(runs), as: UTF8.self).split(separator: "\n")
        #expect(counts.count > 1)
        #expect(counts.allSatisfy { $0 == "12" }, "\(counts)")
        let description = String(decoding: try readFile(session + "/session.json"), as: UTF8.self)
        #expect(description.contains("\"plain_user_ns\": "))
        #expect(description.contains("\"runs\": \(counts.count - 1),"))
        #expect(try times([])?.contains("(times corrected") == true)
        #expect(try times(["--corrected"])?.contains("(times corrected") == true)
        #expect(try times(["--raw"])?.contains("(times as recorded)") == true)
        #expect(try times(["--format", "csv"])?.hasSuffix(",times,reliable") == true)
        #expect(try times(["--format", "json"])?.hasPrefix("{\"times\":\"corrected\",\"cost_ns\":") == true)
    }

    @Test func aRunThatEndsDifferentlyIsNoBaseline() throws {
        let output = try record("echo run >>$RUNS; $FIB 5; test $(wc -l <$RUNS) = 1")
        #expect(output.status == 0)
        #expect(output.stderr.contains("warning: no baseline: without the runtime the program ended in another way"))
        #expect(try times([])?.contains("(times as recorded)") == true)
        let corrected = try Fathom.run(["report", session, "--corrected"])
        #expect(corrected.status == 1)
        #expect(corrected.stdout == "")
        #expect(corrected.stderr.contains("has no baseline"))
    }

    @Test func aPipeCannotBeReadTwice() throws {
        let script = "echo x | \"$FATHOM\" record --force --baseline -o \"$SESSION\" -- sh -c 'echo run >$RUNS'"
        let variables = ["FATHOM": Fathom.executable, "SESSION": session, "RUNS": runs]
        let output = try run("sh", ["-c", script], environment: Fathom.inherited(adding: variables))
        #expect(output.status == 125)
        #expect(output.stderr.split(separator: "\n").count == 1)
        #expect(output.stderr.contains("standard input can be read only once"))
        #expect(access(runs, F_OK) != 0)
        #expect(access(session, F_OK) != 0)
    }
}
