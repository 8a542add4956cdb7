import TestSupport
import Testing

@testable import TraceSymbols

/// Which functions of aarch64 can get a detour.
@Suite(.enabled(if: Toolchain.isInstalled("aarch64-linux-gnu-gcc"))) struct CrossDetourEntryTests {
    private func judged(_ assembly: String, _ source: String = "", flags: [String] = ["-O2"]) throws -> [String:
        DetourEntries.Reason?]
    {
        let directory = try TemporaryDirectory("detours")
        let path = directory.file("a.so"), sources = [directory.file("a.s"), directory.file("b.c")]
        try writeFile(Array((".text\n.arch armv8.5-a\n" + assembly).utf8), to: sources[0])
        try writeFile(Array(source.utf8), to: sources[1])
        let result = try run("aarch64-linux-gnu-gcc", ["-shared", "-fPIC"] + flags + sources + ["-o", path])
        try #require(result.status == 0, Comment(rawValue: result.stderr))
        let found = try DetourEntries(path: path)
        #expect(found.refusal == nil && found.entries.allSatisfy { $0.code >> 32 == 0 })
        var all: [String: DetourEntries.Reason?] = [:]
        for entry in found.entries { all[entry.name ?? "?"] = .some(nil) }
        for (name, reason) in found.refused { all[name] = reason }
        return all
    }

    private static func function(_ code: String) -> String {
        ".globl here\n.type here, %function\n.p2align 2\nhere:\n.cfi_startproc\n\(code)\n.cfi_endproc\n.size here, .-here\n"
    }

    private static let saves = "stp x29, x30, [sp, #-32]!\n.cfi_def_cfa_offset 32\n"
    private static let returns = "\nldp x29, x30, [sp], #32\n.cfi_def_cfa_offset 0\nret"

    @Test(
        arguments: [
            ("ret", nil), ("b other", nil), ("cbz x0, 1f\nret\n1: mov x0, #1\nret", nil),
            ("adr x0, 1f\nret\n1: ret", nil),
            ("adrp x0, :got:data\nldr x0, [x0, :got_lo12:data]\nret", nil), ("br x1", nil), ("paciasp\nretaa", nil),
            ("bti c\nret", nil), (saves + "bl other" + returns, nil),
            (saves + "mov x30, x0\nmov x0, x30" + returns, nil),
            (saves + "mov x29, sp\nldr x0, [sp, #16]" + returns, nil),
            // It has its own place for x30, which was saved already.
            ("sub sp, sp, #48\n.cfi_def_cfa_offset 48\nstp x0, x30, [sp, #16]\nldr x1, [sp, #16]\nret", nil),
            ("subs x0, x0, #1\nb.ne here\nret", .loops), ("tbz x0, #3, here\nret", .loops), ("1: nop\nb 1b", .loops),
            ("ldr w1, [x0]\nadr x2, 1f\nbr x2\n1: ret", .loops),
            (saves + "adr x2, 1f\nbr x2\n1: nop" + returns, nil),
            ("bl other\nret", .fixed), ("blr x0\nret", .fixed), ("b.eq 1f\nret\n1: ret", .fixed),
            ("ldr q0, 1f\nret\n1: ret", .fixed), ("brk #1\nret", .fixed), ("svc #0\nret", .fixed),
            ("nop\n.word 0\nret", .notDecoded), ("mov x0, x30\nret", .looks), ("xpaclri\nret", .looks),
            (saves + "mov x29, sp\nldr x0, [sp, #8]" + returns, .looks),
            (saves + "mov x29, sp\nldr x0, [x29, #8]" + returns, .looks),
            (saves + "str x0, [sp, #8]" + returns, .looks),
            ("stp x29, x30, [x0]\nmov x0, #0\nret", .looks), ("str x30, [x18], #8\nret", nil),
            (saves + "ldr w30, [x0]\nadd w0, w30, w0" + returns, nil), ("hint #39\npaciasp\nretaa", .fixed),
            ("mov x9, x30\nbl other\nret x9", .looks), (".cfi_def_cfa_offset 16\nret", .unwinding),
        ] as [(String, DetourEntries.Reason?)])
    private func judges(_ code: String, _ expected: DetourEntries.Reason?) throws {
        let found = try judged(
            Self.function(code), "long data; __attribute__((noinline)) int other(int n) { return n * 7; }")
        #expect(found["here"] == .some(expected), "\(found)")
        #expect(found["other"] == .some(nil))
    }

    /// System calls of the runtime would cut the registers of SVE short.
    @Test func leavesScalableVectorsAlone() throws {
        let directory = try TemporaryDirectory("detours"), source = directory.file("a.c"), path = directory.file("a.so")
        try writeFile(
            Array("void add(int *x, int n) { for (int i = 0; i < n; i++) x[i] += i; }".utf8), to: source)
        let flags = ["-shared", "-fPIC", "-O3", "-march=armv8.2-a+sve", source, "-o", path]
        let result = try run("aarch64-linux-gnu-gcc", flags)
        try #require(result.status == 0, Comment(rawValue: result.stderr))
        #expect(try DetourEntries(path: path).refusal?.contains("SVE") ?? false)
    }

    /// All that a compiler makes of ordinary functions is fit, by symbols and without them; what asks for its return address is not.
    @Test(arguments: ["-O0", "-O1", "-O2", "-O3", "-Os"], [[], ["-mbranch-protection=standard"], ["-s"]])
    func takesWhatCompilersMake(_ level: String, _ flags: [String]) throws {
        let source = """
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            int choose(int n) {
                switch (n) {
                case 0: return puts("a"); case 1: return abs(n) + 3; case 2: return rand(); case 3: return atoi("7");
                case 4: return puts("b"); case 5: return puts("c") * 3; default: return n;
                }
            }
            double mean(const double *x, int n) {
                double sum = 0;
                for (int i = 0; i < n; i++) sum += x[i];
                return sum / n;
            }
            char *twice(const char *text) {
                size_t size = strlen(text);
                char *both = malloc(2 * size + 1);
                if (!both) return NULL;
                memcpy(both, text, size);
                memcpy(both + size, text, size + 1);
                return both;
            }
            int early(int *x) {
                if (!x) return 0;
                char room[64];
                return snprintf(room, sizeof room, "%d", *x) + choose(*x);
            }
            void *asks(void) { return __builtin_return_address(0); }
            """
        let found = try judged("", source, flags: [level] + flags)
        for name in ["choose", "mean", "twice", "early"] { #expect(found[name] == .some(nil), "\(name) \(found)") }
        #expect(found["asks"] == .some(.looks), "\(found)")
    }
}
