import Glibc
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

    /// Of every kind, what was kept of an earlier version shows what it showed then. `Tools/keep-recordings` keeps them.
    @Test func everyKind() throws {
        let recorded = "\(Binaries.repository)/Traces/recorded"
        let kinds = try run("ls", [recorded]).stdout.split(separator: "\n").map(String.init).filter {
            $0 != "version-1"
        }
        for kind in ["trace", "profile", "counts", "samples", "first", "waits", "memory", "arguments", "packed"] {
            #expect(kinds.contains { $0.hasSuffix("-\(kind)") }, "\(kind)")
        }
        for kind in kinds {
            let directory = try TemporaryDirectory("kept")
            let session = directory.file("session.fathom")
            _ = try run("cp", ["-r", "\(recorded)/\(kind)", session])
            let views = try run("cat", ["\(session)/views"]).stdout.split(separator: "\n")
            #expect(!views.isEmpty)
            for view in views {
                let file = String(view.map { $0.isASCII && $0.isLowercase ? $0 : "-" })
                let packed = "\(session)/session.fathomz", read = access(packed, F_OK) == 0 ? packed : session
                let shown = try Fathom.run(view.split(separator: " ").map(String.init) + [read])
                #expect(shown.status == 0 && shown.stderr.isEmpty, "\(kind), \(view): \(shown.stderr)")
                #expect(shown.stdout == (try run("cat", ["\(session)/\(file).txt"])).stdout, "\(kind), \(view)")
            }
        }
    }
}
