internal import Glibc
import TestSupport
import Testing

/// Programs that do not get on, and what `fathom watch` says of them.
@Suite struct HangTests {
    private let hangs: Hangs

    init() throws { hangs = try Hangs() }

    /// A way to hang, with the kind of wait and a part of the words that say what for.
    struct Shape: Sendable, CustomTestStringConvertible {
        var way: String
        var wait: String
        var words: String
        var testDescription: String { way }
    }

    static let shapes: [Shape] = [
        Shape(way: "sleep", wait: "sleep", words: "the end of a sleep of 100.0 s"),
        Shape(way: "mutex", wait: "mutex", words: "holds"),
        Shape(way: "rwlock", wait: "rwlock", words: "a read-write lock"),
        Shape(way: "condition", wait: "condition", words: "a condition variable"),
        Shape(way: "semaphore", wait: "semaphore", words: "a semaphore"),
        Shape(way: "barrier", wait: "barrier", words: "at a barrier"),
        Shape(way: "once", wait: "once", words: "initialisation"),
        Shape(way: "stream", wait: "stream", words: "a stream of stdio"),
        Shape(way: "join", wait: "join", words: "the end of thread "),
        Shape(way: "pipe", wait: "read", words: "a pipe"),
        Shape(way: "full-pipe", wait: "write", words: "a pipe"),
        Shape(way: "socket", wait: "recvfrom", words: "a local socket"),
        Shape(way: "poll", wait: "poll", words: "a pipe"),
        Shape(way: "epoll", wait: "epoll_wait", words: "eventpoll"),
        Shape(way: "fork", wait: "child", words: "the end of child "),
        Shape(way: "flock", wait: "file lock", words: ", which process "),
        Shape(way: "signal", wait: "signal", words: "a signal"),
        Shape(way: "select", wait: "poll", words: "select"),
        Shape(way: "self", wait: "mutex", words: "which this thread itself holds"),
    ]

    /// Each way to wait is named.
    @Test(arguments: shapes) func waits(_ shape: Shape) throws {
        let watch = try hangs.start(["--timeout", "200ms"], [Hangs.program(), shape.way, "100000"])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(
            hangs.wait { $0.path.contains("hang_\(shape.way.replacing("-", with: "_"))") && !$0.hasChild })
        let tid = try #require(report.member("thread"))
        let thread = try #require(report.thread(tid))
        #expect(thread.member("wait") == shape.wait, "\(report)")
        #expect(thread.member("waits_for")?.contains(shape.words) == true, "\(report)")
        let path = report.path
        #expect(path.first == "main" && path.contains("hang_\(shape.way.replacing("-", with: "_"))"))
        if shape.words == "holds" || shape.way == "rwlock" || shape.way == "join" {
            let owner = try #require(thread.member("owner"))
            #expect(report.thread(owner)?.member("wait") == "sleep", "\(report)")
        }
    }

    /// A thread that spins waits for nothing, and says how much of a processor it takes.
    @Test func spin() throws {
        let watch = try hangs.start(["--timeout", "200ms"], [Hangs.program(), "spin", "100000"])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(hangs.wait())
        #expect(report.member("kind") == "hang" && report.member("wait") == "null", "\(report)")
        #expect(report.path == ["main", "hang_spin"])
        let used = try #require(report.thread(report.member("thread") ?? "")?.member("cpu_percent"))
        #expect(try #require(Double(used)) > 5, "it was 0 where the limit was shorter than a second: \(report)")
    }

    /// Two mutexes that two threads take in different orders: named with both paths and owners, within three seconds at the
    /// limit that holds unless another is asked for.
    @Test func deadlock() throws {
        let begin = time(nil)
        let watch = try hangs.start([], [Hangs.program(), "deadlock", "100000"])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(hangs.wait { $0.member("kind") == "deadlock" })
        #expect(time(nil) - begin <= 5, "that is three seconds, and the start of both")
        let circle = try #require(report.member("circle")).filter { !"[]".contains($0) }.split(separator: ",")
        #expect(circle.count == 2)
        for (index, tid) in circle.enumerated() {
            let thread = try #require(report.thread(String(tid)))
            #expect(thread.member("owner") == String(circle[1 - index]), "\(report)")
        }
        #expect(report.contains("\"take_both\"") && report.contains("\"hang_deadlock\""))
        #expect(hangs.found().count == 1)
    }

    /// Threads wait for each other while the main thread is never long in one call.
    @Test func deadlockOfOthers() throws {
        let watch = try hangs.start(["--timeout", "200ms"], [Hangs.program(), "workers", "100000"])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(hangs.wait { $0.member("kind") == "deadlock" }, "\(hangs.found())")
        #expect(report.contains("\"take_first\"") && report.contains("\"take_both\""))
    }

    /// A hang is one report, which has its real duration in the end; a shorter call is none.
    @Test func durations() throws {
        let options = ["--timeout", "800ms"]
        let short = try run(hangs.command(options, [Hangs.program(), "sleep", "100", "3"]))
        #expect(short.status == 0 && hangs.found().isEmpty)
        try expectDurations(options, ["sleep", "1600", "2"], path: ["main", "hang_sleep", "wait_for"])
        let list = try Fathom.run(["watch", "--list", hangs.reports])
        #expect(list.status == 0 && list.stdout.contains(": main → hang_sleep → wait_for"))
        #expect(list.stdout.split(separator: "\n").count == 2, "\(list.stdout)")
    }

    /// The time between two marks is watched in place of calls: what lies outside does not hang.
    @Test func marks() throws {
        let options = ["--timeout", "400ms", "--between", "request begins,request ends"]
        try expectDurations(
            options, ["requests", "900", "3"], path: ["main", "hang_requests", "wait_for"], outside: 900)
    }

    /// Each hang of a program has a report that has ended, and tells how long it was: no less than what the program waits for,
    /// and all together no longer than the program ran.
    ///
    /// - Parameters:
    ///   - program: how it hangs, for how many ms, and how often.
    ///   - outside: for how many ms it waits besides, each time.
    private func expectDurations(
        _ options: [String], _ program: [String], path: [String], outside: Double = 0
    ) throws {
        let wait = try #require(Double(try program.at(1))), times = try #require(Double(try program.at(2)))
        let start = ContinuousClock.now
        let output = try run(hangs.command(options, [Hangs.program()] + program))
        let whole = (ContinuousClock.now - start) / .nanoseconds(1)
        let reports = hangs.found()
        #expect(output.status == 0 && reports.count == Int(times), "\(output.stderr)")
        var sum = 0.0
        for report in reports {
            #expect(report.member("kind") == "hang" && report.member("ended") == "true", "\(report)")
            #expect(report.path == path, "\(report)")
            let duration = try #require(report.member("duration_ns").flatMap { Double($0) })
            #expect(duration >= wait * 1e6, "\(report)")
            sum += duration
        }
        #expect(sum <= whole - outside * times * 1e6, "\(sum) of \(whole)")
    }

    /// What hangs before a mark hangs in the launch.
    @Test func launch() throws {
        let output = try run(
            hangs.command(
                ["--timeout", "400ms", "--launched", "launched"], [Hangs.program(), "requests", "900", "2"]))
        #expect(output.status == 0)
        #expect(hangs.found().map { $0.member("kind") } == ["launch", "hang"])
    }

    /// A process that takes more of the processors than it may, for as long as is said, is reported as that.
    @Test func processors() throws {
        let options = ["--cpu-limit", "2%", "--cpu-time", "1s", "--timeout", "20s"]
        let busy = try run(hangs.command(options, [Hangs.program(), "spin", "3000"]))
        #expect(busy.status == 0)
        #expect(hangs.found().first?.member("kind") == "cpu", "\(hangs.found())")
        let idle = try Hangs()
        #expect(try run(idle.command(options, [Hangs.program(), "sleep", "3000"])).status == 0)
        #expect(idle.found().isEmpty, "\(idle.found())")
    }

    /// Of many threads, no stacks are taken, unless that is asked for.
    @Test func manyThreads() throws {
        let many = try run(hangs.command(["--timeout", "200ms"], [Hangs.program(), "threads", "500"]))
        #expect(many.status == 0)
        let report = try #require(hangs.found().first)
        #expect(report.member("kind") == "threads" && report.path.isEmpty, "\(report)")
        #expect(Int(report.member("thread_count") ?? "") == 71)
        let more = try Hangs()
        _ = try run(more.command(["--timeout", "200ms", "--max-threads", "100"], [Hangs.program(), "threads", "500"]))
        #expect(more.found().first?.member("kind") == "hang")
    }

    /// What is beyond the limit of a day is counted.
    @Test func dailyLimit() throws {
        let options = ["--timeout", "200ms", "--limit-reports", "2/day"]
        let command = hangs.command(options, [try Hangs.program(), "sleep", "400", "4"]).filter { $0 != "--quiet" }
        let output = try run(command)
        #expect(hangs.found().count == 2)
        #expect(output.stderr.contains("2 more were counted and not written"), "\(output.stderr)")
        // The day's reports are those of all runs.
        let again = try run(command)
        #expect(hangs.found().count == 2)
        #expect(again.stderr.contains("4 hangs were counted and not written"), "\(again.stderr)")
        #expect(!again.stderr.contains("nothing hung"), "\(again.stderr)")
    }

    /// A process that is stopped does not hang, and the time in which it is stopped does not count.
    @Test func stoppedProcess() throws {
        let start = ContinuousClock.now
        let watch = try hangs.start(["--timeout", "600ms"], [Hangs.program(), "poll", "100000"])
        defer { withExtendedLifetime(watch) {} }
        let program = try #require(child(of: watch.pid))
        // It may hang before it is stopped, on a busy machine; then the report says how long it did.
        let stop = ContinuousClock.now
        kill(program, SIGSTOP)
        usleep(1_500_000)
        let early = hangs.found().count
        let stopped = ContinuousClock.now - stop
        kill(program, SIGCONT)
        let report = try #require(hangs.wait())
        let whole = ContinuousClock.now - start
        #expect(early == 0 || report.member("ended") == "false")
        let duration = try #require(report.member("duration_ns").flatMap { Double($0) })
        let running = (whole - stopped) / .nanoseconds(1)
        if early == 0 { #expect(duration >= 600e6 && duration <= running, "\(running): \(report)") }
    }

    /// The child of a process.
    private func child(of pid: Int32) -> Int32? {
        var found: Int32?
        _ = waitUntil {
            let path = "/proc/\(pid)/task/\(pid)/children"
            let text = (try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            found = text.split(separator: " ").first.flatMap { Int32($0) }
            return found != nil
        }
        return found
    }

    /// A program that was killed in a hang did not end by itself.
    @Test func killed() throws {
        let watch = try hangs.start(["--timeout", "200ms"], [Hangs.program(), "pipe", "0"])
        let report = try #require(hangs.wait())
        #expect(report.member("kind") == "hang" && report.member("ended") == "false")
        kill(Int32(report.member("pid") ?? "") ?? 0, SIGKILL)
        #expect(watch.wait() & 0x7f == SIGKILL)
        #expect(hangs.found().map { $0.member("kind") } == ["killed"])
        #expect(hangs.found().first?.member("ended") == "true")
    }

    /// Calls of named functions are watched on any thread.
    @Test func root() throws {
        let watch = try hangs.start(
            ["--timeout", "200ms", "--root", "take_*"], [Hangs.program(), "workers", "100000"])
        defer { withExtendedLifetime(watch) {} }
        // Both hang in one deadlock, which is one report.
        let report = try #require(hangs.wait())
        #expect([["take_first"], ["take_both"]].contains(report.path), "\(report)")
    }

    /// A session that somebody else records can be watched, by its name or by its process.
    @Test(arguments: [["--mode", "trace"], ["--mode", "profile"]]) func session(_ options: [String]) throws {
        let session = hangs.directory.file("running.fathom")
        let recorder = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "-o", session] + options + ["--", Hangs.program(), "pipe", "0"])
        let program = try #require(child(of: recorder.pid))
        try #require(waitUntil { (try? readFile("/proc/\(program)/syscall"))?.first == UInt8(ascii: "0") })
        for target in [session, "\(program)"] {
            let reports = hangs.directory.file("reports-\(target == session)")
            let watch = try BackgroundProcess(
                [Fathom.executable, "watch", "-q", "--timeout", "200ms", "--reports", reports, target])
            #expect(waitUntil { !Hangs.files(in: reports).isEmpty }, "\(target)")
            watch.signal(SIGINT)
            #expect(watch.wait() == 0)
        }
        kill(program, SIGTERM)
        recorder.wait()
        let late = try Fathom.run(["watch", session])
        #expect(late.status == 2 && late.stderr.contains("nobody records into it any more"), "\(late.stderr)")
    }

    /// Where calls are left out, nothing that is watched for might ever be seen.
    @Test func blindSpots() throws {
        let session = hangs.directory.file("x.fathom")
        let recorder = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "--max-depth", "3", "-o", session, "--", Hangs.program(), "pipe", "0"])
        defer { recorder.signal(SIGTERM) }
        #expect(waitUntil { (try? Fathom.run(["ctl", session, "stop"]).status) == 0 })
        let reports = hangs.directory.file("reports")
        let watched = try run("timeout", ["-s", "INT", "2", Fathom.executable, "watch", "--reports", reports, session])
        #expect(watched.stderr.contains("calls that --max-depth of fathom record left out are not seen"))
        #expect(watched.stderr.contains("recording is stopped, so no call is seen until fathom ctl starts it"))
    }

    @Test func wrongUse() throws {
        let none = try Fathom.run(["watch"])
        #expect(none.status == 64 && none.stderr.contains("name what to watch"))
        let other = try BackgroundProcess(["sleep", "300"])
        defer { other.signal(SIGKILL) }
        let untraced = try Fathom.run(["watch", "\(other.pid)"])
        #expect(untraced.status == 2 && untraced.stderr.contains("is not being recorded"), "\(untraced.stderr)")
        let short = try Fathom.run(["watch", "--timeout", "60ms", "--", "true"])
        #expect(short.status == 64 && short.stderr.contains("twice the time between two samples"))
        let list = try Fathom.run(["watch", "--list", hangs.directory.path])
        #expect(list.status == 1 && list.stderr.contains("no reports of hangs"))
    }
}

extension String {
    /// Whether the report is of a child that the program has forked, whose calls are inherited.
    fileprivate var hasChild: Bool { path.contains("wait_for") && !path.contains("hang_sleep") }
}

/// Runs a command whose first word is the program.
private func run(_ command: [String]) throws -> ProcessOutput {
    try TestSupport.run(command[0], Array(command.dropFirst()))
}
