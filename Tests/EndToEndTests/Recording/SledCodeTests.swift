#if arch(x86_64)
    import Glibc
    import TestSupport
    import Testing

    /// Code that sleds stand in, as compilers make it in other ways than most: a recorded program does what it does
    /// otherwise, and one call is one call.
    @Suite struct SledCodeTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory("sled-code") }

        private func fathom(_ arguments: [String]) throws -> ProcessOutput {
            try Fathom.run(
                arguments, environment: ["XDG_CACHE_HOME": directory.file("cache")], workingDirectory: directory.path)
        }

        private func build(_ command: [String], options: [String] = []) throws {
            let built = try fathom(["build", "--dormant"] + options + ["--"] + command)
            try #require(built.status == 0, "\(command): \(built.stderr)")
        }

        /// Records `program` in some modes, and expects that it writes what it writes otherwise, and that its functions are
        /// called as often as it says, `name count` a line; those of `closed` are not recorded, and that is said.
        private func expectRight(_ program: String, closed: Set<String> = [], about: String) throws {
            let plain = try run(directory.file(program), [])
            #expect(plain.status == 0, "\(about)")
            for mode in ["trace", "profile", "counts", "stack"] {
                let session = directory.file("\(mode).fathom")
                let recorded = try Fathom.record(
                    [directory.file(program)], into: session, options: ["--force", "--mode", mode])
                #expect(recorded.status == 0 && recorded.stdout == plain.stdout, "\(about) \(mode): \(recorded.stderr)")
                if !closed.isEmpty {
                    #expect(recorded.stderr.contains("; \(closed.count) that begin with a loop"), "\(recorded.stderr)")
                }
                guard mode != "stack" else { continue }
                let found = try Listing.rows(["report", session, "--format", "csv"])
                for line in plain.stdout.split(separator: "\n") {
                    let words = line.split(separator: " ").map(String.init)
                    guard words.count == 2, let count = Int(words[1]) else { continue }
                    let expected = closed.contains(words[0]) ? nil : count
                    #expect(found[words[0]] == expected, "\(about) \(mode) \(line)")
                }
            }
        }

        /// Arguments, targets of tail calls, and results in any register; and large code models, whose functions lie in a
        /// segment of their own behind the data.
        @Test(
            arguments: ["clang", "clang-14", "gcc"].filter { Toolchain.isInstalled($0) },
            [["-O1"], ["-O2"], ["-Os"], ["-O2", "-mcmodel=large"], ["-O2", "-fcf-protection=full"]])
        func conventions(_ compiler: String, _ flags: [String]) throws {
            try build([compiler, "-w"] + flags + ["\(Binaries.sources)/sled_conventions.c", "-o", "program"])
            try expectRight("program", about: "\(compiler) \(flags)")
            let session = directory.file("trace.fathom")
            let found = try Listing.rows(["report", session, "--format", "csv"])
            #expect(found["passes_on"] == 20 && found["takes_wide"] == 20 && found["sums"] == 30, "\(found)")
        }

        /// Functions that come by the sled at their beginning more than once in a call, wherever it lies.
        @Test(
            arguments: ["clang", "clang-14", "gcc"].filter { Toolchain.isInstalled($0) },
            [
                ["-O1"], ["-O2"], ["-Os"], ["-O2", "-fcf-protection=full"],
                ["-O2", "-falign-loops=64", "-fcf-protection=full"],
            ])
        func loops(_ compiler: String, _ flags: [String]) throws {
            try build([compiler] + flags + ["\(Binaries.sources)/sled_loops.c", "-o", "program"])
            // There, clang begins `keeps` with its loop, and keeps its value below the stack pointer.
            let closed: Set<String> = compiler != "gcc" && flags == ["-Os"] ? ["keeps"] : []
            try expectRight("program", closed: closed, about: "\(compiler) \(flags)")
        }

        /// What gcc marks in other ways: nested functions, and large code models.
        @Test(arguments: [
            ["-O0"], ["-O2"], ["-O2", "-mcmodel=large"], ["-O2", "-mcmodel=large", "-fno-pie", "-no-pie"],
        ])
        func nestedFunctions(_ flags: [String]) throws {
            try directory.write(
                """
                #include <stdio.h>
                __attribute__((noinline)) int apply(int (*f)(int), int n) {
                    int sum = 0;
                    for (int i = 0; i < n; i++) sum += f(i);
                    return sum;
                }
                __attribute__((noinline)) int outer(int k) {
                    int hits = 0;
                    __attribute__((noinline)) int inner(int x) { hits++; return x * k; }
                    return apply(inner, 10) + inner(3) + hits;
                }
                int main(void) { printf("the result is %d\\nouter 1\\napply 1\\ninner.0 11\\n", outer(3)); }
                """, to: "nested.c")
            try build(["gcc"] + flags + ["nested.c", "-o", "program"])
            try expectRight("program", about: "\(flags)")
        }

        /// Files of assembly among those of a command, by their names or by `-x`; and what the command leaves.
        @Test(arguments: ["gcc", "clang"], [[], ["-pipe"], ["-save-temps"], ["-save-temps=obj"]])
        func assembly(_ compiler: String, _ flags: [String]) throws {
            try directory.write("int g(void), h(void);\nint main(void) { return g() + h(); }\n", to: "main.c")
            for (name, function) in [("g.S", "g"), ("h.s", "h"), ("text", "g")] {
                try directory.write(
                    """
                    .globl \(function)
                    .type \(function), @function
                    \(function): xor %eax, %eax
                    ret
                    .section .note.GNU-stack, "", @progbits

                    """, to: name)
            }
            for files in [
                ["main.c", "g.S", "h.s"], ["-x", "c", "main.c", "-x", "assembler", "text", "h.s", "-x", "none"],
            ] {
                try build([compiler, "-O2"] + flags + files + ["-o", "program"])
                #expect(try run(directory.file("program"), []).status == 0)
                let session = directory.file("assembly.fathom")
                #expect(try Fathom.record([directory.file("program")], into: session, options: ["--force"]).status == 0)
                #expect(try Listing.rows(["report", session, "--format", "csv"]) == ["main": 1])
            }
            if compiler == "gcc", !flags.isEmpty, flags != ["-pipe"] {
                #expect(try run("ls", [directory.path]).stdout.contains("program-main.s\n"))
            }
            try build([compiler, "-O2", "-c", "main.c", "g.S", "h.s"], options: ["--exclude-function", "main"])
            #expect(
                try run(compiler, ["main.o", "g.o", "h.o"].map(directory.file) + ["-o", directory.file("p")]).status
                    == 0)
        }

        /// Functions that have hooks besides would count twice.
        @Test(arguments: [
            ("gcc", "-finstrument-functions"), ("clang", "-finstrument-functions-after-inlining"), ("gcc", "-pg"),
        ])
        func otherHooks(_ compiler: String, _ option: String) throws {
            try directory.write("int main(void) { return 0; }\n", to: "main.c")
            let built = try fathom(["build", "--dormant", "--", compiler, option, "main.c"])
            #expect(built.status != 0)
            #expect(
                built.stderr.contains(
                    "fathom: error: with \(option), functions have hooks that are never closed; leave \(option) out"),
                "\(built.stderr)")
        }

        /// Functions of headers have sleds as others have, unless files are left out: with gcc as with clang.
        @Test(arguments: ["g++", "clang++"]) func headers(_ compiler: String) throws {
            try directory.write(
                """
                #include "own/own.h"
                #include <vector>
                std::vector<int> numbers;
                __attribute__((noinline)) void fill(std::vector<int> &into) { into.resize(into.size() + 3); }
                volatile int three = 3;
                int main() { fill(numbers); return own(three) - 4; }
                """, to: "main.cpp")
            #expect(mkdir(directory.file("own"), 0o777) == 0)
            try directory.write("__attribute__((noinline)) static int own(int x) { return x + 1; }\n", to: "own/own.h")
            for (options, isLibrary, isOwn) in [
                ([], true, true), (["--only", directory.path], false, true),
                (["--exclude-file", "*/own.h"], true, false),
            ] {
                try build([compiler, "-O1", "main.cpp", "-o", "program"], options: options)
                let session = directory.file("headers.fathom")
                #expect(try Fathom.record([directory.file("program")], into: session, options: ["--force"]).status == 0)
                let found = try Listing.rows(["report", session, "--format", "csv"])
                #expect(found["main"] == 1 && found["fill"] == 1)
                #expect(found.keys.contains { $0.contains("std::vector") } == isLibrary, "\(options) \(found)")
                #expect(found.keys.contains { $0.hasPrefix("own") } == isOwn, "\(options) \(found)")
            }
        }
    }
#endif
