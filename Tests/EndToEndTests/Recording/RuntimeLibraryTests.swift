import TestSupport
import Testing

/// What libfathom.so is made of.
@Suite struct RuntimeLibraryTests {
    #if arch(x86_64)
        /// To save one would be a quarter of what a hook costs that records nothing. The package manager asks for them.
        @Test(arguments: ["trace_enter", "trace_exit", "slow_enter", "slow_exit", "paused_enter", "paused_exit"])
        func hooksKeepNoFramePointer(_ hook: String) throws {
            let directory = Fathom.executable.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let library = (directory + ["libfathom.so"]).joined(separator: "/")
            let code = try run("objdump", ["-d", "--no-show-raw-insn", "--disassemble=\(hook)", library]).stdout
            #expect(code.contains("<\(hook)>:"))
            #expect(!code.contains("mov    %rsp,%rbp"), "\(code)")
        }
    #endif
}
