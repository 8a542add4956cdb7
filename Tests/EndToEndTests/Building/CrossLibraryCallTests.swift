#if arch(x86_64)
    import TestSupport
    import Testing

    /// `record --libcalls` of programs of aarch64, under qemu.
    @Suite(.enabled(if: CrossProgram.isPossible))
    struct CrossLibraryCallTests {
        private let programs: CrossProgram

        init() throws { programs = try CrossProgram() }

        private func record(_ program: [String], _ options: [String] = []) throws -> ProcessOutput {
            try programs.record(program, ["--libcalls"] + options)
        }

        /// The program of ``LibraryCallTests``, with its libraries.
        private func build(_ flags: [String]) throws -> String {
            let shared = ["-O1", "-shared", "-fPIC"] + flags, path = "-Wl,-rpath,\(programs.directory.path)"
            let other = try programs.compile("libother.so", LibraryCallTests.otherLibrary, shared)
            let library = try programs.compile("library.so", LibraryCallTests.library, shared, [other, path])
            return try programs.compile(
                "program", LibraryCallTests.program, ["-O1", "-fno-builtin"] + flags, [library, other, path])
        }

        /// Each call, however slots are bound, whatever protects the code, and in the modes that keep sums.
        @Test(arguments: [
            (["-Wl,-z,lazy"], "trace"), (["-Wl,-z,now,-z,relro"], "trace"), (["-Wl,-z,now,-z,relro"], "profile"),
            (["-Wl,-z,now"], "counts"), (["-fno-plt", "-Wl,-z,now"], "trace"), (CrossProgram.protected, "trace"),
            (CrossProgram.protected + ["-fno-plt", "-Wl,-z,now"], "trace"),
        ]) func everyCall(_ flags: [String], _ mode: String) throws {
            let output = try record([try build(flags)], ["--mode", mode])
            #expect(output.status == 5 && output.stdout == "999124 text\n" && output.stderr.isEmpty, "\(output)")
            // gcc keeps the functions that it calls in a loop in registers, so their slots are left alone.
            let left = flags.contains("-fno-plt") ? ["lib_pass", "lib_twice"] : []
            #expect(try programs.counts() == LibraryCallTests.expected.filter { !left.contains($0.key) })
            try programs.isWhole()
        }

        /// Slots without a procedure linkage table whose values code reads.
        @Test func slotsThatAreRead() throws {
            let text = """
                #include <stdlib.h>
                #include <string.h>
                static int (*volatile number)(int);
                int main(int count, char **arguments) {
                    size_t (*volatile length)(const char *) = strlen;
                    number = abs;
                    if (count > 1) number = (int (*)(int))arguments;
                    return (int)length("four") + (int)strlen("five5") + number(-2) + abs(-3) + (length == strlen) + rand() % 1;
                }
                """
            let program = try programs.compile("reading", text, ["-O1", "-fno-builtin", "-fno-plt", "-Wl,-z,now"])
            #expect(try record([program]).status == 15)
            #expect(try programs.counts() == ["rand": 1])
        }

        /// Exceptions pass through library calls, in several threads at once.
        @Test(arguments: [[], CrossProgram.protected]) func exceptions(_ flags: [String]) throws {
            let program = try programs.compile(
                "throwing", LibraryCallTests.throwing, ["-O1", "-std=c++17", "-pthread"] + flags, compiler: "g++")
            let output = try record([program])
            let lines = Array(repeating: "1000 4000\n", count: 5).joined() + "out of range\n"
            #expect(output.status == 0 && output.stdout == lines && output.stderr.isEmpty, "\(output)")
            #expect(try programs.counts()["qsort"] == 10000)
        }

        /// A handler of a signal unwinds from wherever it has come to main, while calls go on. Where the emulator executes each
        /// instruction by itself, the handler comes between any two of them.
        @Test func unwindingFromSignals() throws {
            let program = try programs.compile(
                "unwinding", CrossProgram.unwinding, ["-O1", "-fexceptions", "-fno-builtin"])
            #expect(try record(["-singlestep", program]).status == 0)
        }
    }
#endif
