import TestSupport
import Testing

@testable import TraceSymbols

/// Traps can be put where compilers' functions begin, and nowhere else.
@Suite struct FunctionEntryTests {
    @Test func leavesAloneWhatIsNoFunctionOfACompiler() throws {
        let directory = try TemporaryDirectory("entries")
        let source = directory.file("entries.c"), binary = directory.file("entries.so")
        try directory.write(
            """
            int plain(int x) { return x * 3; }
            int twin(int x) __attribute__((alias("plain")));
            static int (*choose(void))(int) { return plain; }
            int chosen(int x) __attribute__((ifunc("choose")));
            __asm__(".text\\n.type data, @function\\ndata: .byte 0x06, 0x07, 0x0e\\n.size data, 3\\n"
                    ".type inner, @function\\n.type outer, @function\\n"
                    "outer: mov $0x01020304, %eax\\nret\\n.size outer, 6\\n"
                    ".set inner, outer + 1\\n.size inner, 2\\n"
                    "unsized: ret\\n.type unsized, @function\\n");
            """, to: "entries.c")
        try #require(try run("gcc", ["-O2", "-shared", "-fPIC", "-o", binary, source]).status == 0)
        let found = try FunctionEntries(path: binary)
        let symbols = try run("nm", [binary]).stdout.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        func names(_ address: UInt64) -> Set<String> {
            Set(symbols.filter { UInt64($0[0], radix: 16) == address && $0.count == 3 }.map { $0[2] })
        }
        let all = found.entries.map { names($0.address) }
        #expect(all.count { $0.isSuperset(of: ["plain", "twin"]) } == 1, "\(all)")
        #expect(all.count { $0.contains("outer") } == 1)
        for name in ["data", "inner", "unsized", "_init", "choose"] {
            #expect(!all.contains { $0.contains(name) }, "\(name)")
        }
        #expect(found.leftAlone == 2 && !found.isStripped)
        #expect(found.entries.map(\.address) == found.entries.map(\.address).sorted())

        try #require(try run("strip", [binary]).status == 0)
        #expect(try FunctionEntries(path: binary).isStripped)
    }

    /// In a stripped program, functions are known by the table for unwinding: those that are called, and not their parts.
    @Test(arguments: [
        ["gcc", "-O2"], ["gcc", "-O1", "-fno-pie", "-no-pie"], ["clang", "-O2"], ["clang", "-O0"], ["gcc", "-O0"],
    ])
    func stripped(_ compiler: [String]) throws {
        let directory = try TemporaryDirectory("entries")
        let source = directory.file("s.c"), binary = directory.file("s")
        try directory.write(
            """
            #include <stdio.h>
            #include <stdlib.h>
            __attribute__((noinline, cold)) static void fail(const char *text) { fputs(text, stderr); abort(); }
            __attribute__((noinline)) static int first(int x) { if (__builtin_expect(x < -9, 0)) { puts("low"); fail(x < -99 ? "lower" : "low"); } return x + 1; }
            __attribute__((noinline)) static int second(int x) { int y[64]; for (int i = 0; i < 64; i++) y[i] = x * i; return y[x & 63] + first(x); }
            static int plain(int x) { return x; }
            static int (*choose(void))(int) { return plain; }
            __attribute__((ifunc("choose"))) static int chosen(int x);
            int main(int count, char **words) { (void)words; return second(count) + chosen(count) > 1000; }
            """, to: "s.c")
        try #require(try run(compiler[0], compiler.dropFirst() + ["-o", binary, source]).status == 0)
        let whole = try FunctionEntries(path: binary)
        let names = try run("nm", [binary]).stdout.split(separator: "\n").map { $0.split(separator: " ") }
        func name(_ address: UInt64) -> String {
            names.first { $0.count == 3 && UInt64($0[0], radix: 16) == address }.map { String($0[2]) } ?? "?"
        }
        try #require(try run("strip", [binary]).status == 0)
        let entries = try FunctionEntries(path: binary)
        #expect(entries.isStripped)
        // The start files' only function that looks like a compiler's, which a static program alone calls; and what would choose
        // a function, were it not that the compiler had foreseen the choice.
        let isChosen = try run("readelf", ["-rW", binary]).stdout.contains("R_X86_64_IRELATIV")
        let found = entries.entries.filter {
            name($0.address) != "_dl_relocate_static_pie" && (isChosen || name($0.address) != "choose")
        }
        let all = Set(found.map { name($0.address) })
        #expect(all.isSuperset(of: ["main", "first", "second", "fail"]), "\(all)")
        #expect(all.isSubset(of: Set(whole.entries.map { name($0.address) })), "\(all)")
        // The program itself has the same entries by its symbols, with the same bytes.
        #expect(found.allSatisfy { whole.entries.contains($0) })
    }
}
