import TestSupport
import Testing

@testable import TraceSymbols

#if arch(x86_64)
    /// Detours go where first instructions can be moved, and nothing depends on where they are.
    @Suite struct DetourEntryTests {
        /// A function in assembly, as compilers describe theirs for unwinding.
        private static func function(_ name: String, _ code: String) -> String {
            ".globl \(name)\n.type \(name), @function\n.p2align 4\n\(name):\n.cfi_startproc\n\(code)\n.cfi_endproc\n.size \(name), .-\(name)\n"
        }

        /// The functions of a library of that assembly: nil for those that are fit.
        private func judged(_ assembly: String, _ source: String = "", flags: [String] = []) throws -> [String:
            DetourEntries.Reason?]
        {
            let directory = try TemporaryDirectory("detours")
            let path = try Toolchain.compile(
                sources: ["a.s": ".text\n" + assembly, "b.c": source], compiler: .gcc,
                flags: ["-O2", "-shared", "-fPIC"] + flags, output: directory.file("a.so"))
            let found = try DetourEntries(path: path)
            #expect(found.refusal == nil && found.entries.map(\.address) == found.entries.map(\.address).sorted())
            var all: [String: DetourEntries.Reason?] = [:]
            for entry in found.entries { all[entry.name ?? "?"] = .some(nil) }
            for (name, reason) in found.refused { all[name] = reason }
            return all
        }

        @Test(
            arguments: [
                ("ret", nil), ("push %rbx\nmov %edi, %ebx\nmov %ebx, %eax\npop %rbx\nret", nil),
                ("endbr64\nret", nil), ("mov data@GOTPCREL(%rip), %rax\nret", nil), ("jmp other", nil),
                ("test %edi, %edi\nje 1f\nret\n1: mov $1, %eax\nret", nil),
                ("sub $8, %rsp\ncall other@PLT\nadd $8, %rsp\nret", nil), ("call *data@GOTPCREL(%rip)\nret", nil),
                ("dec %edi\nnop\nnop\nnop\njne here\nret", .loops), ("nop\n1: dec %edi\njne 1b\nret", .entered),
                ("jrcxz 1f\nnop\nnop\nnop\n1: ret", .fixed), ("mov %rdi, %rax\ncall *%rax\nret", nil),
                ("push %rbx\ncall *%rax\npop %rbx\nret", .fixed), ("call *8(%rsp)\nret\nnop\nnop", .fixed),
                ("ret\nmov $1, %eax\nmov $2, %ecx\nret", .entered), ("int3\nnop\nnop\nnop\nnop\nret", .fixed),
                (".byte 0x06\nret\nnop\nnop\nnop\nnop", .notDecoded),
                ("mov (%rsp), %rax\nret\nnop", .looks), ("mov 8(%rsp), %rax\nret", nil),
                ("push %rbx\nsub $16, %rsp\nmov 24(%rsp), %rax\nadd $16, %rsp\npop %rbx\nret", .looks),
                ("push %rbx\nsub $16, %rsp\nmov 16(%rsp), %rax\nadd $16, %rsp\npop %rbx\nret", nil),
                ("push %rbp\nmov %rsp, %rbp\nmov 8(%rbp), %rax\npop %rbp\nret", .looks),
                ("push %rbp\nmov %rsp, %rbp\nmov 16(%rbp), %rax\npop %rbp\nret", nil),
                ("pop %rcx\nadd $8, %rsp\npush %rcx\nret", .looks), ("mov $1, %eax\nret $16", .looks),
                ("9: lea 9b(%rip), %rax\njmp *%rax", .loops), ("nop\nendbr64\nmov $1, %eax\nret", .entered),
            ] as [(String, DetourEntries.Reason?)])
        private func judges(_ code: String, _ expected: DetourEntries.Reason?) throws {
            let name = code.contains("here") ? "here" : "judged"
            let found = try judged(
                Self.function(name, code) + Self.function("other", "mov $7, %eax\nret")
                    + ".data\n.globl data\ndata: .quad 0\n")
            #expect(found[name] == .some(expected), "\(found)")
            #expect(found["other"] == .some(nil))
        }

        /// A function that is too short has another one behind it, and what no table describes may have its return address anywhere.
        @Test func leavesAloneWhatIsNotKnown() throws {
            let found = try judged(
                ".type tight, @function\ntight:\n.cfi_startproc\nret\n.cfi_endproc\n.size tight, 1\n"
                    + ".type behind, @function\nbehind:\n.cfi_startproc\nmov $1, %eax\nret\n.cfi_endproc\n.size behind, 6\n"
                    + ".type bare, @function\nbare:\nmov $1, %eax\nret\n.size bare, 6\n"
                    + ".type deeper, @function\ndeeper:\n.cfi_startproc\n.cfi_def_cfa_offset 16\nmov $1, %eax\nret\n.cfi_endproc\n.size deeper, 6\n"
                    + Self.function("setjmp", "mov $1, %eax\nret")
                    + Self.function("targeted", "nop\n1: nop\nnop\nnop\nnop\nret")
                    + ".section .data.rel.ro, \"aw\"\n.quad targeted + 1\n")
            #expect(found["tight"] == .tooShort && found["behind"] == .some(nil))
            #expect(found["bare"] == .unwinding && found["deeper"] == .unwinding)
            #expect(found["setjmp"] == .known && found["targeted"] == .entered)
        }

        /// Tables by which code jumps, and what handles exceptions, may lead into the first bytes.
        @Test func followsTablesAndHandlers() throws {
            let table = ".section .rodata\n.balign 4\ntable: .long .Lone - table, .Ltwo - table\n.text\n"
            let found = try judged(
                Self.function(
                    "switches",
                    "nop\n.Lone: lea table(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax\njmp *%rax\n.Ltwo: ret"
                )
                    + table + Self.function("lands", "nop\n.cfi_def_cfa_offset 32\nmov %rax, %rdi\nmov %rdi, %rax\nret")
                    + Self.function("pushes", "push %rbx\n.cfi_def_cfa_offset 16\nmov %rax, %rdi\npop %rbx\nret"))
            #expect(found["switches"] == .entered && found["lands"] == .unwinding && found["pushes"] == .some(nil))
        }

        /// All that compilers make of ordinary functions is fit, by symbols and without them.
        @Test(arguments: [Toolchain.Compiler.gcc, .clang], ["-O0", "-O1", "-O2", "-O3", "-Os"])
        func takesWhatCompilersMake(_ compiler: Toolchain.Compiler, _ level: String) throws {
            let directory = try TemporaryDirectory("detours")
            let path = try Toolchain.compile(
                sources: [
                    "p.c": """
                    #include <stdio.h>
                    #include <string.h>
                    #define KEEP __attribute__((noinline, noclone))
                    KEEP int add(int a, int b) { return a * 7 + b * 5; }
                    KEEP int sum(const int *v, int n) { int s = 0; for (int i = 0; i < n; i++) s = add(s, v[i]); return s; }
                    KEEP int way(int n) { switch (n) { case 1: return 3; case 2: return add(n, 5); case 3: return 9; case 4: return 1; case 5: return 0; } return -1; }
                    KEEP const char *text(int n) { return n ? strchr("abc", n) : ""; }
                    int main(int n, char **v) { int a[] = {1, n, 3}; return printf("%d %d %s", sum(a, 3), way(n), text(n)) < 0; }
                    """
                ], compiler: compiler, flags: [level], output: directory.file("p"))
            let found = try DetourEntries(path: path)
            #expect(
                found.refused.isEmpty && Set(found.entries.compactMap(\.name)) == ["add", "sum", "way", "text", "main"])
            try #require(try run("strip", [path]).status == 0)
            let stripped = try DetourEntries(path: path)
            #expect(stripped.isStripped && stripped.entries.map(\.address) == found.entries.map(\.address))
        }

        /// What has hooks tells of its own calls.
        @Test func refusesModules() throws {
            let directory = try TemporaryDirectory("detours")
            let path = try Toolchain.compile(
                sources: ["p.c": "int main(void) { return 0; }\n"], compiler: .gcc, flags: ["-finstrument-functions"],
                output: directory.file("p"))
            #expect(try DetourEntries(path: path).refusal?.contains("hooks of its own") == true)
        }
    }
#endif
