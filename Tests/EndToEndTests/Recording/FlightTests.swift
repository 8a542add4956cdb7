internal import Glibc
import TestSupport
import Testing

/// Recording into a ring, of which the last part is saved when there is a reason.
@Suite struct FlightTests {
    private let directory: TemporaryDirectory
    private var ring: String { directory.file("server.fathom") }
    private func save(_ number: Int) -> String { directory.file("server-\(number).fathom") }

    init() throws { directory = try TemporaryDirectory("flight") }

    private func record(
        _ build: Build, _ arguments: [String], _ options: [String] = [], isUrgent: Bool = false
    ) throws -> ProcessOutput {
        let binary = try Binaries.instrumented("requests.c", build)
        let size = options.contains("--keep") ? [] : ["--keep", "4M"]
        return try Fathom.record(
            [binary] + arguments, into: ring, options: ["--mode", "flight"] + size + options,
            environment: ["WAIT_MS": "1000"], isUrgent: isUrgent)
    }

    /// Whether a save tells of the request that waits for a second, and not of one that a busy machine made take longer than
    /// the 700 ms that the tests allow.
    private func tellsOfTheSlowOne(_ output: ProcessOutput) -> Bool {
        output.stderr.contains("in \(save(1)): handle took") && output.stderr.contains(#/handle took [0-9.]+ s /#)
    }

    private func names() throws -> [String] {
        try run("ls", [directory.path]).stdout.split(separator: "\n").map(String.init)
    }

    /// The calls of `handle` in a session, by how they ended, and the longest in milliseconds.
    private func handled(_ session: String, _ options: [String] = []) throws -> (calls: Int, longest: Int) {
        let report = try Fathom.run(["report", "--raw", "--format", "json"] + options + [session])
        #expect(report.status == 0 && report.stderr.isEmpty, "\(report.stderr)")
        let row = try #require(report.stdout.split(separator: "\n").first { $0.contains("\"handle\"") })
        func number(_ key: String) throws -> Int {
            let start = try #require(row.firstRange(of: "\"\(key)\":"), "\(row)").upperBound
            return try #require(Int(row[start...].prefix { $0.isNumber }), "\(row)")
        }
        return (try number("calls"), try number("max_ns") / 1_000_000)
    }

    /// One slow call among 100,000: it is saved whole, by itself, and nothing else is written.
    @Test(arguments: [Build.gccO2, .clangO0])
    func slowCallIsSaved(_ build: Build) throws {
        let recorded = try record(build, ["100000", "60000"], ["--when", "handle>700ms", "--when", "parse>1s"])
        #expect(recorded.status == 0)
        #expect(tellsOfTheSlowOne(recorded), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom"])
        let (calls, longest) = try handled(save(1))
        #expect(longest >= 1000)
        // The ring holds some ten thousand requests and more where its chunks are not full. The slow one is the 60,000th.
        #expect((1000...100_000).contains(calls), "\(calls)")
        let tree = try Fathom.run(["tree", "--filter", "handle", "--min-cost", "700ms", save(1)])
        #expect(tree.stdout.contains("wait_for_disk") && !tree.stdout.contains("(inherited)"), "\(tree.stdout)")
        let info = try Fathom.run(["info", save(1)])
        #expect(info.stdout.contains("saved        because handle took "), "\(info.stdout)")
        #expect(info.stdout.contains("damage       none"), "\(info.stdout)")
    }

    /// A save knows what the slow call waited for, and nothing of the kernel's is kept beside the ring.
    @Test func waitsAreSaved() throws {
        let recorded = try record(.gccO2, ["100000", "60000"], ["--when", "handle>700ms", "--blocked"])
        #expect(recorded.status == 0, "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom"])
        let waits = try Fathom.run(["waits", "--format", "json", save(1)]).stdout
        #expect(waits.contains("\"wait_for_disk\"") && waits.contains("\"sleep\""), "\(waits)")
        let chain = try Fathom.run(["chain", "--call", "handle", save(1)]).stdout
        #expect(chain.contains("waited for time to pass"), "\(chain)")
        // The call ran for less than it took by what it slept.
        let blocked = try handled(save(1), ["--times", "blocked"]).longest
        let whole = try handled(save(1)).longest
        #expect(blocked >= 990 && blocked <= whole, "\(blocked) of \(whole)")
    }

    /// Nothing happened, so nothing is kept.
    @Test func nothingIsKeptWithoutReason() throws {
        let recorded = try record(.gccO2, ["1000"], ["--when", "handle>700ms"])
        #expect(recorded.status == 0 && recorded.stderr.contains("nothing asked for a save, so nothing was kept"))
        #expect(try names().isEmpty)
    }

    @Test func programAsksForIt() throws {
        let recorded = try record(.clangO2, ["1000", "900", "save"])
        #expect(recorded.stderr.contains("the program asked for it"), "\(recorded.stderr)")
        #expect(try handled(save(1)).calls >= 901)
    }

    /// So does a trigger; `flight` is another word for `save`.
    @Test(arguments: ["save", "flight"]) func triggerAsksForIt(_ action: String) throws {
        let recorded = try record(.gccO2, ["1000", "900"], ["-T", "wait_for_disk@\(action)"])
        #expect(recorded.stderr.contains("in \(save(1)): the program asked for it"), "\(recorded.stderr)")
        #expect(try handled(save(1)).calls >= 901)
    }

    @Test func crashIsSaved() throws {
        let recorded = try record(.gccO2, ["200000", "150000", "abort"])
        #expect(recorded.signal == SIGABRT)
        #expect(recorded.stderr.contains("SIGABRT ended the program"), "\(recorded.stderr)")
        #expect(try (1000...150_001).contains(handled(save(1)).calls))
        let info = try Fathom.run(["info", save(1)]).stdout
        #expect(info.contains("kept         the newest calls of 1 thread; older ones were written over"), "\(info)")
        #expect(try names() == ["server-1.fathom"])
    }

    /// Four hundred other calls end at once behind it: none pushes out the one that matters, or is saved itself.
    @Test func manyLongCallsAtOnce() throws {
        let recorded = try record(.gccO2, ["1000", "900", "deep"], ["--when", "handle>700ms"])
        #expect(tellsOfTheSlowOne(recorded), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom"])
    }

    /// Calls that end by an exception or a jump take as long as any.
    @Test(arguments: [Build.gccO2, .clangO2], [[], ["jump"]]) func callsThatAreUnwoundAreLong(
        _ build: Build, _ arguments: [String]
    ) throws {
        let binary = try Binaries.instrumented("thrown.cpp", build)
        for options in [[], ["--max-depth", "100"]] {
            let recorded = try Fathom.record(
                [binary] + arguments, into: ring, options: ["--mode", "flight", "--when", "handle*>200ms"] + options)
            #expect(recorded.stderr.contains("handle took "), "\(recorded.stderr)")
        }
    }

    /// Each call of a recursion takes long when one does. That is one event.
    @Test func recursionIsSavedOnce() throws {
        let recorded = try record(.gccO2, ["1000", "900", "nested"], ["--when", "handle>700ms"])
        #expect(tellsOfTheSlowOne(recorded), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom"])
    }

    /// A condition on a function that there is not would never hold.
    @Test func unknownFunctionIsTold() throws {
        let recorded = try record(.gccO2, ["1000"], ["--when", "hanlde>200ms", "--when", "handle>700ms"])
        #expect(
            recorded.stderr.contains(
                "warning: --when hanlde matches no function of the program or the libraries that it needs; did you mean"
            ),
            "\(recorded.stderr)")
        #expect(!recorded.stderr.contains("--when handle matches"))
    }

    /// A call that takes half the ring is saved whole, although the program goes on and fills the ring meanwhile. Where the recorder
    /// came too late for that, it says so.
    @Test func largeCallIsSavedWhole() throws {
        var recorded: ProcessOutput
        var tries = 0
        repeat {
            for name in try names() { try #require(run("rm", ["-r", directory.file(name)]).status == 0) }
            recorded = try record(
                .gccO2, ["5000000", "500000", "large"], ["--keep", "16M", "--when", "handle_all>300ms"], isUrgent: true)
            #expect(recorded.stderr.contains("in \(save(1)): handle_all took"), "\(recorded.stderr)")
            tries += 1
        } while recorded.stderr.contains("which is not whole") && tries < 5
        let tree = try Fathom.run(["tree", "--filter", "handle_all", "--max-depth", "2", save(1)]).stdout
        #expect(tree.contains("handle_all") && !tree.contains("(inherited)"), "\(tree)")
        #expect(try handled(save(1), ["--filter", "handle_all"]).calls == 100_001)
        let info = try Fathom.run(["info", "--check", save(1)]).stdout
        #expect(info.contains("damage       none") && info.contains("kept         the newest"), "\(info)")
    }

    /// One that is larger than the ring is not, and the save says so.
    @Test func callThatIsNotWholeIsTold() throws {
        let recorded = try record(
            .gccO2, ["1000", "500", "large"], ["--keep", "1M", "--buffer-size", "16K", "--when", "handle_all>1ms"])
        let told = "which is not whole: its beginning is not kept"
        #expect(recorded.stderr.contains(told), "\(recorded.stderr)")
        let info = try Fathom.run(["info", save(1)]).stdout
        #expect(info.contains("because handle_all took") && info.contains(told), "\(info)")
    }

    /// The time that is kept is kept to, also where one buffer goes back for longer.
    @Test func noMoreTimeIsKept() throws {
        let recorded = try record(
            .gccO2, ["20", "15", "nested"], ["--keep", "2M", "--keep", "50ms", "--when", "handle>700ms"])
        #expect(recorded.stderr.contains("handle took"), "\(recorded.stderr)")
        // The innermost handle waits for a second, in the midst of which the time begins.
        let lines = try Fathom.run(["dump", save(1)]).stdout.split(separator: "\n")
        let first = try #require(
            lines.first { $0.contains(" inherited ") && $0.hasSuffix(" wait_for_disk") }, "\(lines)")
        let last = try #require(lines.last { $0.contains(" exit ") })
        func time(_ line: Substring) throws -> UInt64 {
            try #require(line.split(separator: " ").first.flatMap { UInt64($0) })
        }
        // In ns; ticks are a bit less than one.
        #expect(try (49_999_900...50_000_100).contains(time(last) - time(first)), "\(lines)")
        let check = try Fathom.run(["info", "--check", save(1)])
        #expect(check.status == 0 && check.stdout.contains("damage       none"), "\(check.stdout)")
    }

    /// A crash is saved however many saves there were.
    @Test func crashIsSavedBeyondTheLimit() throws {
        let options = ["--when", "handle>700ms", "--limit-saves", "1/hour"]
        let recorded = try record(.gccO2, ["100000", "70000", "abort"], options)
        #expect(tellsOfTheSlowOne(recorded), "\(recorded.stderr)")
        #expect(recorded.stderr.contains("in \(save(2)): SIGABRT ended the program"), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom", "server-2.fathom"])
    }

    /// Something else has the name of the save: the ring is left, and nobody says that nothing asked for a save.
    @Test func ringIsLeftWhenTheSaveFails() throws {
        let file = try Binaries.instrumented("requests.c", .gccO2)
        // The place is taken while the program runs.
        let script = "echo mine >server-1.fathom; exec \(file) 1000 900 abort"
        let recorded = try run(
            Fathom.executable,
            ["record", "--force", "--mode", "flight", "-o", "server.fathom", "--", "/bin/sh", "-c", script],
            workingDirectory: directory.path)
        #expect(recorded.stderr.contains("warning: a save failed"), "\(recorded.stderr)")
        #expect(recorded.stderr.contains("what the ring held is left in server.fathom"), "\(recorded.stderr)")
        #expect(!recorded.stderr.contains("nothing asked"))
        #expect(try handled(ring).calls == 901)
    }

    /// Saves of an earlier run stay what they are, and what a recorder left that was killed while it saved is in nobody's
    /// way.
    @Test func numbersGoOn() throws {
        _ = try record(.clangO2, ["1000", "900", "save"])
        _ = try run("mkdir", [directory.file("server-4.fathom.saving")])
        let recorded = try record(.clangO2, ["1000", "900", "save"])
        #expect(recorded.stderr.contains("in \(save(5)): the program asked for it"), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom", "server-4.fathom.saving", "server-5.fathom"])
    }

    /// Three times what 99 of 100 calls take, once there were a thousand, however early that is.
    @Test(arguments: [("20000000", "19999990"), ("20000", "12000")], ["p99*100000", "p50*100000"])
    func limitByPercentile(_ counts: (String, String), _ limit: String) throws {
        let recorded = try record(
            .gccO2, [counts.0, counts.1], ["--when", "parse>p99*900000", "--when", "handle>\(limit)"],
            isUrgent: true)
        #expect(recorded.stderr.contains("handle took "), "\(recorded.stderr)")
    }

    /// Fewer calls have no percentile.
    @Test func noPercentileOfFewCalls() throws {
        let recorded = try record(.gccO2, ["900", "800"], ["--when", "handle>p99*3"])
        #expect(recorded.stderr.contains("nothing asked for a save"), "\(recorded.stderr)")
    }

    @Test func savesAreLimited() throws {
        let options = ["--when", "handle>1ns", "--limit-saves", "2/hour"]
        let recorded = try record(.gccO2, ["5000000"], options)
        #expect(recorded.stderr.contains("beyond the limit w"), "\(recorded.stderr)")
        #expect(try names() == ["server-1.fathom", "server-2.fathom"])
    }

    /// A signal to the recorder saves; and whoever is killed, the ring is still there to be read.
    @Test func signalsAndKills() throws {
        let binary = try Binaries.instrumented("requests.c", .gccO2)
        let truth = directory.file("truth")
        let recorder = try BackgroundProcess(
            [
                Fathom.executable, "record", "-o", ring, "--quiet", "--mode", "flight", "--keep", "4M", "--save-on",
                "USR1", "--", binary, "100000", "50000", "hang",
            ], environment: ["TRUTH": truth])
        // The program hangs in the midst of a request.
        func hangs(_ session: String) -> Bool {
            (try? Fathom.run(["tree", session]))?.stdout.contains("mark: about to hang") ?? false
        }
        #expect(waitUntil(seconds: 60) { hangs(ring) })
        recorder.signal(SIGUSR1)
        #expect(waitUntil(seconds: 60) { hangs(save(1)) })
        let tree = try Fathom.run(["tree", "--filter", "wait_for_disk", save(1)]).stdout
        #expect(tree.contains("wait_for_disk"), "\(tree)")
        let info = try Fathom.run(["info", save(1)]).stdout
        #expect(info.contains("went on after this was saved"), "\(info)")
        recorder.signal(SIGKILL)
        recorder.wait()
        let process = try #require(Int32(try Truth.lines(truth).at(0).at(0)))
        kill(process, SIGKILL)
        #expect(waitUntil { kill(process, 0) != 0 })
        #expect(hangs(ring))
        let left = try Fathom.run(["tree", "--max-depth", "1", "--filter", "main", ring])
        #expect(left.stdout.contains("main (inherited)") || left.stdout.contains("(open"), "\(left.stdout)")
        #expect(!left.stderr.contains("lost"), "\(left.stderr)")
    }

    /// The program has ended and left a daemon: whoever records that in the background gets the signal.
    @Test func signalInTheBackground() throws {
        let binary = try Binaries.instrumented("requests.c", .gccO2), truth = directory.file("truth")
        let recorded = try run(
            Fathom.executable,
            [
                "record", "-o", "server.fathom", "--mode", "flight", "--save-on", "USR1", "--", binary, "1000", "500",
                "daemon",
            ], environment: ["TRUTH": truth], workingDirectory: directory.path)
        #expect(recorded.status == 0)
        let recorder = try #require(recorded.stderr.firstRange(of: "background (pid ")?.upperBound)
        let pid = try #require(Int32(String(recorded.stderr[recorder...].prefix { $0.isNumber })))
        #expect(waitUntil { ((try? Truth.lines(truth)) ?? []).count == 1 })
        let daemon = try #require(Int32(try Truth.lines(truth).at(0).at(0)))
        defer { kill(daemon, SIGKILL) }
        #expect(waitUntil { (try? Fathom.run(["tree", ring]))?.stdout.contains("about to hang") ?? false })
        kill(pid, SIGUSR1)
        // A save has its name once it is whole.
        #expect(waitUntil(seconds: 20) { access(save(1), F_OK) == 0 })
        #expect(try handled(save(1)).calls == 501)
        kill(daemon, SIGKILL)
        // Nobody is left, so the recorder ends.
        #expect(waitUntil(seconds: 20) { access(ring, F_OK) != 0 })
        #expect(try names().filter { $0.hasPrefix("server") } == ["server-1.fathom"])
    }

    /// Threads, coroutines, exceptions, forks and signal handlers: what is saved is read without damage, and what was kept
    /// is what a reader finds.
    @Test(arguments: [
        ("torture.cpp", "20000"), ("coroutines.c", "2000"), ("threads.c", "20000"), ("fork_threads.c", "200"),
    ])
    func programsAreSavedWithoutDamage(_ source: String, _ argument: String) throws {
        let binary = try Binaries.instrumented(source, .gccO2)
        let options = ["--mode", "flight", "--keep", "1M", "--when", "*>1ns", "--limit-saves", "4/hour"]
        let plain = try run(binary, [argument])
        let recorded = try Fathom.record([binary, argument], into: ring, options: options)
        #expect(recorded.status == plain.status && recorded.stdout == plain.stdout)
        for name in try names() {
            let checked = try Fathom.run(["info", "--check", directory.file(name)])
            #expect(checked.status == 0, "\(name): \(checked.stdout)\(checked.stderr)")
        }
        #expect(try !names().isEmpty)
    }

    /// Four threads that fill buffers at different rates: what is kept of each has no gap, and what it lacks is told.
    @Test func threadsOfDifferentRates() throws {
        let binary = try Binaries.instrumented("rates.c", .gccO2)
        let recorded = try Fathom.record(
            [binary, "3000000"], into: ring, options: ["--mode", "flight", "--keep", "2M", "--buffer-size", "16K"])
        #expect(recorded.status == 0)
        let checked = try Fathom.run(["info", "--check", save(1)])
        #expect(checked.status == 0 && checked.stdout.contains("damage       none"), "\(checked.stdout)")
        let report = try Fathom.run(["report", "--raw", "--format", "json", save(1)]).stdout
        #expect(report.contains("\"step\""), "\(report)")
    }

    @Test(arguments: [
        (["--keep", "4M"], "--keep is for --mode flight"),
        (["--mode", "flight", "--keep", "10K"], "--keep takes sizes from 1M to 64G"),
        (["--mode", "flight", "--keep", "2M", "--keep", "4M"], "--keep takes one size and one time"),
        (["--mode", "flight", "--keep", "4G"], "at most 2G with buffers of 64K: add --buffer-size 128K"),
        (["--mode", "flight", "--keep", "5X"], "'5X' is neither a size, as 64M, nor a time, as 30s"),
        (["--mode", "flight", "--when", "handle"], "a condition is a function and a limit"),
        (["--mode", "flight", "--when", "handle>p75"], "'p75' is no limit"),
        (["--mode", "flight", "--when", "handle>5"], "5 of what?"),
        (["--mode", "flight", "--save-on", "KILL"], "--save-on is one of"),
        (["--mode", "flight", "--limit-saves", "often"], "--limit-saves is a number of saves an hour"),
        (["--mode", "flight", "--max-size", "1M"], "--max-size is for --mode trace"),
        (["--mode", "fly"], "--mode"),
    ]) func wrongUse(_ options: [String], _ message: String) throws {
        let output = try Fathom.run(["record"] + options + ["--", "/bin/true"])
        #expect(output.status == 64 && output.stderr.contains(message), "\(output.stderr)")
    }
}
