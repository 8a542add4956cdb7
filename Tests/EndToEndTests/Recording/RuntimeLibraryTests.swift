import TestSupport
import Testing

/// What libfathom.so is made of.
@Suite struct RuntimeLibraryTests {
    private static var library: String {
        let directory = Fathom.executable.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return (directory + ["libfathom.so"]).joined(separator: "/")
    }

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
}
