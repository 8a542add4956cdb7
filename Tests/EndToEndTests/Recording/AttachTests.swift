import Glibc
import TestSupport
import Testing

#if arch(x86_64)

    /// Programs that were started without Fathom, and are recorded for a while.
    @Suite struct AttachTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("attached.fathom") }
        private var result: String { directory.file("result") }

        init() throws { directory = try TemporaryDirectory("attach") }

        private func attach(_ pid: Int32, _ options: [String] = ["--for", "50ms"]) throws -> ProcessOutput {
            try Fathom.run(["record", "-o", session, "--attach", "\(pid)"] + options)
        }

        /// Starts a program, and waits until it is itself: until then it is a copy of this process.
        private func start(_ command: [String]) throws -> BackgroundProcess {
            let process = try BackgroundProcess(command)
            let isStarted = waitUntil {
                let maps =
                    (try? readFile("/proc/\(process.pid)/maps")).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return maps.contains(command[0]) && !maps.contains(Fathom.testProducts + "/fathomPackageTests")
            }
            try #require(isStarted)
            return process
        }

        /// Starts to record a process, and waits until it records.
        private func record(_ process: BackgroundProcess, into session: String) throws -> BackgroundProcess {
            let recorder = try BackgroundProcess([
                Fathom.executable, "record", "-q", "-o", session, "--attach", "\(process.pid)",
            ])
            let isRecorded = waitUntil(seconds: 0.5) {
                (try? Fathom.run(["ctl", "\(process.pid)", "status"]))?.stdout.contains("\(process.pid)") ?? false
            }
            try #require(isRecorded)
            return recorder
        }

        /// Waits until a process does what it is for.
        private func awaitThreads(_ count: Int, of process: BackgroundProcess) throws {
            let isThere = waitUntil {
                let line = (try? readFile("/proc/\(process.pid)/status")).map { String(decoding: $0, as: UTF8.self) }
                let threads = line?.split(separator: "\n").first { $0.hasPrefix("Threads:") }
                return threads.flatMap { Int($0.dropFirst(9).filter(\.isNumber)) }.map { $0 >= count } ?? false
            }
            try #require(isThere)
        }

        /// What may call what in `attached.cpp`.
        private static let callers: [String: Set<String>] = [
            "one": ["two"], "two": ["three"], "level4": ["level3"], "level3": ["level2"], "level2": ["level1"],
            "level1": ["level0"], "level0": ["work"], "brief_part": ["brief"], "in_alarm": ["on_alarm"],
            "in_other": ["on_other"], "child_part": ["child"],
            "three": [
                "level4", "level3", "level2", "level1", "level0", "brief_part", "in_alarm", "in_other", "child_part",
            ],
        ]

        /// Finds calls in a session of `attached.cpp` that have another caller than they can have, or not all of their callees.
        private func mistakes() throws -> (calls: [String: Int], mistakes: [String]) {
            var calls: [String: Int] = [:], mistakes: [String] = []
            var open: [(name: String, isWhole: Bool, callees: [String])] = []
            func close(to depth: Int) {
                while open.count > depth {
                    let call = open.removeLast(), callees = call.callees.filter { !$0.hasPrefix("on_") }
                    let expected = ["two": ["one", "one", "one"], "three": ["two", "two"]][call.name]
                    if call.isWhole, let expected, callees != expected {
                        mistakes.append("\(call.name) calls \(callees)")
                    }
                }
            }
            for line in try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                guard words.count > 5, let depth = Int(words[0]) else {
                    if words.first == "process" { close(to: 0) }
                    continue
                }
                close(to: depth)
                let name = words[5], rest = words[6...].joined(separator: " ")
                let isInherited = rest.contains("inherited")
                if open.count < depth {
                    mistakes.append("too deep: \(line)")
                } else if let allowed = Self.callers[name], !(isInherited && depth == 0),
                    !allowed.contains(open.last?.name ?? "")
                {
                    mistakes.append("\(name) under \(open.last?.name ?? "nothing")")
                }
                if !open.isEmpty { open[open.count - 1].callees.append(name) }
                open.append((name, rest.isEmpty, []))
                calls[name, default: 0] += 1
            }
            close(to: 0)
            return (calls, mistakes)
        }

        /// What of a process must be afterwards as it was: its mappings apart from the runtime's and memory of the allocator's,
        /// and the bytes of those of its program and libraries that cannot be written, among them the slots through which a
        /// program that is bound now calls.
        private func footprint(_ pid: Int32, _ program: String) throws -> [String] {
            let memory = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
            try #require(memory >= 0)
            defer { close(memory) }
            let maps = String(decoding: try readFile("/proc/\(pid)/maps"), as: UTF8.self)
            return try maps.split(separator: "\n").compactMap { line in
                let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
                // What is left behind the last space that splits begins with spaces.
                guard let path = fields.dropFirst(5).first?.drop(while: { $0 == " " }), path.hasPrefix("/"),
                    !path.contains("libfathom")
                else { return nil }
                let bounds = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
                let (start, size) = (try bounds.at(0), try bounds.at(1) - bounds.at(0))
                var sum: UInt64 = 14_695_981_039_346_656_037
                if fields[1].contains("r"), !fields[1].contains("w") {
                    var bytes = [UInt8](repeating: 0, count: size)
                    try #require(pread(memory, &bytes, size, off_t(start)) == size)
                    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 1_099_511_628_211 }
                }
                return "\(fields[0]) \(fields[1]) \(path) \(sum)"
            }
        }

        /// Twice each: the tree is right, the program finds nothing wrong, and afterwards it is what it was.
        @Test(arguments: [(Build.gccO2, "now"), (.clangO0, "lazy"), (.clangO2, "now")])
        func program(_ build: Build, _ binding: String) throws {
            let program = try Binaries.instrumented(
                "attached.cpp", build, flags: ["-Wl,-z,\(binding)"], variant: "-\(binding)")
            let process = try BackgroundProcess([program, result])
            try awaitThreads(8, of: process)
            let before = try footprint(process.pid, program)
            #expect(before.count { $0.contains(program) } >= 3)
            for _ in 0..<2 {
                let output = try attach(process.pid)
                #expect(output.status == 0, "\(output.stderr)")
                #expect(!output.stderr.contains("warning"), "\(output.stderr)")
                let (calls, mistakes) = try mistakes()
                #expect(mistakes.isEmpty, "\(mistakes.prefix(5))")
                #expect(calls["level0", default: 0] > 0 && calls["brief", default: 0] > 0, "\(calls)")
                #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
            }
            #expect(try footprint(process.pid, program) == before)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
            #expect(String(decoding: try readFile(result), as: UTF8.self).hasPrefix("right: "))
        }

        /// However long it takes to point the slots of hooks back, one after the other, no call lacks callees.
        @Test(.enabled(if: Toolchain.isInstalled("strace"))) func slowDetaching() throws {
            let program = try Binaries.instrumented(
                "attached.cpp", .gccO2, flags: ["-Wl,-z,now"], variant: "-now")
            let process = try BackgroundProcess([program, result])
            try awaitThreads(8, of: process)
            for _ in 0..<8 {
                let output = try run(
                    "strace",
                    [
                        "-f", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", "inject=pwrite64:delay_exit=2000",
                        Fathom.executable, "record", "-q", "-o", session, "--attach", "\(process.pid)", "--for", "50ms",
                    ])
                try #require(output.status == 0, "\(output.stderr)")
                let (_, mistakes) = try mistakes()
                #expect(mistakes.isEmpty, "\(mistakes.prefix(5))")
            }
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// What `fathom arm` has started is recorded without ptrace, stretch by stretch, and ends as it would without.
        @Test func armed() throws {
            let program = try Binaries.instrumented("attached.cpp", .gccO2, flags: ["-Wl,-z,now"], variant: "-now")
            let arm = try BackgroundProcess([
                Fathom.executable, "arm", "-q", "--buffers", directory.path, "--", program, result,
            ])
            var found: Int32?
            let isArmed = waitUntil {
                let children = try? readFile("/proc/\(arm.pid)/task/\(arm.pid)/children")
                found = children.flatMap {
                    Int32(String(decoding: $0, as: UTF8.self).split(separator: " ").first ?? "")
                }
                let maps = found.flatMap { try? readFile("/proc/\($0)/maps") }.map {
                    String(decoding: $0, as: UTF8.self)
                }
                return maps?.contains(".armed/buffers") ?? false
            }
            try #require(isArmed)
            let pid = try #require(found)
            for _ in 0..<2 {
                let output = try attach(pid, ["--for", "100ms"])
                #expect(output.status == 0, "\(output.stderr)")
                let (calls, mistakes) = try mistakes()
                #expect(mistakes.isEmpty, "\(mistakes.prefix(5))")
                #expect(calls["level0", default: 0] > 0, "\(calls)")
                let facts = try Fathom.run(["info", "--check", session]).stdout
                #expect(facts.contains("damage       none") && facts.contains("after fathom had detached"), "\(facts)")
            }
            let filtered = try attach(pid, ["-F", "one", "--for", "100ms"])
            #expect(
                filtered.status == 126 && filtered.stderr.contains("fathom ctl \(pid) filter"), "\(filtered.stderr)")
            kill(pid, SIGTERM)
            #expect(arm.wait() == 0)
            #expect(String(decoding: try readFile(result), as: UTF8.self).hasPrefix("right: "))
            let rest = try Fathom.run(["record", "--attach", "\(pid)"])
            #expect(rest.status == 126 && rest.stderr.contains("there is no process"), "\(rest.stderr)")
        }

        /// Each mode, twice: what it keeps is what the program does, and the program finds nothing wrong.
        @Test(arguments: ["profile", "counts", "stack"]) func modes(_ mode: String) throws {
            let program = try Binaries.instrumented("attached.cpp", .gccO2, flags: ["-Wl,-z,now"], variant: "-now")
            let process = try BackgroundProcess([program, result])
            try awaitThreads(8, of: process)
            let before = try footprint(process.pid, program)
            // A hundredth of the samples is within the calls that are looked for.
            let time = mode == "stack" ? ["--for", "1s", "--interval", "100us"] : ["--for", "100ms"]
            for _ in 0..<2 {
                let output = try attach(process.pid, ["--mode", mode] + time)
                #expect(output.status == 0 && !output.stderr.contains("warning"), "\(output.stderr)")
                #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
                let folded = directory.file("folded")
                #expect(try Fathom.run(["export", "--format", "folded", "-o", folded, session]).status == 0)
                let graph = String(decoding: try readFile(folded), as: UTF8.self)
                let paths = graph.split(separator: "\n").compactMap { $0.split(separator: " ").first }
                    .map { $0.split(separator: ";").map(String.init) }
                #expect(paths.contains { $0.contains("level0") }, "\(graph)")
                for path in paths {
                    for (caller, name) in zip(path, path.dropFirst()) {
                        if let allowed = Self.callers[name] { #expect(allowed.contains(caller), "\(path)") }
                    }
                }
            }
            #expect(try footprint(process.pid, program) == before)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
            #expect(String(decoding: try readFile(result), as: UTF8.self).hasPrefix("right: "))
        }

        /// A ring saves a call that takes long, and what led to the program's end.
        @Test func flight() throws {
            let process = try start([nested()])
            let recorder = try BackgroundProcess([
                Fathom.executable, "record", "-q", "-o", session, "--attach", "\(process.pid)", "--mode", "flight",
                "--when", "inner>1us", "--limit-saves", "1/hour",
            ])
            let first = directory.file("attached-1.fathom"), last = directory.file("attached-2.fathom")
            #expect(waitUntil { access(first, F_OK) == 0 })
            process.signal(SIGKILL)
            process.wait()
            #expect(recorder.wait() == 0)
            #expect(try Fathom.run(["tree", first]).stdout.contains("inner"))
            #expect(try Fathom.run(["info", last]).stdout.contains("process \(process.pid) ended"))
            #expect(access(session, F_OK) != 0, "the ring is not left")
        }

        /// `fathom ctl` changes the mode; each stretch is a session of its own.
        @Test func changingModes() throws {
            let process = try start([nested()])
            let recorder = try record(process, into: session)
            var content: [String] = []
            for (number, mode) in ["profile", "counts", "trace"].enumerated() {
                let asked = try Fathom.run(["ctl", "\(process.pid)", "mode", mode])
                #expect(asked.status == 0 && asked.stderr.contains("go on in --mode \(mode)"), "\(asked.stderr)")
                let next = directory.file("attached-\(number + 2).fathom")
                let isThere = waitUntil {
                    (try? Fathom.run(["ctl", "\(process.pid)", "mode"]))?.stderr
                        .contains("\(next) is recorded in --mode \(mode)") ?? false
                        && (try? Fathom.run(["ctl", next, "status"]))?.stdout.contains("\(process.pid)") ?? false
                }
                try #require(isThere, "\(mode)")
                content.append(next)
            }
            let filtered = try Fathom.run(["ctl", "\(process.pid)", "mode", "first-calls"])
            #expect(filtered.status == 2 && filtered.stderr.contains("only a program's start"), "\(filtered.stderr)")
            // The thread is recorded from its next call on.
            usleep(20_000)
            recorder.signal(SIGINT)
            #expect(recorder.wait() == 0)
            #expect(try names().first == "main (inherited)")
            for path in content {
                #expect(try Fathom.run(["info", "--check", path]).stdout.contains("damage       none"))
                #expect(try Fathom.run(["report", path]).stdout.contains("inner"), "\(path)")
            }
        }

        private static let nested = """
            #include <unistd.h>
            volatile int count;
            __attribute__((noinline)) void inner(void) { count++; usleep(1000); }
            __attribute__((noinline)) void middle(void) { for (;;) inner(); }
            __attribute__((noinline)) void outer(void) { middle(); count++; }
            int main(void) { outer(); count++; return 0; }
            """

        private func nested(_ flags: [String] = []) throws -> String {
            try Toolchain.compile(
                sources: ["nested.c": Self.nested], compiler: .gcc, flags: ["-g", "-finstrument-functions"] + flags,
                output: directory.file("nested"))
        }

        private func names() throws -> [String] {
            try Fathom.run(["tree", session]).stdout.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count > 5 && Int(words[0]) != nil ? words[5...].joined(separator: " ") : nil
            }
        }

        /// Calls that were open are there, in their order, and `fathom ctl` ends the recording.
        @Test func openCalls() throws {
            let process = try start([nested()])
            let recorder = try record(process, into: session)
            // The thread is recorded from its next call on.
            #expect(waitUntil(seconds: 0.5) { (try? names())?.count ?? 0 > 3 })
            #expect(try Fathom.run(["ctl", "\(process.pid)", "stop"]).status == 0)
            #expect(recorder.wait() == 0)
            #expect(try names().prefix(3) == ["main (inherited)", "outer (inherited)", "middle (inherited)"])
            #expect(try Fathom.run(["info", session]).stdout.contains("went on after fathom had detached"))
        }

        /// A recorder that is killed leaves the program going on, and another one takes it over.
        @Test func killedRecorder() throws {
            let process = try start([nested()])
            let recorder = try record(process, into: directory.file("lost.fathom"))
            let refused = try attach(process.pid)
            #expect(refused.status == 126 && refused.stderr.contains("recorded already"), "\(refused.stderr)")
            recorder.signal(SIGKILL)
            recorder.wait()
            let output = try attach(process.pid)
            #expect(output.status == 0, "\(output.stderr)")
            #expect(try names().first == "main (inherited)")
            let maps = String(decoding: try readFile("/proc/\(process.pid)/maps"), as: UTF8.self)
            #expect(!maps.contains("/buffers"))
        }

        /// The end of the program, and its becoming another one, end the recording.
        @Test(arguments: ["return", "execl(\"/bin/true\", \"true\", (char *)0)"]) func end(_ how: String) throws {
            let source = """
                #include <unistd.h>
                __attribute__((noinline)) void step(void) { usleep(1000); }
                int main(void) { for (int i = 0; i < 3000; i++) step(); \(how == "return" ? "" : how + ";") return 0; }
                """
            let program = try Toolchain.compile(
                sources: ["ending.c": source], compiler: .gcc, flags: ["-g", "-finstrument-functions"],
                output: directory.file("ending"))
            let process = try start([program])
            let output = try attach(process.pid, [])
            #expect(output.status == 0, "\(output.stderr)")
            #expect(process.wait() == 0)
            #expect(try names().contains { $0.hasPrefix("step") })
        }

        /// Libraries that were loaded before and after.
        @Test func libraries() throws {
            let plugin = try Toolchain.compile(
                sources: [
                    "plugin.c": """
                    #include <unistd.h>
                    void plugin_part(void) { usleep(500); }
                    void plugin(void) { plugin_part(); }
                    """
                ], compiler: .gcc, flags: ["-g", "-O1", "-fno-inline", "-finstrument-functions", "-shared", "-fPIC"],
                output: directory.file("plugin.so"))
            let program = try Toolchain.compile(
                sources: [
                    "host.c": """
                    #include <dlfcn.h>
                    #include <unistd.h>
                    __attribute__((noinline)) void wait_for(const char *path) { while (access(path, F_OK)) usleep(1000); }
                    int main(int count, char **arguments) {
                        (void)count;
                        wait_for(arguments[1]);
                        void *library = dlopen(arguments[2], RTLD_NOW);
                        void (*plugin)(void) = (void (*)(void))dlsym(library, "plugin");
                        for (;;) plugin();
                    }
                    """
                ], compiler: .gcc, flags: ["-g", "-finstrument-functions"], libraries: ["-ldl"],
                output: directory.file("host"))
            let process = try start([program, directory.file("go"), plugin])
            let recorder = try record(process, into: session)
            _ = try directory.write("", to: "go")
            let isCalled = waitUntil(seconds: 2) {
                _ = try? Fathom.run(["ctl", "\(process.pid)", "save"])
                return (try? names())?.contains { $0.hasPrefix("plugin_part") } ?? false
            }
            #expect(isCalled)
            recorder.signal(SIGINT)
            #expect(recorder.wait() == 0)
            // Then it is one of those that were there before.
            #expect(try attach(process.pid).status == 0)
            #expect(try names().contains { $0.hasPrefix("plugin_part") })
            #expect(try names().first == "main (inherited)")
        }

        private func expectRefusal(_ pid: Int32, saying words: String) throws {
            let output = try attach(pid)
            #expect(output.status == 126 && output.stderr.contains(words), "\(output.stderr)")
            #expect(access(session, F_OK) != 0, "no session is left behind")
        }

        @Test func refusals() throws {
            try expectRefusal(Int32.max, saying: "there is no process 2147483647")
            let plain = try start(["/usr/bin/sleep", "100"])
            try expectRefusal(plain.pid, saying: "no hooks are in it")
            let fixed = try start([nested(["-static"])])
            try expectRefusal(fixed.pid, saying: "statically linked without the runtime")
            let stopped = try start([nested()])
            stopped.signal(SIGSTOP)
            let isStopped = waitUntil {
                (try? readFile("/proc/\(stopped.pid)/stat")).map { String(decoding: $0, as: UTF8.self) }?.contains(
                    ") T ") ?? false
            }
            try #require(isStopped)
            try expectRefusal(stopped.pid, saying: "it is stopped; kill -CONT")
            stopped.signal(SIGCONT)
            let confined = try Toolchain.compile(
                sources: [
                    "confined.c": """
                    #include <linux/filter.h>
                    #include <linux/seccomp.h>
                    #include <sys/prctl.h>
                    #include <unistd.h>
                    int main(void) {
                        struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
                        struct sock_fprog filter = {1, all};
                        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
                        for (;;) pause();
                    }
                    """
                ], compiler: .gcc, flags: ["-finstrument-functions"], output: directory.file("confined"))
            let sandbox = try start([confined])
            let isConfined = waitUntil {
                (try? readFile("/proc/\(sandbox.pid)/status"))
                    .map { String(decoding: $0, as: UTF8.self) }?.contains("Seccomp:\t2") ?? false
            }
            try #require(isConfined)
            try expectRefusal(sandbox.pid, saying: "it has confined itself (seccomp)")
        }

        @Test func wrongUse() throws {
            for (arguments, words) in [
                (["--attach", "1", "--", "true"], "--attach takes a process, and no program to run"),
                (["--attach", "0"], "a number from 1"), (["--for", "1s", "--", "true"], "--for goes with --attach"),
                (["--attach", "1", "--mode", "first-calls"], "--first-calls is not for --attach"),
                (["--attach", "1", "--mode", "profile", "-D", "3"], "--max-depth is for --mode trace and flight"),
                (["--attach", "1", "--blocked"], "--blocked is not for --attach"),
            ] {
                let output = try Fathom.run(["record"] + arguments)
                #expect(output.status == 64 && output.stderr.contains(words), "\(output.stderr)")
            }
        }
    }

#endif
