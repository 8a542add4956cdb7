#if arch(x86_64)
    internal import Glibc
    import TestSupport
    import Testing

    /// Somebody attaches to a program that works in many threads, and leaves, again and again. Afterwards its code and its slots are
    /// what they were.
    @Suite struct ToggleTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("toggle") }

        private func lines(_ path: String) -> [Substring] {
            ((try? readFile(path)).map { String(decoding: $0, as: UTF8.self) } ?? "").split(separator: "\n")
        }

        private struct Region {
            var range: Range<UInt64>
            var rights: Substring, path: Substring
        }

        private func regions(_ pid: Int32) -> [Region] {
            lines("/proc/\(pid)/maps").compactMap { line in
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                let bounds = fields.first?.split(separator: "-").compactMap { UInt64($0, radix: 16) } ?? []
                guard bounds.count == 2, fields.count > 5, fields[5].hasPrefix("/") else { return nil }
                return Region(range: bounds[0]..<bounds[1], rights: fields[1], path: fields[5])
            }
        }

        /// The code of all modules, and the words through which they call each other, by where these are.
        private func watched(_ pid: Int32) throws -> [Range<UInt64>] {
            let regions = regions(pid)
            var found = regions.filter { $0.rights.contains("x") }.map(\.range)
            for path in Set(regions.filter { $0.rights.contains("x") }.map(\.path)) {
                let bias = try #require(regions.first { $0.path == path }).range.lowerBound
                for line in try run("readelf", ["-rW", String(path)]).stdout.split(separator: "\n")
                where line.contains("_JUMP_SLOT") || line.contains("_GLOB_DAT") {
                    guard let offset = line.split(separator: " ").first.flatMap({ UInt64($0, radix: 16) }) else {
                        continue
                    }
                    found.append(bias + offset..<bias + offset + 8)
                }
            }
            return found
        }

        private func read(_ pid: Int32, _ ranges: [Range<UInt64>]) throws -> [[UInt8]] {
            let descriptor = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            return ranges.map { range in
                var bytes = [UInt8](repeating: 0, count: range.count)
                return pread(descriptor, &bytes, bytes.count, off_t(range.lowerBound)) == bytes.count ? bytes : []
            }
        }

        private func program() throws -> String {
            try Binaries.make(
                "toggled", command: "g++", ["-O1", "-g", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread"],
                ["\(Binaries.sources)/toggled.cpp"])
        }

        private func start() throws -> BackgroundProcess {
            let process = try BackgroundProcess([try program()], environment: ["LD_BIND_NOW": "1"])
            try #require(waitUntil { lines("/proc/\(process.pid)/status").contains("Threads:\t7") })
            return process
        }

        private func attach(_ pid: Int32, _ options: [String]) throws -> ProcessOutput {
            try Fathom.run(["record", "-o", session, "--attach", "\(pid)"] + options)
        }

        /// A thread that gets no processor may not stop in time. Then nothing is recorded, and the message says so.
        private func isRefusal(_ output: ProcessOutput) -> Bool {
            output.status == 126 && output.stderr.contains("cannot be attached to now")
        }

        /// FATHOM_TOGGLES says how often, in place of the usual number.
        private static let rounds = getenv("FATHOM_TOGGLES").flatMap { Int(String(cString: $0)) } ?? 8

        @Test(arguments: [["--any"], ["--libcalls"], ["--any", "--libcalls"]])
        func staysAsItWas(_ options: [String]) throws {
            let process = try start()
            let ranges = try watched(process.pid), before = try read(process.pid, ranges)
            #expect(ranges.count > 100 && before.allSatisfy { !$0.isEmpty })
            var recorded = 0
            for round in 0..<Self.rounds {
                let output = try attach(process.pid, options + ["--for", "\(1 + round * 7 % 40)ms"])
                #expect(output.status == 0 || isRefusal(output), "\(round): \(output.stderr)")
                recorded += output.status == 0 ? 1 : 0
                let after = try read(process.pid, ranges)
                for (range, (old, new)) in zip(ranges, zip(before, after)) where old != new {
                    Issue.record("\(round): what is at \(String(range.lowerBound, radix: 16)) differs")
                }
                if output.status != 0 { continue }
                let info = try Fathom.run(["info", "--check", session])
                #expect(info.status == 0 && !info.stdout.contains("have no detours"), "\(round): \(info.stdout)")
            }
            #expect(recorded > 0)
            process.signal(SIGTERM)
            #expect(process.wait() == 7 << 8)
        }

        /// The recorder is killed when the runtime is there and nothing is changed yet. The next one finds nothing of that.
        @Test(arguments: [0, 4, 12, 24] as [UInt32], [["--any"], ["--libcalls"]])
        func recorderIsKilled(_ milliseconds: UInt32, _ options: [String]) throws {
            let process = try start()
            let recorder = try BackgroundProcess(
                [Fathom.executable, "record", "-q", "-o", session, "--attach", "\(process.pid)", "--for", "5s"]
                    + options)
            try #require(waitUntil { lines("/proc/\(process.pid)/maps").contains { $0.contains("/libfathom") } })
            usleep(milliseconds * 1000)
            recorder.signal(SIGKILL)
            recorder.wait()
            let output = try attach(process.pid, options + ["--for", "20ms"])
            #expect(output.status == 0 || isRefusal(output), "\(output.stderr)")
            process.signal(SIGTERM)
            #expect(process.wait() == 7 << 8)
        }

        /// Ends the process that traces others before its Nth call of the kernel that changes one of them, or, for numbers below 0, a
        /// moment behind that.
        private func killer() throws -> String {
            try Toolchain.compile(
                sources: [
                    "killer.c": """
                    #define _GNU_SOURCE
                    #include <dlfcn.h>
                    #include <signal.h>
                    #include <stdarg.h>
                    #include <stdlib.h>
                    #include <sys/ptrace.h>
                    #include <unistd.h>
                    long ptrace(enum __ptrace_request request, ...) {
                        static long count;
                        static long (*next)(enum __ptrace_request, long, void *, void *);
                        va_list list;
                        va_start(list, request);
                        long thread = va_arg(list, int);
                        void *address = va_arg(list, void *), *data = va_arg(list, void *);
                        va_end(list);
                        if (!next) next = (long (*)(enum __ptrace_request, long, void *, void *))dlsym(RTLD_NEXT, "ptrace");
                        int changes = request == PTRACE_SETREGSET || request == PTRACE_SETSIGMASK || request == PTRACE_CONT;
                        long number = changes ? ++count : 0, end = atol(getenv("KILLED_AT"));
                        if (changes && number == end) raise(SIGKILL);
                        long result = next(request, thread, address, data);
                        if (changes && number == -end) usleep(200), raise(SIGKILL);
                        return result;
                    }
                    """
                ], compiler: .gcc, flags: ["-shared", "-fPIC"], output: directory.file("killer.so"))
        }

        /// Whenever the recorder is killed, each thread has, or gives itself, what it had.
        @Test(arguments: [["--libcalls"], ["--any", "--libcalls"]])
        func recorderIsKilledWhileItChangesThreads(_ options: [String]) throws {
            let killer = try killer(), process = try start()
            var kills = 0
            for number in 1... {
                var ended = 0
                for end in [number, -number] {
                    let output = try Fathom.run(
                        ["record", "-q", "-o", session, "--attach", "\(process.pid)", "--for", "5ms"] + options,
                        environment: ["LD_PRELOAD": killer, "KILLED_AT": "\(end)"])
                    try #require(lines("/proc/\(process.pid)/status").contains("Threads:\t7"), "\(end)")
                    if output.status == 0 || isRefusal(output) { ended += 1 } else { kills += 1 }
                }
                if ended == 2 { break }
            }
            #expect(kills > 40)
            let output = try attach(process.pid, options + ["--for", "20ms"])
            #expect(output.status == 0 || isRefusal(output), "\(output.stderr)")
            process.signal(SIGTERM)
            #expect(process.wait() == 7 << 8)
        }

        /// Slots that lead to the runtime for more than one reason lead back to where they led before.
        @Test func slotsOfTheRuntimesOwn() throws {
            let program = try Toolchain.compile(
                sources: [
                    "jumping.c": """
                    #include <setjmp.h>
                    #include <signal.h>
                    #include <stdlib.h>
                    #include <sys/syscall.h>
                    #include <unistd.h>
                    static volatile sig_atomic_t ends;
                    static void end(int number) { (void)number, ends = 1; }
                    int main(void) {
                        static jmp_buf out;
                        volatile unsigned long wrong = 0;
                        signal(SIGTERM, end);
                        while (!ends) {
                            if (!setjmp(out)) longjmp(out, 1);
                            wrong += syscall(SYS_getpid) != getpid();
                            wrong += abs(-3) != 3 || strtol("12", 0, 10) != 12;
                        }
                        return wrong ? 1 : 7;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-fno-builtin"], output: directory.file("jumping"))
            let process = try BackgroundProcess([program])
            try #require(waitUntil { lines("/proc/\(process.pid)/maps").contains { $0.hasSuffix(program) } })
            usleep(50_000)
            for round in 0..<3 {
                let output = try attach(process.pid, ["--libcalls", "--for", "50ms"])
                #expect(output.status == 0, "\(round): \(output.stderr)")
                let report = try Listing.rows(["report", session, "--format", "csv"])
                #expect(report["syscall", default: 0] > 10 && report["getpid", default: 0] > 10, "\(round): \(report)")
            }
            process.signal(SIGTERM)
            #expect(process.wait() == 7 << 8)
        }
    }
#endif
