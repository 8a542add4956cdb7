internal import Glibc
import TestSupport
import Testing

/// Stacks that the recorder reads at an interval.
@Suite struct StackModeTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("stack.fathom") }

    init() throws { directory = try TemporaryDirectory("stack") }

    private func record(_ command: [String], _ options: [String] = []) throws -> ProcessOutput {
        try Fathom.record(command, into: session, options: ["--mode", "stack"] + options)
    }

    /// The call paths that were found, with their samples.
    private func stacks(of session: String) throws -> [String: Int] {
        let folded = try Fathom.run(["export", "--format", "folded", "-o", "-", session])
        // A short program may end before anybody looks.
        #expect(folded.status == 0 || folded.stderr.contains("the recording has no calls"), "\(folded.stderr)")
        return Dictionary(
            try folded.stdout.split(separator: "\n").compactMap { line in
                let cut = try #require(line.lastIndex(of: " "), "\(line)")
                return Int(line[line.index(after: cut)...]).map { (String(line[..<cut]), $0) }
            }, uniquingKeysWith: +)
    }

    @Test(arguments: Build.two)
    func shares(_ build: Build) throws {
        let program = try Binaries.instrumented("shares.c", build)
        let recorded = try record([program, "1.5"], ["--interval", "300us"])
        #expect(recorded.status == 0 && recorded.stderr.contains("fathom: took "), "\(recorded.stderr)")
        let report = try Fathom.run(["report", "--raw", "--format", "csv", session])
        var times: [String: Double] = [:]
        let lines = report.stdout.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        let columns = try lines.at(0)
        let name = try #require(columns.firstIndex(of: "name")), own = try #require(columns.firstIndex(of: "self_ns"))
        for line in lines.dropFirst() { times[String(try line.at(name))] = Double(try line.at(own)) }
        let all = times.values.reduce(0, +), known = ["half", "third", "fifth"].reduce(0) { $0 + (times[$1] ?? 0) }
        for (function, share) in [("half", 0.5), ("third", 0.3), ("fifth", 0.2)] {
            // There are 2,000 samples or more. On a busy machine, some stand for far more time than others.
            let found = (times[function] ?? 0) / known
            #expect(abs(found - share) < 0.12, "\(function): \(found), \(report.stdout)")
        }
        // Both threads ran as long as the program did.
        #expect(all > 0.8 * 2 * 1.5e9 && all < 1.3 * 2 * 1.5e9, "\(all)")
        let text = try Fathom.run(["report", session]).stdout
        #expect(text.contains("samples     total        ±      self  function (a sample stands for "), "\(text)")
        #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
    }

    /// Nothing calls a sample a call.
    @Test func samplesAreNoCalls() throws {
        let program = try Binaries.instrumented("shares.c", .gccO2)
        #expect(try record([program, "0.3"], ["--interval", "1ms"]).status == 0)
        let picture = directory.file("flame.svg")
        #expect(try Fathom.run(["flame", session, "-o", picture]).status == 0)
        let drawn = String(decoding: try readFile(picture), as: UTF8.self)
        #expect(drawn.contains(#/\d samples, total /#) && !drawn.contains(#/\d calls?, total /#))
        for (format, word) in [("dot", " samples\""), ("callgrind", "desc: Calls: samples of the stacks\n")] {
            let written = try Fathom.run(["export", "--format", format, "-o", "-", session]).stdout
            #expect(written.contains(word), "\(written.prefix(2000))")
        }
        let traced = directory.file("trace.fathom")
        #expect(try Fathom.record([program, "0.1"], into: traced, options: []).status == 0)
        let graph = try Fathom.run(["export", "--format", "dot", "-o", "-", traced]).stdout
        #expect(graph.contains(" calls\"") && !graph.contains("samples"))
    }

    /// No stack is told that never was: each is one of those that a recording of all calls has.
    @Test(arguments: [
        ["shares.c", "0.3"], ["fib.c", "27"], ["coroutines.c"], ["stacks.cpp", "throw"],
        ["jumps.c", "100000"],
    ])
    func everyStackWas(_ program: [String]) throws {
        for build in Build.two {
            let binary = try Binaries.instrumented(program[0], build)
            let command = [binary] + program.dropFirst(), trace = directory.file("trace.fathom")
            let recorded = try record(command, ["--interval", "100us"])
            let traced = try Fathom.record(command, into: trace, options: ["--mode", "profile"])
            #expect(recorded.status == traced.status)
            let found = try stacks(of: session).keys.map { Array("\($0);".utf8) }
            let known = try stacks(of: trace).keys.map { Array("\($0);".utf8) }
            for stack in found {
                #expect(
                    known.contains { $0.starts(with: stack) }, "\(build): \(String(decoding: stack, as: UTF8.self))")
            }
        }
    }

    /// Forks, threads that come and go, and a pause.
    @Test func processes() throws {
        let binary = try Binaries.instrumented("paths.c", .gccO2)
        let recorded = try record([binary, "20000", "5", "fork"], ["--interval", "200us"])
        #expect(recorded.status == 0, "\(recorded.stderr)")
        let info = try Fathom.run(["info", "--check", session])
        #expect(info.stdout.contains("damage       none"), "\(info.stdout)")
        let paused = try record([binary, "20000", "5"], ["--paused"])
        #expect(paused.status == 0 && paused.stderr.contains("took 0 samples of "), "\(paused.stderr)")
    }

    /// Whatever the recorder had found stays, apart from the last seconds, when it is killed.
    @Test func killedRecorder() throws {
        let program = try Binaries.instrumented("shares.c", .gccO2)
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-q", "--mode", "stack", "-o", session, "--", program, "6",
        ])
        #expect(waitUntil { (try? Fathom.run(["report", session]).stdout.contains("half")) ?? false })
        recorder.signal(SIGKILL)
        recorder.wait()
        #expect(try Fathom.run(["report", session]).stdout.contains("half"))
    }
}
