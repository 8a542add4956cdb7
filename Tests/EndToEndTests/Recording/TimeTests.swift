internal import Glibc
import TestSupport
import Testing

/// Times in the tree are the times that passed.
@Suite struct TimeTests {
    /// A program of sleeps and spins that measures itself. Its own measurement lies within the call, so the call may
    /// be longer when the machine takes the processor away between the two; most calls must agree within 1 %.
    @Test(arguments: Build.all)
    func knownTimes(_ build: Build) throws {
        let binary = try Binaries.instrumented("timing.c", build)
        let directory = try TemporaryDirectory("time")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        #expect(try Fathom.record([binary], into: session, environment: ["TRUTH": truth]).status == 0)

        var entered: [(function: String, time: Int)] = []
        var measured: [(function: String, time: Int)] = []
        try Dump(session).forEach { line in
            guard let function = line.text(.function), let time = line.number(.time) else { return }
            if line.kind == "enter" { entered.append((function, time)) }
            if line.kind == "exit", let call = entered.popLast() {
                #expect(call.function == function)
                measured.append((function, time - call.time))
            }
        }
        let expected = try Truth.lines(truth).map { (function: String($0[0]), time: Int($0[1]) ?? 0) }
        #expect(measured.map(\.function) == expected.map(\.function))
        let close = zip(measured, expected).filter { abs($0.time - $1.time) * 100 <= $1.time }.count
        #expect(close * 10 >= expected.count * 8, "\(zip(measured, expected).map { "\($0) \($1.time)" })")
    }

    /// However many threads there are for each processor: what is taken out as the tracer's is
    /// little of the processor time that the threads had, and calls last as long as they say themselves.
    @Test(arguments: [2, 8, 16, 64])
    func busyThreads(_ threads: Int) throws {
        var recorded = [try recordSpins(threads)]
        // Others can only make the numbers worse, so the best of some recordings counts.
        while recorded.last?.isExact == false && recorded.count < 5 { recorded.append(try recordSpins(threads)) }
        #expect(recorded.last?.isExact == true, "\(recorded)")
    }

    /// What a recording says of threads that spin.
    private struct Spins {
        /// What part of the threads' processor time is the tracer's: 1 % on a quiet machine. Where waiting was taken for it, it was
        /// half of the time.
        var tracer: Double
        /// By what part the calls last longer or shorter than they say.
        var deviation: Double

        var isExact: Bool { tracer > 0 && tracer <= 0.05 && deviation <= 0.02 }
    }

    /// Records threads that spin.
    private func recordSpins(_ threads: Int) throws -> Spins {
        let binary = try Binaries.instrumented("busy.c", .gccO2)
        let directory = try TemporaryDirectory("busy")
        let session = directory.file("session.fathom")
        let truth = directory.file("truth")
        let recorded = try Fathom.record(
            [binary, "\(threads)", "\(1200 / threads + 20)"], into: session, environment: ["TRUTH": truth],
            isUrgent: true)
        #expect(recorded.status == 0)
        let line = try #require(try Truth.lines(truth).first)
        let wall = try #require(Double(try line.at(0))), processor = try #require(Double(try line.at(1)))
        let rows = try Fathom.run(["report", session, "--raw", "--format", "csv"]).stdout.split(separator: "\n")
        let names = try #require(rows.first).split(separator: ",", omittingEmptySubsequences: false)
        let total = try #require(names.firstIndex { $0.hasPrefix("total") })
        let spin = try #require(rows.first { $0.hasPrefix("spin,") })
            .split(separator: ",", omittingEmptySubsequences: false)
        let time = try #require(Double(spin.at(total)))
        let info = try Fathom.run(["info", session, "--format", "json"]).stdout
        let tracer = try #require(info.firstRange(of: "\"tracer_ns\":"))
        let taken = try #require(Double(info[tracer.upperBound...].prefix { $0.isNumber }))
        return Spins(tracer: taken / processor, deviation: abs(time - wall) / wall)
    }

    /// An exec hands in the chunk; when it fails, the time until the next chunk is the program's, not the tracer's.
    @Test func timeAfterAFailedExecIsTheProgramsOwn() throws {
        let binary = try Binaries.instrumented("failed_exec.c", .gccO2)
        let directory = try TemporaryDirectory("exec")
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([binary], into: session).status == 0)
        let dump = try Dump(session)
        #expect(try dump.counts() == ["main": 1, "try": 1, "next": 2])
        var begin = 0, total = 0
        try dump.forEach { line in
            guard line.text(.function) == "try", let time = line.number(.time) else { return }
            if line.kind == "enter" { begin = time }
            if line.kind == "exit" { total = time - begin }
        }
        #expect(total >= 100_000_000)
    }

    /// A call that the process's end cut off had lasted until then, though no record says so.
    @Test(arguments: [SIGKILL, SIGSEGV])
    func openCallsLastUntilTheEnd(_ signal: Int32) throws {
        let binary = try Binaries.instrumented("lastcall.c", .gccO2)
        let directory = try TemporaryDirectory("last")
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([binary, "\(signal)"], into: session).signal == signal)
        var begin: [String: Int] = [:], total: [String: Int] = [:]
        try Dump(session).forEach { line in
            guard let function = line.text(.function), let time = line.number(.time) else { return }
            if line.kind == "enter" { begin[function] = time }
            if line.kind == "open" { total[function] = time - (begin[function] ?? time) }
        }
        #expect(total["last", default: 0] >= 100_000_000)
        #expect(total["main", default: 0] >= total["last", default: 0])
        let info = try run(Fathom.executable, ["info", session])
        #expect(info.stdout.contains(signal == SIGKILL ? "killed by SIGKILL" : "killed by SIGSEGV"))
    }

    /// A library that shows programs another time, also Fathom itself, changes nothing of what is measured: one by which the clock
    /// stands still, and one by which it runs ten times as fast.
    @Test(arguments: ["0", "10"]) func clockOfAnother(_ factor: String) throws {
        let directory = try TemporaryDirectory("clock")
        let clock = try directory.write(
            """
            #include <stdint.h>
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                long result = syscall(SYS_clock_gettime, clock, time);
                uint64_t shown = ((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec) % 1000000000000u * FACTOR;
                time->tv_sec = (time_t)(shown / 1000000000u), time->tv_nsec = (long)(shown % 1000000000u);
                return (int)result;
            }

            """, to: "clock.c")
        let library = directory.file("libclock.so")
        let made = try run("gcc", ["-shared", "-fPIC", "-DFACTOR=\(factor)", clock, "-o", library])
        try #require(made.status == 0, "\(made.stderr)")
        let source = try directory.write(
            "#include <unistd.h>\nvoid nap(void) { usleep(500000); }\nint main(void) { nap(); return 0; }\n", to: "p.c")
        let program = directory.file("p")
        try #require(try Fathom.run(["build", "--", "gcc", "-g", source, "-o", program]).status == 0)
        let session = directory.file("p.fathom")
        let start = ContinuousClock.now
        let recorded = try Fathom.record([program], into: session, environment: ["LD_PRELOAD": library])
        let whole = (ContinuousClock.now - start) / .nanoseconds(1)
        #expect(recorded.status == 0, "\(recorded.stderr)")
        let report = try Fathom.run(["report", session, "--format", "json"])
        let total = try #require(report.stdout.firstMatch(of: #/"name":"nap".*?"total_ns":(\d+)/#)?.1)
        let nanoseconds = try #require(Double(total))
        #expect(nanoseconds >= 500e6 && nanoseconds < whole, "\(report.stdout)")
    }
}
