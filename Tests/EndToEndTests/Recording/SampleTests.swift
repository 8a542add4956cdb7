internal import Glibc
import TestSupport
import Testing

/// Stacks of programs that were not started by Fathom.
@Suite struct SampleTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("sampled.fathom") }

    init() throws { directory = try TemporaryDirectory("samples") }

    private static let source = """
        #include <pthread.h>
        #include <unistd.h>
        volatile long sum;
        __attribute__((noinline)) void inner(void) { for (int i = 0; i < 1000000; i++) sum += i; }
        __attribute__((noinline)) void outer(void) { for (int i = 0; i < 9; i++) inner(); sum++; }
        __attribute__((noinline)) void other(void) { for (int i = 0; i < 1000000; i++) sum += i; sum++; }
        static void *idle(void *unused) { for (;;) sleep(1000); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, idle, 0);
            for (;;) { outer(); other(); }
        }
        """

    private func program(_ flags: [String]) throws -> String {
        try Toolchain.compile(
            sources: ["busy.c": Self.source], compiler: .gcc, flags: flags + ["-g", "-pthread"],
            output: directory.file("busy"))
    }

    private func sample(_ pid: Int32, _ options: [String] = []) throws -> ProcessOutput {
        try Fathom.run(["sample", "--for", "1s", "-o", session] + options + ["\(pid)"], isUrgent: true)
    }

    /// Whether a process runs or sleeps, and is not stopped.
    private func goesOn(_ pid: Int32) throws -> Bool {
        let line = String(decoding: try readFile("/proc/\(pid)/stat"), as: UTF8.self)
        return try ["R", "S"].contains(line.split(separator: ")").at(1).split(separator: " ").at(0))
    }

    /// Without hooks, with frame pointers and without: nine tenths of what runs are in one function, and the thread that
    /// sleeps is there.
    @Test(arguments: ["-O0", "-O2"]) func native(_ level: String) throws {
        let busy = try BackgroundProcess(Privilege.urgent([program([level])]))
        #expect(waitUntil { (try? readFile("/proc/\(busy.pid)/comm")) == Array("busy\n".utf8) })
        let sampled = try sample(busy.pid)
        #expect(sampled.status == 0, "\(sampled.stderr)")
        #expect(try goesOn(busy.pid))
        let report = try Fathom.run(["report", "--format", "json", session]).stdout
        #expect(report.contains("\"times\":\"sampled\",\"sample_ns\":"))
        func samples(_ name: String) throws -> Int {
            let row = try #require(
                report.split(separator: "\n").first { $0.contains("\"name\":\"\(name)\"") }, "\(report)")
            return Int(String(row).member("calls") ?? "") ?? 0
        }
        let (inner, other) = (try samples("inner"), try samples("other"))
        let (outer, idle, main) = (try samples("outer"), try samples("idle"), try samples("main"))
        // Of a moment between two calls, the innermost function is their caller.
        #expect(inner > 2 * other && outer >= inner && idle > 0 && main >= outer + other, "\(report)")
        let text = try Fathom.run(["report", session]).stdout
        #expect(text.contains("samples     total        ±      self  function (a sample stands for "), "\(text)")
        let page = directory.file("page.html")
        #expect(try Fathom.run(["flame", session, "-o", page]).status == 0)
        #expect(String(decoding: try readFile(page), as: UTF8.self).contains("outer"))
        let folded = try Fathom.run(["export", session, "--format", "folded", "-o", "-"]).stdout
        #expect(folded.contains("main;outer;inner "))
        let tree = try Fathom.run(["tree", session])
        #expect(tree.status == 1 && tree.stderr.contains("keeps samples of the stacks"))
        #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
    }

    /// Whoever is sampled goes on when the one who samples is killed, at whatever moment.
    @Test func killedSampler() throws {
        let busy = try BackgroundProcess([program(["-O2"])])
        for round in 0..<5 {
            let sampler = try BackgroundProcess([
                Fathom.executable, "sample", "--quiet", "--interval", "1ms", "-o", session, "\(busy.pid)",
            ])
            let switches = { try? readFile("/proc/\(sampler.pid)/io").count }
            #expect(waitUntil { switches() != nil })
            usleep(UInt32(100_000 + 7_300 * round))
            sampler.signal(SIGKILL)
            sampler.wait()
            #expect(waitUntil { (try? goesOn(busy.pid)) ?? false })
        }
    }

    /// Nothing that is sampled sees EINTR, whether it waits for long or enters such a call just when it is stopped.
    @Test func epollIsNotInterrupted() throws {
        let source = """
            #include <errno.h>
            #include <stdlib.h>
            #include <sys/epoll.h>
            int main(void) {
                struct epoll_event event;
                int set = epoll_create1(0);
                for (int i = 0; i < 4; i++)
                    if (epoll_wait(set, &event, 1, 50) < 0 && errno == EINTR) abort();
                for (int i = 0; i < 1500; i++) {
                    for (volatile int n = 0; n < 30000; n++) {}
                    if (epoll_wait(set, &event, 1, 1) < 0 && errno == EINTR) abort();
                }
                return 0;
            }
            """
        let program = try Toolchain.compile(
            sources: ["wait.c": source], compiler: .gcc, flags: ["-O0", "-g"], output: directory.file("wait"))
        let waiting = try BackgroundProcess([program])
        let sampled = try sample(waiting.pid, ["--interval", "1ms"])
        #expect(sampled.status == 0, "\(sampled.stderr)")
        #expect(waiting.wait() == 0)
        #expect(try Fathom.run(["report", session]).stdout.contains("epoll_wait"))
    }

    /// Of a program that is being recorded, the open calls are taken.
    @Test func traced() throws {
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-q", "-o", directory.file("r.fathom"), "--", Hangs.program(), "spin",
            "100000",
        ])
        var program: Int32?
        _ = waitUntil {
            let path = "/proc/\(recorder.pid)/task/\(recorder.pid)/children"
            let text = (try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            program = text.split(separator: " ").first.flatMap { Int32($0) }
            // It has told of a thread's calls by then.
            let status = program.flatMap { try? Fathom.run(["ctl", "\($0)", "status", "--format", "json"]) }
            return status?.stdout.contains("\"threads\":1") ?? false
        }
        let sampled = try sample(#require(program))
        #expect(sampled.stderr.contains("these are the calls that hooks told of"), "\(sampled.stderr)")
        let report = try Fathom.run(["report", session]).stdout
        #expect(report.contains("hang_spin") && report.contains("main") && !report.contains("_start"), "\(report)")
        kill(try #require(program), SIGTERM)
        recorder.wait()
    }

    /// A thread that waits in a call which must not be interrupted has its callers, also in code with frame pointers, where only
    /// the frame pointer leads to them, and where a function calls itself.
    @Test(arguments: [["-O0"], ["-O2", "-fno-omit-frame-pointer"], ["-O2", "-fno-omit-frame-pointer", "-no-pie"]])
    func framePointers(_ flags: [String]) throws {
        let source = """
            #include <sys/epoll.h>
            #include <string.h>
            volatile int sum;
            __attribute__((noipa)) void before(int deep) { volatile char pad[64]; memset((void *)pad, deep, 64); if (deep) before(deep - 1); sum++; }
            __attribute__((noipa)) int wait_here(int set, int deep) {
                volatile char pad[300];
                struct epoll_event event;
                pad[0] = 1;
                if (deep > 0) return wait_here(set, deep - 1) + 1;
                return epoll_wait(set, &event, 1, 100000) + pad[0];
            }
            __attribute__((noipa)) int middle(int set) { before(20); int found = wait_here(set, 2); sum++; return found; }
            __attribute__((noipa)) int outer(int set) { int found = middle(set); sum++; return found; }
            int main(void) { return outer(epoll_create1(0)); }
            """
        let program = try Toolchain.compile(
            sources: ["wait.c": source], compiler: .gcc, flags: flags + ["-g", "-fno-optimize-sibling-calls"],
            output: directory.file("wait"))
        let waiting = try BackgroundProcess([program])
        let call = "/proc/\(waiting.pid)/syscall"
        #expect(waitUntil { (try? readFile(call)).map { $0.starts(with: Array("232 ".utf8)) } ?? false })
        let sampled = try Fathom.run(["sample", "--for", "200ms", "-o", session, "\(waiting.pid)"])
        #expect(sampled.status == 0, "\(sampled.stderr)")
        let folded = try Fathom.run(["export", session, "--format", "folded", "-o", "-"]).stdout
        #expect(folded.contains("main;outer;middle;wait_here;wait_here;wait_here;epoll_wait "), "\(folded)")
    }

    /// Code that a program makes while it runs is shown by the names that it tells in perf's file, and not as the program's.
    @Test func codeMadeAtRunTime() throws {
        let source = """
            #include <stdio.h>
            #include <string.h>
            #include <sys/mman.h>
            #include <unistd.h>
            int main(void) {
                // mov $100000000, %ecx; dec %ecx; jne -4; ret
                unsigned char code[] = {0xb9, 0x00, 0xe1, 0xf5, 0x05, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
                void *place = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                memcpy(place, code, sizeof code);
                char path[64];
                snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
                FILE *map = fopen(path, "w");
                fprintf(map, "%lx 40 older name\\n%lx %zx function made:1 at run time\\nnonsense\\n", (long)place, (long)place, sizeof code);
                fclose(map);
                puts("ready");
                fflush(stdout);
                for (;;) ((void (*)(void))place)();
            }
            """
        let program = try Toolchain.compile(
            sources: ["made.c": source], compiler: .gcc, flags: ["-O2", "-g"], output: directory.file("made"))
        let running = try BackgroundProcess(Privilege.urgent([program]))
        let map = "/tmp/perf-\(running.pid).map"
        defer { unlink(map) }
        #expect(waitUntil { ((try? readFile(map))?.count ?? 0) > 60 })
        let sampled = try sample(running.pid)
        #expect(sampled.status == 0, "\(sampled.stderr)")
        let report = try Fathom.run(["report", session]).stdout
        let row = report.split(separator: "\n").first { $0.contains("function made:1 at run time") }
        #expect(row != nil && !row!.contains("made.c"), "\(report)")
        #expect(!report.contains("older name"))
    }

    @Test func wrongUse() throws {
        let none = try Fathom.run(["sample", "--for", "1s", "4194303"])
        #expect(none.status == 2 && none.stderr.contains("there is no process 4194303"))
        #expect(try Fathom.run(["sample", "0"]).status == 64)
        #expect(try Fathom.run(["sample", "--interval", "1us", "1"]).stderr.contains("--interval is 1ms or longer"))
    }
}
