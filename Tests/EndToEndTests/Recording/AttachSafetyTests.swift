import Glibc
import TestSupport
import Testing

#if arch(x86_64)

    /// What attaching may not do to a program, whatever that is about when Fathom comes.
    @Suite struct AttachSafetyTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("attached.fathom") }

        init() throws { directory = try TemporaryDirectory("attach-safety") }

        private func attach(_ pid: Int32, _ options: [String] = ["--for", "50ms"]) throws -> ProcessOutput {
            try Fathom.run(["record", "-o", session, "--attach", "\(pid)"] + options)
        }

        private func hooked(_ source: String) throws -> String {
            try Toolchain.compile(
                sources: ["program.c": String(decoding: try readFile("\(Binaries.sources)/\(source)"), as: UTF8.self)],
                compiler: .gcc, flags: ["-g", "-O2", "-pthread", "-finstrument-functions"],
                output: directory.file("program"))
        }

        private func dormant(_ source: String, _ compiler: String, _ flags: [String] = ["-O2"]) throws -> String {
            let program = directory.file("dormant-\(compiler)")
            let built = try Fathom.run(
                [
                    "build", "--dormant", "--", compiler, "-g", "-pthread", "\(Binaries.sources)/\(source)", "-o",
                    program,
                ]
                    + flags, environment: ["XDG_CACHE_HOME": directory.file("cache")])
            try #require(built.status == 0, "\(built.stderr)")
            return program
        }

        /// Starts a program, and waits until it has so many threads.
        private func start(_ command: [String], threads: Int = 1) throws -> BackgroundProcess {
            let process = try BackgroundProcess(command)
            let isThere = waitUntil {
                lines("/proc/\(process.pid)/maps").contains { $0.hasSuffix(command[0]) }
                    && lines("/proc/\(process.pid)/status").contains("Threads:\t\(threads)")
            }
            try #require(isThere)
            return process
        }

        private func lines(_ path: String) -> [Substring] {
            ((try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? "").split(separator: "\n")
        }

        /// The code of a process's program, in memory and in its file.
        private func code(_ pid: Int32, _ program: String) throws -> (memory: [UInt8], file: [UInt8]) {
            let line = try #require(
                lines("/proc/\(pid)/maps").first { $0.hasSuffix(program) && $0.contains(" r-xp ") })
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let bounds = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            let size = try bounds.at(1) - bounds.at(0), offset = try #require(Int(fields[2], radix: 16))
            func read(_ path: String, _ offset: Int) throws -> [UInt8] {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                try #require(descriptor >= 0)
                defer { close(descriptor) }
                var bytes = [UInt8](repeating: 0, count: size)
                _ = pread(descriptor, &bytes, size, off_t(offset))
                return bytes
            }
            return (try read("/proc/\(pid)/mem", try bounds.at(0)), try read(program, offset))
        }

        private func isAsInFile(_ pid: Int32, _ program: String) throws -> Bool {
            let (memory, file) = try code(pid, program)
            return memory == file
        }

        /// Calls are recorded, and afterwards the code is what it is in the file.
        @Test(arguments: ["gcc", "clang"]) func dormantProgram(_ compiler: String) throws {
            let program = try dormant("confining.c", compiler)
            let process = try start([program])
            for _ in 0..<3 {
                let output = try attach(process.pid)
                #expect(output.status == 0 && !output.stderr.contains("warning"), "\(output.stderr)")
                #expect(output.stderr.contains("stood still for longer than"), "\(output.stderr)")
                #expect(try isAsInFile(process.pid, program))
                let tree = try Fathom.run(["tree", session]).stdout
                #expect(tree.contains("main (inherited)") && tree.contains("leaf (100 calls)"), "\(tree)")
                #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
            }
            process.signal(SIGUSR1)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// What waits to be recorded has its code as in the file as long as nobody records it.
        @Test(arguments: ["gcc", "clang"]) func armedDormantProgram(_ compiler: String) throws {
            let program = try dormant("confining.c", compiler)
            let arm = try BackgroundProcess([
                Fathom.executable, "arm", "-q", "--buffers", directory.path, "--", program,
            ])
            var found: Int32?
            let isArmed = waitUntil {
                found = lines("/proc/\(arm.pid)/task/\(arm.pid)/children").first.flatMap {
                    $0.split(separator: " ").first.flatMap { Int32($0) }
                }
                return found.map { lines("/proc/\($0)/maps").contains { $0.contains(".armed/buffers") } } ?? false
            }
            try #require(isArmed)
            let pid = try #require(found)
            usleep(20_000)
            #expect(try isAsInFile(pid, program))
            for _ in 0..<3 {
                let output = try attach(pid, ["--for", "2s"])
                #expect(output.status == 0, "\(output.stderr)")
                #expect(waitUntil { (try? closedSleds(pid, program)) ?? false })
                let tree = try Fathom.run(["tree", session]).stdout
                #expect(tree.contains("serve") && tree.contains("leaf (100 calls)"), "\(tree)")
                #expect(!tree.contains("inherited"), "what was open at the last end has ended by then: \(tree)")
                #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
            }
            kill(pid, SIGUSR1)
            kill(pid, SIGTERM)
            #expect(arm.wait() == 0)
        }

        /// Whether what differs is only what open sleds lead through: no prefix of an open sled is anywhere.
        private func closedSleds(_ pid: Int32, _ program: String) throws -> Bool {
            let (memory, file) = try code(pid, program)
            return zip(memory, file).filter { $0 != $1 }.count <= 7 * 16
        }

        /// A program that forbids itself system calls meanwhile is not made to make one.
        @Test(arguments: [false, true]) func confinedMeanwhile(_ isDormant: Bool) throws {
            let program = isDormant ? try dormant("confining.c", "gcc") : try hooked("confining.c")
            let process = try start([program])
            // Calls are recorded before all that belongs to attaching is done, which a confined program does no more.
            let said = directory.file("said")
            let recorder = try BackgroundProcess([
                "sh", "-c", "exec \"$@\" 2>'\(said)'", "sh", Fathom.executable, "record", "-o", session, "--attach",
                "\(process.pid)",
            ])
            try #require(waitUntil { lines(said).contains { $0.contains("recording process") } })
            process.signal(SIGUSR1)
            let isConfined = waitUntil { lines("/proc/\(process.pid)/status").contains("Seccomp:\t2") }
            try #require(isConfined)
            recorder.signal(SIGINT)
            #expect(recorder.wait() == 0)
            if isDormant { #expect(try closedSleds(process.pid, program)) }
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// No call with a time limit ends with EINTR.
        @Test func timedCalls() throws {
            let process = try start([hooked("timed_calls.c")], threads: 12)
            for _ in 0..<3 { #expect(try attach(process.pid, ["--for", "20ms"]).status == 0) }
            let sampled = try Fathom.run([
                "sample", "--interval", "2ms", "--for", "1s", "-o", directory.file("s"), "\(process.pid)",
            ])
            #expect(sampled.status == 0, "\(sampled.stderr)")
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// A thread that cannot be stopped is what the message names, and the others go on.
        @Test func threadThatCannotStop() throws {
            let process = try start([hooked("vforking.c")], threads: 2)
            let output = try attach(process.pid)
            #expect(
                output.status == 126 && output.stderr.contains("does not stop: it waits in the kernel"), "\(output)")
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// The runtime is not loaded by a thread that is in the program's own allocator.
        @Test(arguments: [[], ["-s"]]) func ownAllocator(_ flags: [String]) throws {
            let program = try Toolchain.compile(
                sources: [
                    "program.c": String(
                        decoding: try readFile("\(Binaries.sources)/slow_malloc.c"), as: UTF8.self)
                ], compiler: .gcc, flags: ["-O2", "-finstrument-functions", "-fno-builtin"] + flags,
                output: directory.file("program"))
            let process = try start([program])
            for _ in 0..<3 {
                let output = try attach(process.pid)
                #expect(
                    output.status == 0 || output.stderr.contains("at a point where it may load"), "\(output.stderr)")
            }
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// Whoever attaches may be killed at any moment.
        @Test(arguments: [false, true]) func killedAttachers(_ isDormant: Bool) throws {
            let program = isDormant ? try dormant("confining.c", "clang") : try hooked("confining.c")
            var process = try start([program])
            for round in 0..<12 {
                if round == 6 {
                    process.signal(SIGUSR1)
                    process.signal(SIGTERM)
                    #expect(process.wait() == 0)
                    process = try start([program])
                }
                let recorder = try BackgroundProcess([
                    Fathom.executable, "record", "-q", "-o", directory.file("lost-\(round)"), "--attach",
                    "\(process.pid)", "--for", "1ms",
                ])
                usleep(UInt32.random(in: 10_000..<200_000))
                recorder.signal(SIGKILL)
                recorder.wait()
                #expect(waitUntil { lines("/proc/\(process.pid)/stat").first.map { !$0.contains(") t ") } ?? false })
            }
            let output = try attach(process.pid)
            #expect(output.status == 0, "\(output.stderr)")
            if isDormant { #expect(try isAsInFile(process.pid, program)) }
            process.signal(SIGUSR1)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }

        /// A call whose hook is just being called is there once, and calls that a handler has interrupted are there although
        /// the handler runs on a stack of its own.
        @Test func prologuesAndHandlers() throws {
            let source = """
                #include <signal.h>
                #include <stdlib.h>
                #include <sys/time.h>
                volatile long count;
                __attribute__((noinline)) void leaf(void) { count++; }
                __attribute__((noinline)) void handled(int signal) { leaf(); }
                __attribute__((noinline)) void inner(void) { leaf(); leaf(); leaf(); count++; }
                __attribute__((noinline)) void outer(void) { for (int i = 0; i < 1000; i++) inner(); count++; }
                int main(void) {
                    stack_t stack = {malloc(65536), 0, 65536};
                    struct sigaction action = {.sa_handler = handled, .sa_flags = SA_ONSTACK | SA_RESTART};
                    struct itimerval often = {{0, 200}, {0, 200}};
                    sigaltstack(&stack, 0);
                    sigaction(SIGALRM, &action, 0);
                    setitimer(ITIMER_REAL, &often, 0);
                    for (;;) outer();
                }
                """
            let program = try Toolchain.compile(
                sources: ["prologue.c": source], compiler: .gcc, flags: ["-g", "-O2", "-finstrument-functions"],
                output: directory.file("prologue"))
            let process = try start([program])
            for _ in 0..<6 {
                let output = try attach(process.pid, ["--for", "1ms", "--max-size", "200k"])
                #expect(output.status == 0, "\(output.stderr)")
                var open: [String] = [], mistakes: [Substring] = []
                for line in try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n") {
                    let words = line.split(separator: " ")
                    guard words.count > 5, let depth = Int(words[0]) else { continue }
                    open = open.prefix(depth) + [String(words[5])]
                    let callers = ["main": "", "outer": "main", "inner": "outer"]
                    if let caller = callers[open.last!], (open.dropLast().last ?? "") != caller {
                        mistakes.append(line)
                    }
                }
                #expect(mistakes.isEmpty, "\(mistakes.prefix(5))")
            }
        }
    }

#endif
