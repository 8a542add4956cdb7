import TestSupport
import Testing

/// What libfathom.so is made of.
@Suite struct RuntimeLibraryTests {
    private static let library = "\(Fathom.products)/libfathom.so"

    #if arch(x86_64)
        /// To save one would be a quarter of what a hook costs that records nothing. The package manager asks for them.
        @Test(arguments: ["trace_enter", "trace_exit", "slow_enter", "slow_exit", "fathom_enter", "fathom_exit"])
        func hooksKeepNoFramePointer(_ hook: String) throws {
            let code = try run("objdump", ["-d", "--no-show-raw-insn", "--disassemble=\(hook)", Self.library]).stdout
            #expect(code.contains("<\(hook)>:"))
            #expect(!code.contains("mov    %rsp,%rbp"), "\(code)")
        }
    #endif

    /// The hooks' assembly has no jump at its end: what follows it in memory is the function that it goes on with.
    @Test(
        arguments: [
            ("__cyg_profile_func_enter", "fathom_enter"), ("__cyg_profile_func_exit", "fathom_exit"),
            ("fathom_swift_exit", "fathom_exit_any"),
        ])
    func theFunctionFollowsTheHook(_ hook: String, _ function: String) throws {
        let symbols = try run("readelf", ["-sW", Self.library]).stdout.split(separator: "\n")
            .map { $0.split(separator: " ") }
        let first = try #require(symbols.first { $0.count > 7 && $0[7] == hook })
        let second = try #require(symbols.first { $0.count > 7 && $0[7] == function })
        let start = try #require(UInt64(first[1], radix: 16)), size = try #require(UInt64(first[2]))
        let next = try #require(UInt64(second[1], radix: 16))
        #expect(size > 0)
        // Functions are aligned to 16 bytes, and what fills the gap does nothing.
        #expect(next >= start + size && next < start + size + 16, "\(hook) ends at \(start + size), not at \(next)")
    }

    /// Programs of older systems start with it: of RHEL 8, which has glibc 2.28, and whatever came after.
    @Test func anOldCLibraryIsEnough() throws {
        let symbols = try run("objdump", ["-T", Self.library])
        #expect(symbols.status == 0, "\(symbols.stderr)")
        let names = symbols.stdout.matches(of: /GLIBC_([0-9.]+)/).map { String($0.output.1) }
        #expect(names.count > 10)
        let versions = Set(names).sorted { number($0).lexicographicallyPrecedes(number($1)) }
        let newest = try #require(versions.last)
        #expect(!number("2.28").lexicographicallyPrecedes(number(newest)), "it needs \(versions)")
    }

    private func number(_ version: String) -> [Int] { version.split(separator: ".").compactMap { Int($0) } }

    /// What the C library's dlsym finds is also found without it, as on an older system in a program without libdl.
    @Test func functionsAreFoundWithoutDlsym() throws {
        let directory = try TemporaryDirectory("older")
        let sources = "\(Binaries.repository)/Sources"
        func succeed(_ command: String, _ arguments: [String]) throws {
            let result = try run(command, arguments)
            try #require(result.status == 0, "\(command): \(result.stderr)")
        }
        let object = directory.file("older.o")
        try succeed(
            "clang",
            ["-c", "-O2", "-fPIC", "-fvisibility=hidden", "\(sources)/CTraceRuntimeImage/older.c", "-o", object]
                + ["CTraceFormat", "CFathom", "CTraceRuntime"].map { "-I\(sources)/\($0)/include" })
        // The weak reference becomes one to a function that nothing defines.
        let version = try run("nm", [object]).stdout.contains("dlsym@GLIBC_2.2.5") ? "GLIBC_2.2.5" : "GLIBC_2.17"
        try succeed("objcopy", ["--redefine-sym", "dlsym@\(version)=defined_nowhere", object])
        let library = try directory.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            __attribute__((visibility("default"))) void *behind(const char *name) { return dlsym(RTLD_NEXT, name); }
            """, to: "behind.c")
        try succeed("gcc", ["-shared", "-fPIC", library, object, "-o", directory.file("libbehind.so")])
        let program = try directory.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            void *behind(const char *);
            int main(int count, char **names) {
                int found = 0;
                for (int i = 1; i < count; i++) {
                    void *expected = dlsym(RTLD_DEFAULT, names[i]);
                    found += expected != 0;
                    if (behind(names[i]) != expected) printf("%s: %p, not %p\\n", names[i], behind(names[i]), expected);
                }
                printf("%d\\n", found);
            }
            """, to: "program.c")
        try succeed(
            "gcc",
            [
                program, "-o", directory.file("program"), "-L\(directory.path)", "-lbehind",
                "-Wl,-rpath,\(directory.path)",
            ])
        // posix_spawn and memcpy have two versions, and memcpy is chosen by what the processor can do.
        let names = [
            "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "setcontext", "swapcontext", "dlopen", "dlclose",
            "execve", "execvpe", "posix_spawn", "posix_spawnp", "system", "popen", "prctl", "syscall", "_exit",
            "memcpy",
        ]
        let compared = try run(directory.file("program"), names + ["defined_nowhere"])
        #expect(compared.status == 0 && compared.stdout == "\(names.count)\n", "\(compared)")
    }
}
