import TestSupport
import Testing

/// Signal handlers interrupt the program, and the runtime in the midst of its hooks; not a call is lost.
@Suite struct SignalTests {
    @Test(arguments: ["timer", "altstack", "late", "kill", "escape"], Build.all)
    func everyCallIsThere(_ kind: String, _ build: Build) throws {
        let binary = try Binaries.instrumented("signals.c", build)
        let directory = try TemporaryDirectory("signals")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let plain = try run(binary, [kind])
        let recorded = try Fathom.record([binary, kind], into: session, environment: ["TRUTH": truth])
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.status == 0)

        let dump = try Dump(session)
        #expect(dump.output.stderr.isEmpty, "\(dump.output.stderr)")
        let counts = try dump.counts()
        for line in try Truth.lines(truth) {
            let name = String(try line.at(0))
            #expect(counts[name, default: 0] == Int(try line.at(1)), "calls of \(name)")
        }
    }

    /// The recorder is stopped, so the program's thread waits for a buffer. Handlers that come meanwhile find room for their calls.
    @Test(arguments: Build.two)
    func handlersFindRoomWhileTheThreadWaits(_ build: Build) throws {
        let binary = try Binaries.instrumented("signals.c", build)
        let directory = try TemporaryDirectory("signals")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let recorded = try Fathom.record(
            [binary, "stopped"], into: session, options: ["--quiet", "--buffer-size", "16K"],
            environment: ["TRUTH": truth])
        #expect(recorded.status == 0)
        let counts = try Dump(session).counts()
        for line in try Truth.lines(truth) {
            let name = String(try line.at(0))
            #expect(counts[name, default: 0] == Int(try line.at(1)), "calls of \(name)")
        }
    }

    /// Whatever the options leave out is counted, and nothing else is missing, however often handlers interrupt the hooks. Where the
    /// recorder gets no processor in time, calls are lost, and that is told; of three recordings, one has all calls.
    @Test(arguments: ["timer", "altstack", "kill"], [["-D", "1"], ["-D", "2"], ["-t", "1s"], ["-t", "100ns"]])
    func everyCallIsThereOrLeftOut(_ kind: String, _ options: [String]) throws {
        let binary = try Binaries.instrumented("signals.c", .gccO2)
        for attempt in 1...3 {
            let lost = try lostCalls(of: binary, kind, options)
            if lost == 0 { return }
            #expect(attempt < 3, "\(lost) calls lost")
        }
    }

    /// Records the program, and expects that each call is shown, or counted as left out or lost.
    private func lostCalls(of binary: String, _ kind: String, _ options: [String]) throws -> Int {
        let directory = try TemporaryDirectory("signals")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let recorded = try Fathom.record(
            [binary, kind], into: session, options: options + ["--quiet"], environment: ["TRUTH": truth], isUrgent: true
        )
        #expect(recorded.status == 0)
        let dump = try Dump(session)
        var leftOut = 0
        try dump.forEach { line in if line.kind == "dropped" { leftOut += line.number(.calls) ?? 0 } }
        // main, the storm and threads' first functions are no part of the truth.
        let expected = try Truth.lines(truth).reduce(kind == "kill" ? 6 : 2) { $0 + (Int($1[1]) ?? 0) }
        let counts = try dump.counts()
        let kept = counts.values.reduce(0, +)
        let info = try Fathom.run(["info", "--format", "json", session]).stdout
        let lost = try #require(info.firstMatch(of: /"lost_calls": ?(\d+)/).flatMap { Int($0.1) })
        #expect(kept + leftOut + lost == expected, "\(counts), \(leftOut) left out and \(lost) lost of \(expected)")
        let tree = try Fathom.run(["tree", "--min-cost", "10s", session])
        #expect(
            lost > 0 || !tree.stderr.contains("begins with") && !tree.stderr.contains("lost"), "\(tree.stderr)")
        return lost
    }

    /// A handler that interrupted a hook forks once or twice, with hooks of its own or without, jumps within itself, or
    /// runs a vfork child: neither process is harmed, each has its own records, and the recording has no damage. The smallest buffers,
    /// so that many are interrupted in the midst of changing them.
    @Test(arguments: ["fork", "quiet", "twice", "again", "jump", "vfork"], [Build.gccO2, .clangO0])
    func handlersLeaveHooks(_ kind: String, _ build: Build) throws {
        let binary = try Binaries.instrumented("handlers.c", build)
        let directory = try TemporaryDirectory("handlers")
        let session = directory.file("session.fathom")
        let recorded = try Fathom.record([binary, kind], into: session, options: ["--quiet", "--buffer-size", "16K"])
        #expect(recorded.status == 0)
        #expect(recorded.stdout == "100 of 100\n")
        let tree = try run(Fathom.executable, ["tree", "--min-cost", "1s", session])
        #expect(tree.status == 0)
        for damage in ["begins with", "lost", "written over"] {
            #expect(!tree.stderr.contains(damage), "\(tree.stderr)")
        }
        guard let forks = ["fork": 100, "quiet": 100, "twice": 200, "again": 200][kind] else { return }
        let info = try Fathom.run(["info", session])
        #expect(info.stdout.contains("processes    \(forks + 1), threads \(forks + 1)\n"), "\(info.stdout)")
    }
}
