#if arch(x86_64)
    internal import Foundation
    import TestSupport
    import Testing

    /// `record --any`: calls of functions that were built without hooks.
    @Suite struct DetourTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("detours") }

        private func counts(_ options: [String] = []) throws -> [String: Int] {
            try Fathom.calls(in: session, options)
        }

        private func record(_ program: [String], _ options: [String] = []) throws -> ProcessOutput {
            try Fathom.record(program, into: session, options: ["--quiet", "--any"] + options)
        }

        /// Each call path, and how many calls it has.
        private func paths() throws -> [String: Int] {
            let graph = try Fathom.run(["graph", "--format", "json", session])
            let json = try #require(JSONSerialization.jsonObject(with: Data(graph.stdout.utf8)) as? [String: Any])
            var found: [String: Int] = [:]
            func visit(_ nodes: Any?, _ callers: String) {
                for node in nodes as? [[String: Any]] ?? [] {
                    let path = callers + ";" + (node["name"] as? String ?? "?")
                    found[path, default: 0] += node["calls"] as? Int ?? 0
                    visit(node["children"], path)
                }
            }
            visit(json["paths"], "")
            return found
        }

        static let program = """
            #include <setjmp.h>
            #include <stdio.h>
            #include <stdlib.h>
            #define KEEP __attribute__((noinline, noclone))
            static jmp_buf out;
            KEEP int odd(int n);
            KEEP int even(int n) { return n == 0 ? 1 : odd(n - 1); }
            KEEP int odd(int n) { return n == 0 ? 0 : even(n - 1); }
            KEEP int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
            KEEP int fewer(const void *a, const void *b) {
                if (*(const int *)a == 13) longjmp(out, 1);
                return *(const int *)a - *(const int *)b;
            }
            KEEP int jumps(int i) {
                int numbers[] = {3, i % 2 ? 13 : 1, 2};
                if (!setjmp(out)) qsort(numbers, 3, sizeof *numbers, fewer);
                return numbers[0];
            }
            KEEP int work(void) {
                int sum = fib(12) + even(100) + odd(99);
                for (int i = 0; i < 100; i++) sum += jumps(i);
                return sum;
            }
            int main(void) {
                printf("%d\\n", work());
                return 3;
            }
            """

        /// As many calls, along the same paths, as hooks tell of in the same code. clang's hooks can come after inlining.
        @Test(arguments: ["-O0", "-O1", "-O2", "-O3"], [["-fPIE", "-pie"], ["-no-pie", "-fno-pie"]])
        func asManyAsHooks(_ level: String, _ kind: [String]) throws {
            func build(_ name: String, _ hooks: [String]) throws -> String {
                try Toolchain.compile(
                    sources: ["p.c": Self.program], compiler: .clang, flags: ["-g", level] + kind + hooks,
                    output: directory.file(name))
            }
            let hooked = try build("p", ["-finstrument-functions-after-inlining", "-fno-optimize-sibling-calls"])
            #expect(try Fathom.record([hooked], into: session, options: ["--quiet"]).status == 3)
            let expected = try paths()
            let bare = try build("p", ["-fno-optimize-sibling-calls"])
            let plain = try TestSupport.run(bare, []), output = try record([bare])
            #expect(output.status == 3 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try paths() == expected && expected[";main;work;fib"] == 1)
        }

        /// A call in the place of another ends that one, so that no tree gets deeper by it.
        @Test func tailCalls() throws {
            let program = try Toolchain.compile(
                sources: ["p.c": Self.program], compiler: .gcc, flags: ["-O2"], output: directory.file("p"))
            #expect(try record([program]).status == 3)
            try Fathom.isWhole(session)
            let found = try counts()
            #expect(found["even"] == 101 && found["odd"] == 100 && found["jumps"] == 100, "\(found)")
            #expect(
                try paths().keys.filter { $0.hasSuffix("even") || $0.hasSuffix("odd") }.allSatisfy { $0.count < 40 })
        }

        /// Functions that cost too much are closed while several threads call them.
        @Test func keepsToTheBudget() throws {
            let text = """
                #include <pthread.h>
                #include <stdio.h>
                __attribute__((noinline, noclone)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
                static void *work(void *sum) {
                    *(int *)sum = fib(27);
                    return NULL;
                }
                int main(void) {
                    pthread_t threads[3];
                    int sums[3];
                    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, &sums[i]);
                    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
                    printf("%d\\n", sums[0] + sums[1] + sums[2]);
                    return 0;
                }
                """
            let program = try Toolchain.compile(
                sources: ["b.c": text], compiler: .gcc, flags: ["-O1", "-pthread"], output: directory.file("b"))
            let output = try record([program], ["--budget", "5"])
            #expect(output.status == 0 && output.stdout == "589254\n" && output.stderr.isEmpty, "\(output)")
            try Fathom.isWhole(session)
            let found = try counts()
            #expect(found["work"] == 3 && (1..<1_000_000).contains(found["fib"] ?? 0), "\(found)")
            #expect(try Fathom.run(["info", session]).stdout.contains("1 closed again to keep to the budget"))
        }

        @Test(arguments: ["profile", "counts", "flight", "stack"]) func modes(_ mode: String) throws {
            let program = try Toolchain.compile(
                sources: ["p.c": Self.program], compiler: .gcc, flags: ["-O1"], output: directory.file("p"))
            #expect(try record([program], ["--mode", mode]).status == 3)
            guard ["profile", "counts"].contains(mode) else { return }
            #expect(try counts()["fib"] == 465)
        }

        /// First instructions of each kind do where they were moved what they did before.
        @Test(arguments: [["-pie"], ["-no-pie"]]) func movedInstructions(_ kind: [String]) throws {
            func function(_ name: String, _ code: String) -> String {
                """
                __asm__(".globl \(name)\\n.type \(name), @function\\n.p2align 4\\n\(name):\\n.cfi_startproc\\n"
                        "\(code)\\n.cfi_endproc\\n.size \(name), .-\(name)\\n");
                long \(name)(long);

                """
            }
            let codes = [
                ("near_data", "addq number(%rip), %rdi\\nmov %rdi, %rax\\nret"),
                ("near_store", "movl $5, number+8(%rip)\\nmovslq number+8(%rip), %rax\\nret"),
                ("near_byte", "cmpb $0, number(%rip)\\nsete %al\\nmovzbl %al, %eax\\nret"),
                ("short_branch", "test %edi, %edi\\nje 1f\\nlea 1(%rdi), %rax\\nret\\n1: mov $-9, %eax\\ncltq\\nret"),
                ("far_branch", "cmp $4, %edi\\njg near_data\\nmov %rdi, %rax\\nret"),
                ("jump", "jmp near_data"),
                ("calls", "sub $8, %rsp\\ncall near_data\\nadd $8, %rsp\\ninc %rax\\nret"),
                ("calls_at_once", "call pushes\\nret"),
                ("pushes", "push %rbx\\nmov %rdi, %rbx\\nlea 2(%rbx), %rax\\npop %rbx\\nret"),
                ("calls_by_memory", "call *pointer(%rip)\\nlea 3(%rax), %rax\\nret"),
                ("calls_by_register", "lea near_data(%rip), %rax\\nsub $8, %rsp\\ncall *%rax\\nadd $8, %rsp\\nret"),
                ("marked", "endbr64\\nlea (%rdi,%rdi), %rax\\nret"),
                ("address", "lea number(%rip), %rax\\nmov (%rax), %rax\\nret"),
                ("vectors", "movq number(%rip), %xmm0\\nmovq %xmm0, %rax\\nret"),
                ("keeps", "mov %r10, %rax\\nadd %r11, %rax\\nret"),
            ]
            let source =
                "#include <stdio.h>\nlong number[2] = {41, 0};\n"
                + codes.map { function($0.0, $0.1) }.joined()
                + "long (*pointer)(long) = near_data;\nint main(void) {\nfor (long i = 0; i < 9; i++) printf(\"\(codes.map { _ in "%ld " }.joined())\\n\""
                + codes.dropLast().map { ", \($0.0)(i)" }.joined() + ", 0l);\n"
                    + """
                        long kept;
                        __asm__ volatile("mov $1000, %%r10; mov $234, %%r11; sub $128, %%rsp; call keeps; add $128, %%rsp"
                                         : "=a"(kept) : : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
                        printf("%ld\\n", kept);
                        return 0;
                    }
                    """
            let program = try Toolchain.compile(
                sources: ["moved.c": source], compiler: .gcc, flags: ["-O1"] + kind, output: directory.file("moved"))
            let plain = try TestSupport.run(program, []), output = try record([program])
            #expect(plain.status == 0 && plain.stdout.hasSuffix("1234\n"))
            #expect(output.status == 0 && output.stdout == plain.stdout, "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            let found = try counts()
            #expect(codes.dropLast().allSatisfy { found[$0.0, default: 0] >= 9 } && found["keeps"] == 1, "\(found)")
        }

        private static let throwing = """
            #include <cstdio>
            #include <execinfo.h>
            #include <stdexcept>
            #include <thread>
            #include <vector>
            #define KEEP __attribute__((noinline))
            static thread_local int destroyed;
            struct Object { int n; KEEP ~Object() { destroyed++; } };
            KEEP int deeper(int n) {
                Object object{n};
                if (n == 0) throw std::runtime_error("deep");
                return deeper(n - 1) + object.n;
            }
            KEEP int again(int n) {
                try { return deeper(n); } catch (const std::exception &) { if (n % 2) throw; return 1; }
            }
            KEEP void work() {
                int caught = 0;
                for (int i = 0; i < 500; i++) try { caught += again(i % 20); } catch (...) { caught += 2; }
                printf("%d %d\\n", caught, destroyed);
            }
            KEEP int frames(int n) {
                void *found[64];
                return n ? frames(n - 1) + (destroyed < 0) : backtrace(found, 64);
            }
            int main() {
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; i++) threads.emplace_back(work);
                for (auto &thread : threads) thread.join();
                work();
                return frames(5) > 6 ? 0 : 1;
            }
            """

        /// Exceptions, and whoever looks at the stack, pass through calls with detours, in several threads at once.
        @Test(arguments: [Toolchain.Compiler.gxx, .clangxx], ["-O0", "-O2"])
        func exceptions(_ compiler: Toolchain.Compiler, _ level: String) throws {
            let program = try Toolchain.compile(
                sources: ["throwing.cpp": Self.throwing], compiler: compiler, flags: [level, "-std=c++17"],
                libraries: ["-lpthread"], output: directory.file("throwing"))
            let plain = try TestSupport.run(program, []), output = try record([program])
            #expect(plain.status == 0)
            #expect(output.status == 0 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try counts()["again"] == 2500)
        }

        /// Handlers of signals throw through functions, and to handlers in them, although these are in the midst of what was moved.
        @Test(arguments: ["-O0", "-O1", "-O2", "-Os"], [[], ["-static-libgcc", "-static-libstdc++"]])
        func faultsThrow(_ level: String, _ libraries: [String]) throws {
            let program = try Binaries.make(
                "faulting\(level)\(libraries.count)", command: "g++",
                [level, "-Wall", "-Wextra", "-Werror", "-fnon-call-exceptions"] + libraries,
                ["\(Binaries.sources)/faulting.cpp"])
            let plain = try TestSupport.run(program, []), output = try record([program])
            #expect(plain.status == 0)
            #expect(output.status == 0 && output.stdout == plain.stdout, "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try counts()["by_memory"] == 20)
        }

        /// At each instruction of a call with a detour, the stack can be unwound.
        @Test(arguments: ["-O1", "-O3"]) func unwindsAtEachInstruction(_ level: String) throws {
            let program = try Binaries.make(
                "stepping\(level)", command: "g++", [level, "-Wall", "-Wextra", "-Werror", "-fno-omit-frame-pointer"],
                ["\(Binaries.sources)/stepping.cpp"])
            let plain = try TestSupport.run(program, []), output = try record([program], ["-H", "handled*"])
            #expect(plain.stdout.hasSuffix(" stepped 0\n"))
            #expect(output.status == 0 && output.stdout == plain.stdout, "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try counts()["at_once"] == 6)
        }

        /// An unwinder that is linked into the program works as it did.
        @Test func ownUnwinder() throws {
            let program = try Toolchain.compile(
                sources: ["own.cpp": Self.throwing], compiler: .gxx,
                flags: ["-O2", "-std=c++17", "-static-libgcc", "-static-libstdc++", "-s"], libraries: ["-lpthread"],
                output: directory.file("own"))
            let plain = try TestSupport.run(program, []), output = try record([program])
            #expect(plain.status == 0)
            #expect(output.status == 0 && output.stdout == plain.stdout && output.stderr.isEmpty, "\(output.stderr)")
            try Fathom.isWhole(session)
        }

        /// Calls on a coroutine's stack of 2 KB, of which the last page cannot be read.
        @Test(arguments: [[], ["--mode", "profile"], ["--mode", "counts"], ["--libcalls"]])
        func smallStacks(_ options: [String]) throws {
            let program = try Binaries.make(
                "small_stack", command: "gcc", ["-O1", "-Wall", "-Wextra", "-Werror"],
                ["\(Binaries.sources)/small_stack.c"])
            let plain = try TestSupport.run(program, ["2048"]), output = try record([program, "2048"], options)
            #expect(plain.status == 0)
            #expect(output.status == 0 && output.stdout == plain.stdout, "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
        }

        /// Who jumps behind the mark of a function comes by its detour.
        @Test func jumpsBehindMarks() throws {
            let program = try Toolchain.compile(
                sources: [
                    "marks.c": """
                    #include <stdio.h>
                    __attribute__((noinline, noclone)) int marked(int n) { return n * 3 + 1; }
                    int (*volatile function)(int) = marked;
                    int main(void) {
                        int sum = 0;
                        for (int i = 0; i < 10; i++) {
                            sum += function(i);
                            sum += ((int (*)(int))((char *)function + 4))(i);
                        }
                        printf("%d\\n", sum);
                    }
                    """
                ], compiler: .gcc, flags: ["-O1", "-fcf-protection=branch"], output: directory.file("marks"))
            let output = try record([program])
            #expect(output.status == 0 && output.stdout == "290\n", "\(output.stdout)\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try counts() == ["main": 1, "marked": 20])
        }

        /// A program whose exceptions nongnu's libunwind throws cannot be recorded so, and says why.
        @Test(.enabled(if: access("/usr/lib/x86_64-linux-gnu/libunwind.so.8", R_OK) == 0))
        func foreignUnwinder() throws {
            func build(_ name: String, _ first: String, _ second: String) throws -> String {
                try Toolchain.compile(
                    sources: [
                        "throws.cpp": """
                        #include <cstdio>
                        __attribute__((noinline)) int deeper(int n) {
                            if (n == 0) throw 7;
                            return deeper(n - 1) + 1;
                        }
                        int main() {
                            int caught = 0;
                            for (int i = 0; i < 10; i++) try { deeper(i); } catch (int n) { caught += n; }
                            printf("%d\\n", caught);
                        }
                        """
                    ], compiler: .gxx, flags: ["-O1"], libraries: ["-Wl,--no-as-needed", first, second],
                    output: directory.file(name))
            }
            let foreign = try build("foreign", "-l:libunwind.so.8", "-lgcc_s")
            for option in ["--any", "--libcalls"] {
                let output = try Fathom.record([foreign], into: session, options: [option])
                #expect(output.status == 126, "\(output.status)")
                #expect(output.stderr.contains("foreign throws its exceptions by libunwind.so.8"), "\(output.stderr)")
            }
            let output = try record([try build("usual", "-lgcc_s", "-l:libunwind.so.8")])
            #expect(output.status == 0 && output.stdout == "70\n", "\(output.stderr)")
        }

        /// Calls that find no return place are counted, with this reason.
        @Test func lostCalls() throws {
            let program = try Toolchain.compile(
                sources: [
                    "deep.c": """
                    #include <stdio.h>
                    __attribute__((noinline, noclone)) int deep(int n) { return n ? deep(n - 1) * 3 + 1 : 0; }
                    int main(void) {
                        printf("%d\\n", deep(60000));
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], output: directory.file("deep"))
            let plain = try TestSupport.run(program, [])
            let output = try Fathom.record([program], into: session, options: ["--any"])
            #expect(output.status == 0 && output.stdout == plain.stdout)
            let reason = "too many were open, or never returned, and no return place was free"
            #expect(output.stderr.contains("calls not recorded: " + reason), "\(output.stderr)")
            let info = try Fathom.run(["info", session])
            #expect(info.stdout.contains(reason), "\(info.stdout)")
        }

        /// A jump out of a deep recursion gives the places of its calls free, whatever is still on the stack below.
        @Test func deepCallsAreLeft() throws {
            let program = try Toolchain.compile(
                sources: [
                    "left.c": """
                    #include <setjmp.h>
                    #include <stdio.h>
                    static jmp_buf out;
                    __attribute__((noinline, noclone)) int leaf(int n) { return n * 3 + 1; }
                    __attribute__((noinline, noclone)) int deep(int n) {
                        if (!n) longjmp(out, 1);
                        return deep(n - 1) + leaf(n);
                    }
                    int main(void) {
                        int sum = 0;
                        if (!setjmp(out)) deep(20000);
                        for (int n = 0; n < 200000; n++) sum = leaf(sum);
                        printf("%d\\n", sum);
                    }
                    """
                ], compiler: .gcc, flags: ["-O1"], output: directory.file("left"))
            let plain = try TestSupport.run(program, [])
            for _ in 0..<3 {
                let output = try Fathom.record([program], into: session, options: ["-q", "--any"])
                #expect(output.status == 0 && output.stdout == plain.stdout)
                let leaves = try #require(try counts()["leaf"])
                #expect(leaves == 200_000)
            }
        }

        /// Options choose functions by name, size and cost, and arguments and results are those that the debug information has.
        @Test func options() throws {
            let program = try Toolchain.compile(
                sources: ["p.c": Self.program], compiler: .gcc, flags: ["-O1", "-g"], output: directory.file("p"))
            #expect(try Fathom.record([program], into: session, options: ["-q", "--any=fi*"]).status == 3)
            #expect(try counts() == ["fib": 465])
            #expect(try record([program], ["-H", "fib"]).status == 3)
            #expect(try counts()["fib"] == nil && counts()["work"] == 1)
            #expect(try record([program], ["-F", "jumps"]).status == 3)
            #expect(Set(try counts().keys) == ["jumps", "fewer"])
            let none = try Fathom.record([program], into: session, options: ["--any", "--min-size", "60000"])
            #expect(none.status == 3 && none.stderr.contains("no function with a detour was called"), "\(none.stderr)")
            #expect(try record([program], ["--args", "fib", "--returns", "fib", "--args", "odd:n"]).status == 3)
            let tree = try Fathom.run(["tree", session]).stdout
            #expect(tree.contains("fib(n=12) = 144") && tree.contains("odd(n=99)"), "\(tree)")
            #expect(try record([program], ["--libcalls"]).status == 3)
            let both = try counts()
            #expect(both["qsort"] == 100 && both["fib"] == 465 && both["printf"] == 1, "\(both)")
        }

        private static let running = """
            #include <pthread.h>
            #include <signal.h>
            #include <unistd.h>
            #define KEEP __attribute__((noinline, noclone))
            extern const char __executable_start, etext, __start_hot, __stop_hot;
            static unsigned long sum(void) {
                unsigned long all = 0;
                for (const char *at = &__executable_start; at < &etext; at++) all = all * 31 + (unsigned char)*at;
                for (const char *at = &__start_hot; at < &__stop_hot; at++) all = all * 31 + (unsigned char)*at;
                return all;
            }
            KEEP __attribute__((section("hot"))) int leaf(int n) { return n * 3 + 1; }
            KEEP int deep(int n) { return n ? deep(n - 1) + leaf(n) : leaf(n); }
            KEEP void handled(int signal) { leaf(signal); }
            static volatile int ends;
            static void *work(void *unused) {
                while (!ends) deep(20);
                return unused;
            }
            static void end(int signal) { (void)signal, ends = 1; }
            int main(void) {
                pthread_t threads[4];
                unsigned long before = sum();
                signal(SIGUSR1, handled);
                signal(SIGTERM, end);
                for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
                while (!ends) usleep(1000);
                for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
                return sum() == before ? 7 : 1;
            }
            """

        /// Somebody attaches to a program without hooks, whose threads run what is changed, in two segments, leaves, and attaches again.
        /// The code is what it was afterwards.
        @Test func attaching() throws {
            let program = try Toolchain.compile(
                sources: ["running.c": Self.running], compiler: .gcc,
                flags: ["-O1", "-Wl,--section-start=hot=0x800000"], libraries: ["-lpthread"],
                output: directory.file("running"))
            let process = try BackgroundProcess([program])
            for round in 0..<5 {
                let output = try Fathom.run([
                    "record", "--any", "--attach", "\(process.pid)", "--for", "200ms", "-o", session,
                ])
                #expect(
                    output.status == 0 && !output.stderr.contains("stays in the midst"), "\(round): \(output.stderr)")
                let found = try counts()
                #expect((found["leaf"] ?? 0) > 100 && (found["deep"] ?? 0) > 100, "\(round): \(found)")
                #expect(kill(process.pid, SIGUSR1) == 0)
            }
            kill(process.pid, SIGTERM)
            #expect(process.wait() == 7 << 8)
        }

        /// Programs as they are shipped do as they do without it.
        @Test(arguments: [
            ["git", "--version"], ["perl", "-e", "print join ',', sort map { $_ % 7 } 1..500"],
            [
                "bash", "-c",
                "for i in {1..200}; do a[i]=$((i * i)); done; echo ${a[@]}; trap 'echo T' USR1; kill -USR1 $$",
            ],
            ["sort", "-r", "/etc/services"], ["awk", "{ n += length } END { print n }", "/etc/services"],
            ["python3", "-c", "import json, re; print(len(re.findall('a', json.dumps(list(range(500))))))"],
            ["gcc", "-E", "-dM", "-xc", "/dev/null"],
        ]) func shippedPrograms(_ command: [String]) throws {
            let plain = try TestSupport.run(command[0], Array(command[1...]))
            let output = try record(command, ["--module", "*"])
            #expect(output.status == plain.status && output.stdout == plain.stdout, "\(output.stderr)")
            try Fathom.isWhole(session)
            #expect(try counts().values.reduce(0, +) > 20)
        }

        /// What cannot be recorded so says why.
        @Test func refusals() throws {
            let node = try Fathom.run(["doctor", "/usr/bin/node"])
            #expect(node.stdout.contains("JavaScript (V8), which walks its own stack"), "\(node.stdout)")
            let git = try Fathom.run(["doctor", "/usr/bin/git"])
            #expect(git.stdout.contains("functions can be recorded without a rebuild"), "\(git.stdout)")
        }
    }
#endif
