#if arch(x86_64)
    internal import Foundation
    import TestSupport
    import Testing

    /// `record --syscalls`: which system calls a program makes, and below which of its calls.
    @Suite struct SystemCallTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("system-calls") }

        private func record(_ command: [String], _ options: [String] = []) throws -> ProcessOutput {
            try Fathom.record(command, into: session, options: ["--quiet", "--syscalls"] + options)
        }

        private static let kernelTells: Bool = {
            guard let directory = try? TemporaryDirectory("system-calls"),
                let output = try? Fathom.record(["true"], into: directory.file("s"), options: ["--syscalls"])
            else { return false }
            return output.status == 0 && !output.stderr.contains("the kernel does not tell")
        }()

        /// The depth and the text of each call, by threads.
        private func trees(_ options: [String] = []) throws -> [[(depth: Int, call: String)]] {
            let output = try Fathom.run(["tree", "--no-fold"] + options + [session])
            #expect(output.status == 0, "\(output.stderr)")
            var trees: [[(depth: Int, call: String)]] = []
            for line in output.stdout.split(separator: "\n") {
                if line.hasPrefix("process ") { trees.append([]) }
                guard let call = line.wholeMatch(of: /\ *(\d+)(?:\ +[\d.,]+\ (?:ns|us|ms|s))+\ +(.*)/) else { continue }
                trees[trees.count - 1].append((Int(call.1)!, String(call.2)))
            }
            return trees
        }

        /// The calls that the first call of a function makes, at any depth.
        private func calls(below name: String, in trees: [[(depth: Int, call: String)]]) throws -> [String] {
            for tree in trees {
                guard let place = tree.firstIndex(where: { $0.call == name || $0.call.hasPrefix("\(name) (") }) else {
                    continue
                }
                return tree[(place + 1)...].prefix { $0.depth > tree[place].depth }.map(\.call)
            }
            throw TestSupportError.tooShort("no call of \(name)")
        }

        @Test(
            .enabled(if: SystemCallTests.kernelTells, "the kernel tells nobody like us of system calls"),
            arguments: [Build.gccO2, .clangO0])
        func belowTheirCalls(_ build: Build) throws {
            let program = try Binaries.instrumented("systemcalls.c", build)
            let plain = try run(program, ["300"]), output = try record([program, "300"])
            #expect(
                output.status == plain.status && output.stdout == plain.stdout && output.stderr.isEmpty,
                "\(output.stderr)")
            let trees = try trees()
            let asked = try calls(below: "ask", in: trees)
            #expect(asked.count == 300 && Set(asked).count == 1 && asked[0].hasPrefix("sys_getppid() = "), "\(asked)")
            let files = try calls(below: "files", in: trees).map { $0.replacing(/0x[0-9a-f]+/, with: "ADDRESS") }
            #expect(
                files == [
                    #"sys_openat(dirfd=AT_FDCWD, path="/nowhere/to/be\tfound", flags=O_RDONLY, mode=0) = -1 ENOENT"#,
                    #"sys_openat(dirfd=AT_FDCWD, path="/dev/null", flags=O_RDWR|O_CLOEXEC, mode=0) = 3"#,
                    "sys_read(fd=3, buffer=ADDRESS, count=16) = 0", "sys_write(fd=3, buffer=ADDRESS, count=5) = 5",
                    "sys_close(fd=3) = 0",
                ], "\(files)")
            #expect(try calls(below: "thread", in: trees) == [String](repeating: "sys_sched_yield() = 0", count: 10))
            let inChild = try calls(below: "child", in: trees)
            #expect(inChild.filter { $0.hasPrefix("sys_getppid") }.count == 7)
            #expect(inChild.last == "sys_exit_group(status=3) (open)", "\(inChild)")
            // What the program writes when it has ended, and its end.
            let last = try #require(trees.first { $0.contains { $0.call == "ask" } })
            #expect(last.contains { $0.depth == 0 && $0.call.hasPrefix("sys_write(fd=1") && $0.call.hasSuffix(" = 5") })
            #expect(last.last?.call == "sys_exit_group(status=0) (open)", "\(last.suffix(3))")
            let check = try Fathom.run(["info", "--check", session])
            #expect(check.status == 0, "\(check.stdout)")
            let report = try Fathom.run(["report", "-F", "sys_getppid", "--format", "csv", session])
            #expect(report.stdout.contains("307"), "\(report.stdout)")
        }

        /// Over a second, in which clocks drift apart: each call stands below the function that made it.
        @Test(.enabled(if: SystemCallTests.kernelTells, "the kernel tells nobody like us of system calls"))
        func stayBelowTheirCalls() throws {
            let program = try Toolchain.compile(
                sources: [
                    "program.c": """
                    #include <sys/syscall.h>
                    #include <unistd.h>
                    __attribute__((noinline)) void first(void) { syscall(SYS_getuid); }
                    __attribute__((noinline)) void second(void) { syscall(SYS_getgid); }
                    int main(void) {
                        for (int i = 0; i < 400; i++) { first(); second(); usleep(2500); }
                        return syscall(SYS_fathom_unknown) == -1 ? 0 : 1;
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-finstrument-functions", "-DSYS_fathom_unknown=-1"],
                output: directory.file("program"))
            #expect(try record([program]).status == 0)
            var parents: [String: [String: Int]] = [:], path: [String] = []
            for (depth, call) in try trees().flatMap({ $0 }) {
                let name = String(call.prefix { $0 != "(" && $0 != " " })
                path = path.prefix(depth) + [name]
                parents[name, default: [:]][depth > 0 ? path[depth - 1] : "", default: 0] += 1
            }
            #expect(parents["sys_getuid"] == ["first": 400] && parents["sys_getgid"] == ["second": 400], "\(parents)")
            #expect(parents["sys_?"] == ["main": 1])
        }

        /// Programs without hooks, and threads without records.
        @Test(.enabled(if: SystemCallTests.kernelTells, "the kernel tells nobody like us of system calls"))
        func withoutHooks() throws {
            let program = try Toolchain.compile(
                sources: ["program.c": String(contentsOfFile: "\(Binaries.sources)/systemcalls.c", encoding: .utf8)],
                compiler: .gcc, flags: ["-O2", "-pthread"], output: directory.file("program"))
            #expect(try record([program, "20"]).status == 0)
            let all = try trees()
            #expect(all.count == 3)
            #expect(all.flatMap { $0 }.count { $0.call.hasPrefix("sys_getppid") } == 27)
            #expect(all.flatMap { $0 }.count { $0.call == "sys_sched_yield() = 0" } == 10)
        }

        /// A recorder that does not get to reading in time loses some, and whoever reads the recording is told.
        @Test(.enabled(if: SystemCallTests.kernelTells, "the kernel tells nobody like us of system calls"))
        func lostOnes() throws {
            let program = try Binaries.instrumented("systemcalls.c", .gccO2)
            let recorder = try BackgroundProcess(
                [Fathom.executable, "record", "-o", session, "--syscalls", "--", program, "2000000"])
            let children = "/proc/\(recorder.pid)/task/\(recorder.pid)/children"
            var made: Int32?
            _ = waitUntil {
                let text = (try? readFile(children)).map { String(decoding: $0, as: UTF8.self) } ?? ""
                made = text.split(separator: " ").first.flatMap { Int32($0) }
                return made != nil
            }
            let child = try #require(made)
            recorder.signal(SIGSTOP)
            // Its time within system calls, in ticks of 10 ms (proc_pid_stat(5)), unless it has ended.
            let isBehind = waitUntil {
                let line = (try? readFile("/proc/\(child)/stat")).map { String(decoding: $0, as: UTF8.self) } ?? ""
                let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
                return fields.count > 12 && (fields[0] == "Z" || Int(fields[12]) ?? 0 >= 20)
            }
            #expect(isBehind)
            recorder.signal(SIGCONT)
            #expect(recorder.wait() == 0)
            let lost = "some system calls", info = try Fathom.run(["info", session])
            #expect(
                info.status == 0 && info.stdout.contains(lost) && !info.stdout.contains("all, told"), "\(info.stdout)")
            #expect(try Fathom.run(["report", session]).stderr.contains(lost))
            let json = try Fathom.run(["info", "--format", "json", session]).stdout
            #expect(json.contains(#""system_calls":{"source":"kernel","are_lost":true}"#), "\(json)")
        }

        /// Where the kernel does not tell, the C library's functions tell.
        @Test func byFunctions() throws {
            let program = try Binaries.instrumented("systemcalls.c", .gccO2)
            #expect(try record([program, "2"], ["--mode", "profile"]).status == 0)
            let info = try Fathom.run(["info", session])
            #expect(info.stdout.contains("syscalls=functions"), "\(info.stdout)")
            #expect(try record([program, "2"], ["--mode", "counts"]).status == 0)
            let report = try Fathom.run(["report", "--format", "csv", session])
            #expect(report.stdout.contains("waitpid") && report.stdout.contains("read"), "\(report.stdout)")
        }
    }
#endif
