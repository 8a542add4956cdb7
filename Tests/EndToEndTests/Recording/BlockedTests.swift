internal import Foundation
internal import Glibc
import TestSupport
import Testing

/// What threads waited for, and who made them go on.
@Suite struct BlockedTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("waits.fathom") }

    init() throws { directory = try TemporaryDirectory("blocked") }

    private func record(_ way: RecordedWaits.Way, _ build: Build) throws -> RecordedWaits {
        let binary = try Binaries.instrumented("waits.c", build)
        // Where a thread gets no processor for as long as the other one naps, it finds that it need not wait.
        let waits = ["semaphore", "lock", "condition", "descriptor", "thread"]
        let recorded = try RecordedWaits.undisturbed(binary, ["100"], way, in: directory) { measured in
            waits.allSatisfy { measured[$0, default: 0] > 50e6 }
        }
        // What waits must not change.
        let lines = recorded.output.split(separator: "\n")
        #expect(lines.suffix(3) == ["cancelled", "timed out", "busy"], "\(recorded.output)")
        return recorded
    }

    /// Every wait has its object, its waker and its time.
    @Test(arguments: RecordedWaits.Way.allCases, [Build.gccO2, .clangO0])
    func waitsAndWakers(_ way: RecordedWaits.Way, _ build: Build) throws {
        let recorded = try record(way, build)
        let knowsSwitches = try recorded.knowsSwitches()
        if way == .withoutPerf { #expect(!knowsSwitches) }
        let rows = try #require(try recorded.json(["waits"])["waits"] as? [[String: Any]])
        let expected: [(kind: String, object: String?, place: [String], waker: [String])] = [
            (
                "semaphore", "ready", ["main", "tell", "wait_for_semaphore", "sem_wait"],
                ["worker", "handle", "finish"]
            ),
            ("lock", "lock", ["main", "tell", "wait_for_lock", "pthread_mutex_lock"], ["worker", "release"]),
            ("condition", "changed", ["main", "tell", "wait_for_change", "pthread_cond_wait"], ["worker", "change"]),
            ("descriptor", nil, ["main", "tell", "wait_for_answer", "read"], ["worker", "answer"]),
            ("thread", nil, ["main", "pthread_join"], []),
        ]
        for wait in expected {
            let row = try #require(
                rows.first { $0["path"] as? [String] == wait.place && $0["kind"] as? String == wait.kind },
                "no \(wait.kind): \(rows)")
            if let object = wait.object { #expect(row["object"] as? String == object) }
            let wakers = try #require(row["wakers"] as? [[String: Any]])
            #expect(wakers.first?["path"] as? [String] == wait.waker, "\(wait.kind): \(wakers)")
            #expect(wakers.first?["share"] as? Double == 1)
            // The program's own measurement has the time until it ran again, too.
            let time = try #require(row["total_ns"] as? Double), own = try #require(recorded.measured[wait.kind])
            #expect(time <= own + 1e6 && time >= own - 20e6 - recorded.taken, "\(wait.kind): \(time) of \(own)")
            #expect(own > 50e6)
        }
        let sleeps = rows.filter { $0["kind"] as? String == "sleep" }.reduce(0) { $0 + ($1["calls"] as? Int ?? 0) }
        #expect(sleeps == 6)
    }

    /// The kernel's wakings, its switches and the C library's calls alone tell the same time of a wait.
    @Test func waysAgree() throws {
        let binary = try Binaries.instrumented("waits.c", .gccO2)
        for way in RecordedWaits.Way.allCases {
            let recorded = try RecordedWaits(binary, ["400"], way, in: directory)
            let tree = try Fathom.run(["tree", "--format", "json", "-F", "wait_for_semaphore", session]).stdout
            func number(_ name: String) throws -> Double { try Double(#require(tree.member(name))) ?? 0 }
            let off = try number("blocked_ns") + number("runnable_ns"),
                own = try #require(recorded.measured["semaphore"])
            #expect(off <= own && own - off < 1e6 + recorded.taken, "\(way): \(off) of \(own)")
            let sources = try recorded.json(["info"])["blocked"] as? [String: Any]
            #expect(sources?["wakings"] as? Bool == (way == .wakings && Privilege.seesWakings), "\(way)")
            if way != .wakings { #expect(sources?["refused"] is String || sources?["wakings_refused"] is String) }
        }
    }

    /// Who ends a wait that no call of the C library tells of is known from the kernel.
    @Test(.enabled(if: Privilege.seesWakings)) func kernelWakers() throws {
        let source = """
            #include <pthread.h>
            #include <signal.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <unistd.h>
            #define APART __attribute__((noinline))
            static FILE *file;
            static pthread_t first;
            static volatile int is_held;
            static void on_signal(int number) { (void)number; }
            APART static void give(void) { funlockfile(file); }
            APART static void prod(void) { pthread_kill(first, SIGUSR1); }
            APART static void *worker(void *unused) {
                flockfile(file);
                is_held = 1;
                usleep(100000);
                give();
                usleep(100000);
                prod();
                return unused;
            }
            APART static void use(void) { fputc('x', file); }
            APART static void doze(void) { pause(); }
            int main(void) {
                pthread_t thread;
                first = pthread_self();
                signal(SIGUSR1, on_signal);
                file = fopen("/dev/null", "w");
                if (!file || pthread_create(&thread, NULL, worker, NULL)) abort();
                while (!is_held) {}
                use();
                doze();
                return pthread_join(thread, NULL);
            }
            """
        let program = try Toolchain.compile(
            sources: ["wakers.c": source], compiler: .gcc,
            flags: ["-g", "-O1", "-finstrument-functions", "-fno-inline", "-pthread"], output: directory.file("wakers"))
        let recorded = try RecordedWaits(program, [], .wakings, in: directory)
        let waits = try recorded.json(["waits", "--thread", "main", "--limit", "0"])
        let rows = try #require(waits["waits"] as? [[String: Any]])
        for (place, waker, kind) in [(["use", "fputc"], "give", "descriptor"), (["doze"], "prod", "other")] {
            let row = try #require(
                rows.first { $0["path"] as? [String] == ["main"] + place && $0["kind"] as? String == kind }, "\(rows)")
            let wakers = try #require(row["wakers"] as? [[String: Any]])
            #expect(wakers.map { $0["path"] as? [String] } == [["worker", waker]], "\(place): \(wakers)")
        }
        let chain = try recorded.json(["chain", "--call", "use"])
        let links = try #require(chain["links"] as? [[String: Any]])
        #expect(links.contains { $0["path"] as? [String] == ["worker", "usleep"] }, "\(links)")
        #expect(try Fathom.run(["info", session]).stdout.contains("context switches and wakings"))
    }

    /// The parts of every call of the tree add up to its total, and a caller has at least what its callees have.
    @Test(arguments: RecordedWaits.Way.allCases) func partsAddUp(_ way: RecordedWaits.Way) throws {
        let recorded = try record(way, .gccO2)
        let knowsSwitches = try recorded.knowsSwitches()
        func check(_ call: [String: Any]) throws -> (blocked: UInt64, name: String) {
            let name = try #require(call["name"] as? String)
            func number(_ key: String) -> UInt64? { (call[key] as? NSNumber)?.uint64Value }
            let blocked = try #require(number("blocked_ns")), running = try #require(number("running_ns"))
            #expect((number("runnable_ns") != nil) == knowsSwitches)
            #expect(running + blocked + (number("runnable_ns") ?? 0) == number("total_ns"), "\(call)")
            let below = try (call["children"] as? [[String: Any]] ?? []).map { try check($0).blocked }.reduce(0, +)
            #expect(blocked >= below, "\(name)")
            return (blocked, name)
        }
        let tree = try recorded.json(["tree"])
        var roots: [(blocked: UInt64, name: String)] = []
        for process in try #require(tree["processes"] as? [[String: Any]]) {
            for thread in try #require(process["threads"] as? [[String: Any]]) {
                roots += try #require(thread["roots"] as? [[String: Any]]).map(check)
            }
        }
        let main = try #require(roots.first { $0.name == "main" })
        #expect(Double(main.blocked) >= recorded.measured.values.reduce(0, +) * 0.8)
        // report agrees with tree.
        let report = try recorded.json(["report"])
        let rows = try #require(report["functions"] as? [[String: Any]])
        let row = try #require(rows.first { $0["name"] as? String == "main" })
        #expect((row["blocked_ns"] as? NSNumber)?.uint64Value == main.blocked)
        // So does a graph of what was blocked, in which own times add up.
        let graph = try recorded.json(["graph", "--time", "blocked"])
        func own(_ path: [String: Any]) -> UInt64 {
            ((path["self_ns"] as? NSNumber)?.uint64Value ?? 0)
                + (path["children"] as? [[String: Any]] ?? []).reduce(0) { $0 + own($1) }
        }
        let paths = try #require(graph["paths"] as? [[String: Any]])
        let whole = try #require(paths.first { $0["name"] as? String == "main" })
        #expect((whole["total_ns"] as? NSNumber)?.uint64Value == main.blocked && own(whole) == main.blocked)
        let page = directory.file("blocked.html")
        #expect(try Fathom.run(["flame", "--time", "blocked", "-o", page, session]).status == 0)
        #expect(String(decoding: try readFile(page), as: UTF8.self).contains("blocked time of"))
        let text = try Fathom.run(["report", "--times", "blocked", "--limit", "3", session]).stdout
        #expect(text.split(separator: "\n").first?.contains("blocked") == true, "\(text)")
    }

    /// Who made the main thread wait for the semaphore is one command.
    @Test(arguments: RecordedWaits.Way.allCases) func chain(_ way: RecordedWaits.Way) throws {
        let recorded = try record(way, .gccO2)
        let chain = try recorded.json(["chain", "--call", "wait_for_semaphore", "--without", "nap"])
        let links = try #require(chain["links"] as? [[String: Any]])
        func time(_ link: [String: Any]) -> Double {
            (link["to_ns"] as? Double ?? 0) - (link["from_ns"] as? Double ?? 0)
        }
        let total = time(chain)
        let waited = try #require(recorded.measured["semaphore"])
        #expect(abs(links.reduce(0) { $0 + time($1) } - total) < 1 && total <= waited)
        let sleep = try #require(links.max { time($0) < time($1) })
        #expect(sleep["path"] as? [String] == ["worker", "handle", "nap", "nanosleep"], "\(links)")
        let woken = links.filter { $0["what"] as? String == "woken" && $0["object"] as? String == "ready" }
        #expect(woken.count == 1, "\(links)")
        let without = try #require(chain["without"] as? [String: Any])
        #expect((without["time_ns"] as? Double ?? 0) >= time(sleep))
    }

    /// Of descriptors it is said what is behind them.
    @Test func filesAndPeers() throws {
        let source = try directory.write(
            """
            #include <pthread.h>
            #include <string.h>
            #include <sys/eventfd.h>
            #include <sys/file.h>
            #include <sys/socket.h>
            #include <sys/un.h>
            #include <unistd.h>
            #include <fcntl.h>
            static int ends[2], event, listener, held, asked;
            static struct sockaddr_un address = {AF_UNIX, "server.sock"};
            static void *other(void *argument) {
                usleep(20000);
                if (write(ends[1], "x", 1) != 1) return argument;
                usleep(20000);
                eventfd_write(event, 1);
                usleep(20000);
                int client = socket(AF_UNIX, SOCK_STREAM, 0);
                connect(client, (struct sockaddr *)&address, sizeof address);
                usleep(20000);
                if (send(client, "x", 1, 0) != 1) return argument;
                usleep(20000);
                flock(held, LOCK_UN);
                return argument;
            }
            int main(void) {
                char byte;
                eventfd_t value;
                pthread_t thread;
                if (pipe(ends)) return 1;
                event = eventfd(0, 0);
                listener = socket(AF_UNIX, SOCK_STREAM, 0);
                bind(listener, (struct sockaddr *)&address, sizeof address);
                listen(listener, 1);
                held = open("locked.txt", O_CREAT | O_RDWR, 0600);
                asked = open("locked.txt", O_RDWR);
                flock(held, LOCK_EX);
                pthread_create(&thread, NULL, other, NULL);
                if (read(ends[0], &byte, 1) != 1) return 2;
                eventfd_read(event, &value);
                int client = accept(listener, NULL, NULL);
                if (recv(client, &byte, 1, 0) != 1) return 3;
                flock(asked, LOCK_EX);
                return pthread_join(thread, NULL);
            }
            """, to: "files.c")
        let binary = directory.file("files")
        try #require(
            try run("gcc", ["-O1", "-g", "-w", "-finstrument-functions", source, "-o", binary, "-lpthread"]).status == 0
        )
        let recorded = try run(
            Fathom.executable, ["record", "--blocked", "-q", "-o", session, binary], workingDirectory: directory.path)
        #expect(recorded.status == 0, "\(recorded.stderr)")
        let waits = try Fathom.run(["waits", session]).stdout
        for text in [
            "(a pipe (", "(an eventfd)", "(the local socket server.sock)",
            "file lock descriptor", "/locked.txt)",
        ] {
            #expect(waits.contains(text), "\(text) in \(waits)")
        }
        let json = try Fathom.run(["waits", "--format", "json", session]).stdout
        #expect(json.contains("\"file\":\"the local socket server.sock\""), "\(json)")
    }

    /// Views say why there is nothing to show.
    @Test func sessionWithoutWaits() throws {
        let binary = try Binaries.instrumented("waits.c", .gccO2)
        let recorded = try Fathom.record([binary, "1"], into: session, options: ["--quiet", "--no-blocked"])
        #expect(recorded.status == 0)
        for arguments in [
            ["waits"], ["chain", "--call", "main"], ["report", "--times", "all"], ["tree", "--times", "blocked"],
        ] {
            let output = try Fathom.run(arguments + [session])
            #expect(output.status == 1 && output.stderr.contains("fathom record --blocked"), "\(output.stderr)")
        }
        let refused = try Fathom.run(["record", "--blocked", "--mode", "counts", "--", binary])
        #expect(refused.status == 64 && refused.stderr.contains("--blocked is for --mode trace"))
    }

    /// When threads wait is found out without being asked for, and shown where they do; what for is not.
    @Test func byDefault() throws {
        let binary = try Binaries.instrumented("naps.c", .gccO2)
        #expect(try Fathom.record([binary], into: session).status == 0)
        #expect(access(session + "/switches", F_OK) != 0, "the kernel is asked for nothing")
        let report = try Fathom.run(["report", session, "--format", "csv"]).stdout.split(separator: "\n").map(csvFields)
        let column = try #require(report[0].firstIndex(of: "blocked_ns"))
        func blocked(_ function: String) throws -> Int {
            try #require(report.first { $0[0] == function }.flatMap { Int($0[column]) }, "\(report)")
        }
        // Two naps of 40 ms, in which the main thread waits for the other one.
        #expect(try blocked("nap") >= 79_000_000 && blocked("main") >= 79_000_000, "\(report)")
        #expect(try blocked("work") < blocked("nap") / 2, "\(report)")
        for view in ["report", "tree", "graph"] {
            let text = try Fathom.run([view, session]).stdout
            #expect(text.contains("self    blocked") || text.contains("self   blocked"), "\(text)")
        }
        // No call of the C library is in the recording.
        #expect(Set(report.dropFirst().map { $0[0] }) == ["main", "worker", "nap", "work"], "\(report)")
        for arguments in [["waits"], ["chain", "--call", "main"]] {
            let output = try Fathom.run(arguments + [session])
            #expect(
                output.status == 1 && output.stderr.contains("and not for what: fathom record --blocked"),
                "\(output.stderr)")
        }
    }

    /// A thread may wait at the end, and make no record any more: when its program exits, and when it is killed.
    @Test(arguments: [["0.5"], ["sh", "-c", "\"$0\" & sleep 5; kill -9 $!"]]) func untilTheEnd(_ way: [String]) throws {
        let directory = try TemporaryDirectory("asleep")
        let source = try directory.write(
            """
            #include <pthread.h>
            #include <stdlib.h>
            #include <unistd.h>
            static void forever(void) { for (;;) pause(); }
            static void *worker(void *argument) { forever(); return argument; }
            static void leave(const char *seconds) { usleep((useconds_t)(atof(seconds) * 1e6)); exit(0); }
            int main(int count, char **arguments) {
                pthread_t thread;
                pthread_create(&thread, NULL, worker, NULL);
                leave(count > 1 ? arguments[1] : "1000");
            }
            """, to: "asleep.c")
        let binary = directory.file("asleep")
        try run("gcc", ["-O1", "-g", "-finstrument-functions", source, "-o", binary, "-lpthread"])
        _ = try Fathom.record(way[0] == "sh" ? way + [binary] : [binary] + way, into: session)
        let report = try Listing.table(["report", session, "--format", "csv"])
        for row in report {
            let blocked = try #require(row["blocked_ns"].flatMap { Int($0) })
            let total = try #require(row["total_ns"].flatMap { Int($0) })
            #expect(blocked >= (way[0] == "sh" ? 1_000_000_000 : 450_000_000) && blocked <= total, "\(row)")
        }
        #expect(report.count == 4, "\(report)")
    }
}
