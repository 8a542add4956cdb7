import TestSupport
import Testing

@testable import TraceSymbols

#if arch(x86_64)
    /// What no call leads to gets no detour: where a call would have put a return address lies something else.
    @Suite struct DetourStartTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory("detour-start") }

        /// Where a program begins, as its head says (ELF64, e_entry).
        private func entry(_ path: String) throws -> UInt64 {
            try readFile(path)[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// `_start` of a real program is left out, by its symbol and without it.
        @Test(arguments: [Toolchain.Compiler.gcc, .clang], [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]])
        func start(_ compiler: Toolchain.Compiler, _ flags: [String]) throws {
            let path = try Toolchain.compile(
                sources: [
                    "p.c": """
                    __attribute__((noinline)) int twice(int n) { return n * 2; }
                    int main(int n, char **v) { return v ? twice(n) : 0; }

                    """
                ], compiler: compiler, flags: ["-O1"] + flags, output: directory.file("p"))
            let found = try DetourEntries(path: path), start = try entry(path)
            #expect(found.entries.contains { $0.name == "main" })
            #expect(!found.entries.contains { $0.address == start })
            try #require(try run("strip", [path]).status == 0)
            let stripped = try DetourEntries(path: path)
            #expect(stripped.isStripped && !stripped.entries.isEmpty)
            #expect(!stripped.entries.contains { $0.address == start })
        }

        /// For the same code under another name, the table for unwinding alone makes the difference.
        @Test(
            arguments: [
                (".cfi_undefined rip\n", DetourEntries.Reason.unwinding), (".cfi_register rip, r8\n", .unwinding),
                (".cfi_def_cfa_offset 16\n", .unwinding), ("", nil),
            ] as [(String, DetourEntries.Reason?)])
        func table(_ says: String, _ expected: DetourEntries.Reason?) throws {
            let code = "mov %rsp, %rdi\nand $-16, %rsp\ncall other@PLT\nhlt\n"
            let path = try Toolchain.compile(
                sources: [
                    "a.s": """
                    .text
                    .globl begin
                    .type begin, @function
                    begin:
                    .cfi_startproc
                    \(says)\(code).cfi_endproc
                    .size begin, .-begin

                    """
                ], compiler: .gcc, flags: ["-shared"], output: directory.file("a.so"))
            let found = try DetourEntries(path: path)
            #expect(found.entries.contains { $0.name == "begin" } == (expected == nil))
            #expect(found.refused.first { $0.name == "begin" }?.reason == expected)
        }
    }
#endif
