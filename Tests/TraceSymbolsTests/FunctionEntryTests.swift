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
}
