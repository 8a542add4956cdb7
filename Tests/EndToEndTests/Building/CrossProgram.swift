#if arch(x86_64)
    import TestSupport
    import Testing

    /// Programs of aarch64 that run under qemu, with the runtime for that machine. The emulator has calls of its own, which are not
    /// recorded here, because the runtime for this machine is hidden from it.
    struct CrossProgram {
        let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        static let isPossible = ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"].allSatisfy(
            Toolchain.isInstalled)

        /// Signed return addresses and guarded jumps, which qemu's processor has.
        static let protected = ["-mbranch-protection=standard", "-march=armv8.5-a"]

        init() throws { directory = try TemporaryDirectory("cross-program") }

        func compile(
            _ name: String, _ text: String, _ flags: [String], _ libraries: [String] = [], compiler: String = "gcc"
        ) throws -> String {
            let source = directory.file("\(name).\(compiler == "gcc" ? "c" : "cpp")"), output = directory.file(name)
            try writeFile(Array(text.utf8), to: source)
            let result = try run("aarch64-linux-gnu-\(compiler)", flags + [source] + libraries + ["-o", output])
            try #require(result.status == 0, Comment(rawValue: result.stderr))
            return output
        }

        /// Starts a program by a system call of its own, and without what is preloaded here.
        private static let hiding = """
            #include <sys/syscall.h>
            int main(int count, char **arguments, char **environment) {
                static const char preload[] = "LD_PRELOAD=";
                char **to = environment;
                for (char **from = environment; *from; from++) {
                    int same = 0;
                    while (preload[same] && (*from)[same] == preload[same]) same++;
                    if (preload[same]) *to++ = *from;
                }
                *to = 0;
                long result = SYS_execve;
                __asm__ volatile("syscall" : "+a"(result) : "D"(arguments[1]), "S"(arguments + 1), "d"(environment)
                                 : "rcx", "r11", "memory");
                return count + 100;
            }
            """

        private func emulator() throws -> [String] {
            [try run("sh", ["-c", "command -v qemu-aarch64"]).stdout.split(separator: "\n")[0].description]
                + ["-L", "/usr/aarch64-linux-gnu"]
        }

        func plain(_ program: [String]) throws -> ProcessOutput {
            let command = try emulator() + program
            return try run(command[0], Array(command.dropFirst()))
        }

        func record(_ program: [String], _ options: [String]) throws -> ProcessOutput {
            let hiding = try Toolchain.compile(
                sources: ["hiding.c": Self.hiding], compiler: .gcc, flags: ["-O1", "-fno-builtin"],
                output: directory.file("hiding"))
            let preloaded = ["-E", "LD_PRELOAD=\(try CrossTests.products())/libfathom.so"]
            return try Fathom.record(
                [hiding] + emulator() + preloaded + program, into: session,
                options: ["--quiet", "--force"] + options)
        }

        func counts() throws -> [String: Int] {
            try Fathom.calls(in: session)
        }

        /// A handler of a signal unwinds from wherever it has come to main, while calls go on. Its status says whether some were lost.
        static let unwinding = """
            #include <signal.h>
            #include <stdlib.h>
            #include <sys/time.h>
            #include <unwind.h>
            int main(int, char **);
            static volatile int seen, lost;
            struct look { int is_main, frames; unsigned long innermost; };
            static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument) {
                struct look *at = argument;
                unsigned long address = _Unwind_GetIP(context);
                // The first frames are the handler's own, and the kernel's.
                if (at->frames++ == 2) at->innermost = address;
                if (_Unwind_FindEnclosingFunction((void *)address) == (void *)main) at->is_main = 1;
                return at->frames > 60 ? _URC_END_OF_STACK : _URC_NO_REASON;
            }
            static void handler(int number) {
                struct look at = {0, 0, 0};
                _Unwind_Backtrace(look, &at);
                // Procedure linkage tables have no table for unwinding.
                if (!_Unwind_FindEnclosingFunction((void *)at.innermost)) return;
                seen++;
                lost += !at.is_main;
            }
            static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
            int main(int count, char **arguments) {
                struct itimerval timer = {{0, 20000}, {0, 20000}};
                signal(SIGALRM, handler);
                setitimer(ITIMER_REAL, &timer, NULL);
                for (long i = 0; seen < 60 && i < 1000000; i++) {
                    int numbers[] = {3, 1, 2};
                    qsort(numbers, 3, sizeof *numbers, compare);
                    labs(i);
                }
                return lost ? 1 : 0;
            }
            """

        func isWhole() throws {
            let check = try Fathom.run(["info", "--check", session])
            #expect(check.status == 0, "\(check.stdout)")
        }
    }
#endif
