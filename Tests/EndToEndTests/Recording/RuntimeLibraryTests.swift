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

    /// What dlsym finds behind the runtime is found without it, in modules' own tables. Some functions have two versions, as
    /// posix_spawn, and memcpy is chosen by what the processor can do.
    @Test func functionsAreFoundWithoutDlsym() throws {
        let directory = try TemporaryDirectory("behind")
        let sources = "\(Binaries.repository)/Sources"
        let program = try directory.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <string.h>
            #include "behind.h"
            #include "CTraceRuntimeHostSymbols.h"
            #define TEXT(name) #name "\\0"
            int main(void) {
                const char *name = ALL_BEHIND(TEXT) "memcpy\\0" "defined_nowhere\\0";
                struct link_map *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
                struct symbols in = symbols_of(library->l_addr, library->l_ld);
                int found = 0;
                for (; *name; name += strlen(name) + 1) {
                    void *expected = dlsym(RTLD_DEFAULT, name), *actual = symbols_find(&in, name);
                    Dl_info place;
                    // What comes with another library is not looked for here.
                    if (expected && dladdr(expected, &place) && place.dli_fbase != (void *)library->l_addr) continue;
                    found += expected != 0;
                    if (actual != expected) printf("%s: %p, not %p\\n", name, actual, expected);
                }
                printf("%s\\n", found > 100 ? "all" : "few");
            }
            """, to: "program.c")
        let compiled = try run(
            "clang",
            ["-O2", "-o", directory.file("program"), program, "\(sources)/CTraceRuntime/host/symbols.c"]
                + ["CTraceRuntimeImage", "CTraceFormat/include", "CTraceRuntime/include"].map { "-I\(sources)/\($0)" })
        try #require(compiled.status == 0, "\(compiled.stderr)")
        #expect(try run(directory.file("program"), []).stdout == "all\n")
    }
}
