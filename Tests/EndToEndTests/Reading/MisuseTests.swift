import Glibc
import TestSupport
import Testing

/// What cannot be shown is said in one line, and the exit status tells a script: 64 for bad usage, 2 for what cannot be
/// read or written, 1 for nothing to show.
@Suite struct MisuseTests {
    static let commands: [[String]] = [
        ["report"], ["graph"], ["flame", "-o", "/dev/null"], ["tree"], ["export", "--format", "folded", "-o", "-"],
        ["export", "--format", "perfetto", "-o", "-"], ["export", "--format", "pprof", "-o", "/dev/null"],
        ["export", "--format", "parquet", "-o", "/dev/null"],
    ]

    private func expectOneLine(_ command: [String], _ session: String, _ status: Int32, _ reason: String) throws {
        let output = try Fathom.run([command[0], session] + command.dropFirst())
        #expect(output.status == status, "\(command)")
        let lines = output.stderr.split(separator: "\n")
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains(reason) }, "\(command): \(output.stderr)")
    }

    @Test(arguments: commands) func missingSession(_ command: [String]) throws {
        let directory = try TemporaryDirectory("misuse")
        try expectOneLine(command, directory.file("none"), 2, "No such file or directory")
    }

    @Test(arguments: commands) func emptyRecording(_ command: [String]) throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        let source = """
            int never(void) { return 1; }
            __attribute__((no_instrument_function)) int main(int count, char **arguments) {
                return count > 1 ? never() : 0;
            }
            """
        let program = try Toolchain.compile(
            sources: ["empty.c": source], compiler: .gcc, flags: ["-finstrument-functions"],
            output: directory.file("empty"))
        #expect(try Fathom.record([program], into: session).status == 0)
        try expectOneLine(command, session, 1, "the recording has no calls")
    }

    @Test(arguments: commands) func filterThatMatchesNothing(_ command: [String]) throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        try expectOneLine(command + ["--filter", "no_such_name"], session, 1, "no function matches 'no_such_name'")
    }

    @Test(arguments: ["report", "graph", "tree", "export"]) func wrongFormat(_ command: String) throws {
        let directory = try TemporaryDirectory("misuse")
        let output = try Fathom.run([command, directory.file("none"), "--format", "gif"])
        #expect(output.status == 64)
        #expect(output.stderr.hasPrefix("fathom: error: --format: 'gif' is none of "), "\(output.stderr)")
        #expect(output.stdout.isEmpty)
    }

    @Test func filesThatCannotBeWritten() throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        for (file, reason) in [
            (directory.file("none/file"), "No such file or directory"), ("/dev/full", "No space left on device"),
        ] {
            for format in ["csv", "pprof"] {
                try expectOneLine(["export", "--format", format, "-o", file], session, 2, reason)
            }
        }
    }

    @Test(arguments: ["x.png", "x.svg.PDF", "./a.b/flame.json"]) func flameGraphsOfAnotherType(_ file: String) throws {
        for command in [
            ["flame", "-o", file], ["flame", "-o", file, "--diff", "none"], ["diff", "none", "-o", file],
        ] {
            let result = try Fathom.run(command + ["none"])
            #expect(result.status == 64 && result.stdout.isEmpty)
            #expect(result.stderr.contains("end the name in .html or .svg"))
            #expect(result.stderr.contains("fathom \(command[0]) [<options>]"), "\(result.stderr)")
        }
    }

    @Test func flameGraphsOfAnyOtherName() throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        for (name, start) in [
            ("x", "<!doctype html>"), ("png", "<!doctype html>"), ("x.HTM", "<!doctype html>"), ("x.SVG", "<svg"),
        ] {
            #expect(try Fathom.run(["flame", session, "-o", directory.file(name)]).status == 0)
            let text = String(decoding: try readFile(directory.file(name)), as: UTF8.self)
            #expect(text.prefix(200).lowercased().contains(start), "\(name)")
        }
    }

    @Test func filesOfASplitAreNamed() throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "15"], into: session)
        let file = directory.file("sp.json")
        let split = ["export", session, "--format", "chrome", "-o", file, "--split"]
        let whole = try Fathom.run(split)
        #expect(whole.stderr == "fathom: wrote 1 file: \(directory.file("sp-1.json"))\n")
        let parts = try Fathom.run(split + ["--split-calls", "500"]).stderr
        let words = try #require(parts.split(separator: "\n").last).split(separator: " ").map(String.init)
        let count = try #require(Int(try words.at(2)))
        #expect(count > 1)
        #expect(
            words == [
                "fathom:", "wrote", "\(count)", "files:", directory.file("sp-1.json"), "…",
                directory.file("sp-\(count).json"),
            ])
        #expect(access(directory.file("sp-\(count).json"), R_OK) == 0)
    }

    @Test(arguments: [
        (["--format", "csv", "-o", "x", "--split"], "--split"),
        (["--format", "perfetto", "-o", "-", "--split"], "standard output"),
        (["--format", "perfetto", "-o", "x", "--split-calls", "5"], "needs --split"),
        (["--format", "perfetto", "-o", "x", "--split", "--split-calls", "0"], "one call at least"),
    ])
    func splitting(_ options: [String], _ reason: String) throws {
        let output = try Fathom.run(["export", "none"] + options)
        #expect(output.status == 64)
        #expect(output.stderr.contains(reason), "\(output.stderr)")
    }

    /// What could not be written is not taken for shown.
    @Test func fullStandardOutput() throws {
        let directory = try TemporaryDirectory("misuse")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        let commands = [
            "report", "report --format json", "report --format csv", "graph", "graph --format json", "tree", "dump",
            "info",
            "flame -o -", "export --format folded -o -", "export --format perfetto -o -", "export --format csv -o -",
        ]
        for command in commands {
            let output = try run("sh", ["-c", "exec \"$0\" \(command) \"$1\" >/dev/full", Fathom.executable, session])
            #expect(output.status == 2, "\(command)")
            #expect(output.stderr == "fathom: error: standard output: No space left on device\n", "\(command)")
        }
    }
}
