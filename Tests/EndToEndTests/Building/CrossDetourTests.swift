#if arch(x86_64)
    import TestSupport
    import Testing

    /// `record --any` of programs of aarch64, under qemu.
    @Suite(.enabled(if: CrossProgram.isPossible))
    struct CrossDetourTests {
        private let programs: CrossProgram

        init() throws { programs = try CrossProgram() }

        /// Runs a program with and without detours, and sees that it does the same.
        private func record(_ program: [String], _ options: [String] = []) throws {
            let plain = try programs.plain(program), output = try programs.record(program, ["--any"] + options)
            #expect(
                output.stdout == plain.stdout && output.status == plain.status && output.stderr.isEmpty, "\(output)")
            try programs.isWhole()
        }

        /// Each call, at each level and whatever protects the code, and in the modes that keep sums.
        @Test(arguments: [
            (["-O0"], "trace"), (["-O1"], "trace"), (["-O2"], "trace"), (["-O2", "-no-pie", "-fno-pie"], "counts"),
            (["-O2"], "profile"), (["-O1"] + CrossProgram.protected, "trace"),
        ]) func everyCall(_ flags: [String], _ mode: String) throws {
            let program = try programs.compile("program", DetourTests.program, flags)
            try record([program], ["--mode", mode])
            let found = try programs.counts()
            // gcc can make a loop of the second of its two calls.
            #expect([233, 465].contains(found["fib"]) && found["even"] == 101 && found["odd"] == 100, "\(found)")
            #expect(found["jumps"] == 100 && found["work"] == 1, "\(found)")
        }

        /// - Parameter code: of the function, and behind a bar the data that it loads.
        private static func function(_ name: String, _ code: String) -> String {
            let parts = code.split(separator: "|").map { $0.split(separator: ";").joined(separator: "\\n") }
            return """
                __asm__(".globl \(name)\\n.type \(name), %function\\n.p2align 2\\n\(name):\\n.cfi_startproc\\n"
                        "\(parts[0])\\n.cfi_endproc\\n.size \(name), . - \(name)\\n.p2align 3\\n\(parts.count > 1 ? parts[1] : "")\\n");
                long \(name)(long);
                """
        }

        /// Functions by their first instruction.
        private static let moved = [
            ("takes_address", "adr x1, 1f;ldr w0, [x1];ret|1: .word 12345"),
            ("takes_page", "adrp x1, number;ldr x0, [x1, :lo12:number];ret"),
            ("loads_word", "ldr w1, 1f;add x0, x0, x1;ret|1: .word 1000000007, 0"),
            ("loads_long", "ldr x1, 1f;add x0, x0, x1;ret|1: .xword 1000000000007"),
            ("loads_signed", "ldrsw x1, 1f;add x0, x0, x1;ret|1: .word -3, 0"),
            ("is_zero", "cbz x0, 1f;mov x0, #5;ret;1: mov x0, #6;ret"),
            ("is_not_zero", "cbnz w0, 1f;mov x0, #7;ret;1: mov x0, #8;ret"),
            ("is_even", "tbz w0, #0, 1f;mov x0, #9;ret;1: mov x0, #10;ret"),
            ("is_large", "tbnz x0, #40, 1f;mov x0, #11;ret;1: mov x0, #12;ret"),
            ("goes_on", "b is_zero"), ("returns", "ret"), ("signs", "paciasp;autiasp;add x0, x0, #1;ret"),
            ("marked", "bti c;add x0, x0, #2;ret"),
            (
                "pushes",
                "stp x29, x30, [sp, #-16]!;.cfi_def_cfa_offset 16;.cfi_offset 29, -16;.cfi_offset 30, -8;bl is_even;ldp x29, x30, [sp], #16;.cfi_def_cfa_offset 0;ret"
            ), ("steps", "add x0, x0, #1;sub x0, x0, #2;ret"),
        ]
        /// Those that get no detour, because of the first instruction or of what comes behind it.
        private static let left = [
            ("returns_by_another", "mov x5, x30;add x0, x0, #3;ret x5"), ("calls", "bl 1f;1: mov x30, x1;ret"),
            ("loads_double", "ldr d0, 1f;fcvtzs x0, d0;ret|1: .double 17.0"),
            ("loops", "1: subs x0, x0, #1;b.gt 1b;ret"), ("asks", "xpaclri;mov x0, x30;ret"),
            ("is_less", "b.lt 1f;mov x0, #13;ret;1: mov x0, #14;ret"), ("holds_data", "b 1f;.word 0;1: ret"),
        ]

        /// First instructions of each kind do where they were moved what they did before.
        @Test(arguments: [[], ["-no-pie", "-fno-pie"]]) func movedInstructions(_ kind: [String]) throws {
            let called = (Self.moved + Self.left).map(\.0).filter {
                !["is_less", "calls", "asks", "loops"].contains($0)
            }
            let text = """
                #include <stdio.h>
                long number = 42;
                \((Self.moved + Self.left).map(Self.function).joined(separator: "\n"))
                int main(void) {
                    long (*const all[])(long) = {\(called.joined(separator: ", "))};
                    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
                        for (long j = 0; j < 3; j++) printf("%ld ", all[i](j + (j << 39)));
                    return 0;
                }
                """
            try record([try programs.compile("moved", text, ["-O1", "-march=armv8.5-a"] + kind)])
            let found = try programs.counts()
            for (name, _) in Self.moved where !["is_zero", "is_even"].contains(name) {
                #expect(found[name] == 3, "\(name)")
            }
            #expect(found["is_zero"] == 6 && found["is_even"] == 6, "\(found)")
            for (name, _) in Self.left { #expect(found[name] == nil, "\(name)") }
        }

        /// Exceptions pass through detours, in several threads at once.
        @Test(arguments: [[], CrossProgram.protected]) func exceptions(_ flags: [String]) throws {
            let program = try programs.compile(
                "throwing", LibraryCallTests.throwing, ["-O1", "-std=c++17", "-pthread"] + flags, compiler: "g++")
            try record([program])
            try record([program], ["--libcalls"])
        }

        /// As for library calls, from stubs and the first instructions in them as well.
        @Test func unwindingFromSignals() throws {
            let program = try programs.compile(
                "unwinding", CrossProgram.unwinding, ["-O1", "-fexceptions", "-fno-builtin"])
            try record(["-singlestep", program])
        }

        /// Callers of a function of the same file may keep in vector registers what it does not use (gcc's -fipa-ra).
        @Test(arguments: ["trace", "counts"]) func vectorRegisters(_ mode: String) throws {
            let text = """
                #include <dlfcn.h>
                #include <stdio.h>
                static int calls;
                __attribute__((noinline)) static double half(double x) { return x / 2; }
                __attribute__((noinline)) static void count(void) { calls++; }
                __attribute__((noinline)) static double all(const double *x) {
                    double a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], f = x[5], g = x[6], h = x[7];
                    for (int i = 0; i < 50; i++) {
                        a += half(b), b += c, c += half(d), d += e, e += f, f += g, g += half(h), h += 1;
                        count();
                    }
                    return a + b + c + d + e + f + g + h;
                }
                int main(int argc, char **argv) {
                    double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
                    double sum = all(x);
                    // A library makes the runtime look at modules, in the midst of a call.
                    printf("%.3f ", sum);
                    if (argc > 1 && dlopen(argv[1], RTLD_NOW)) printf("%.3f ", all(x));
                    printf("%d\\n", calls);
                    return 0;
                }
                """
            try record(
                [try programs.compile("vectors", text, ["-O2", "-fno-tree-vectorize"]), "libm.so.6"], ["--mode", mode])
            #expect(try programs.counts()["half"] == 300)
        }

        /// A library's functions have detours before its constructors run.
        @Test func librariesThatAreLoaded() throws {
            let library = try programs.compile(
                "library.so",
                """
                static int loaded;
                __attribute__((noinline)) int add(int n) { return loaded + n; }
                __attribute__((constructor)) static void load(void) { loaded = 30; }
                """, ["-O1", "-shared", "-fPIC"])
            let program = try programs.compile(
                "loading",
                """
                #include <dlfcn.h>
                int main(int count, char **arguments) {
                    int (*add)(int) = (int (*)(int))dlsym(dlopen(arguments[count - 1], RTLD_NOW), "add");
                    return add(5) + add(6);
                }
                """, ["-O1"])
            try record([program, library], ["--module", "*"])
            let found = try programs.counts()
            #expect(found["load"] == 1 && found["add"] == 2, "\(found)")
        }
    }
#endif
