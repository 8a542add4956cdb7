import TestSupport
import Testing

/// Recordings in versions of the format that are written no more stay readable.
@Suite struct OldTraceTests {
    /// Two threads, recursion, and calls that a longjmp ended.
    @Test func versionOne() throws {
        let directory = try TemporaryDirectory("version")
        let session = directory.file("session.fathom")
        let recorded = "\(Binaries.repository)/Traces/recorded/version-1"
        try run("mkdir", [session])
        try run("cp", ["\(recorded)/session.json", "\(recorded)/trace", session])
        let version = try run("od", ["-A", "n", "-t", "u4", "-j", "8", "-N", "4", "\(session)/trace"])
        #expect(version.stdout.split(separator: " ").first == "1\n")

        let tree = try Fathom.run(["tree", session])
        #expect(tree.status == 0, "\(tree.stderr)")
        #expect(tree.stdout == (try run("cat", ["\(recorded)/tree.txt"])).stdout)
        let info = try Fathom.run(["info", "--check", session])
        #expect(info.status == 0, "\(info.stderr)")
        #expect(info.stdout.contains("calls        27\n"))
        #expect(info.stdout.contains("end        exited\n"))
        #expect(info.stdout.contains("damage       none"), "\(info.stdout)")
    }
}
