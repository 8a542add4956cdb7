import TestSupport
import Testing

/// Names of files and functions, as they are given and as they are told.
@Suite struct NameTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("names")
        try directory.write(
            """
            #include <unistd.h>
            __attribute__((noinline)) void nap(void) { usleep(30000); }
            int main(void) { nap(); return 0; }

            """, to: "p.c")
        let built = try fathom("build", "--", "gcc", "-g", "-O1", "p.c", "-o", "p")
        try #require(built.status == 0, "\(built.stderr)")
    }

    private func fathom(_ arguments: String...) throws -> ProcessOutput {
        try Fathom.run(arguments, workingDirectory: directory.path)
    }

    /// The command that is proposed next can be typed as it stands, whatever the program is called.
    @Test(arguments: ["-x", "-", "--help", "a b", "it's"]) func next(_ name: String) throws {
        try run("cp", ["--", directory.file("p"), directory.file(name)])
        for options in [[], ["--mode", "profile"]] {
            let made = try Fathom.run(["record"] + options + ["--", "./\(name)"], workingDirectory: directory.path)
            let line = try #require(made.stderr.split(separator: "\n").first { $0.hasPrefix("fathom: next: fathom ") })
            let command = "'\(Fathom.executable)' \(line.dropFirst("fathom: next: fathom ".count))"
            let shown = try run("sh", ["-c", command], workingDirectory: directory.path)
            #expect(shown.status == 0 && shown.stdout.contains("nap"), "\(line): \(shown.stderr)")
        }
    }

    /// A name that nothing has is told, with what may have been meant.
    @Test func unknownFunctions() throws {
        let made = try fathom("record", "-q", "--blocked", "-o", "s", "--", "./p")
        try #require(made.status == 0, "\(made.stderr)")
        let chain = try fathom("chain", "s", "--call", "nap", "--without", "napp")
        #expect(chain.status == 1, "\(chain.stderr)")
        #expect(chain.stderr == "fathom: error: no function matches 'napp'; did you mean nap?\n")
        #expect(try fathom("chain", "s", "--call", "main", "--without", "nap").status == 0)
        let watch = try fathom("watch", "--root", "naq", "--root", "nap", "--reports", "r", "--", "./p")
        #expect(watch.stderr.contains("warning: --root naq matches no function"), "\(watch.stderr)")
        #expect(!watch.stderr.contains("--root nap "))
        let marks = try fathom("watch", "--between", "b,e", "--launched", "up", "--reports", "r", "--", "./p")
        for mark in ["b", "e", "up"] {
            #expect(marks.stderr.contains("no thread was seen to set the mark '\(mark)'"), "\(marks.stderr)")
        }
    }
}
