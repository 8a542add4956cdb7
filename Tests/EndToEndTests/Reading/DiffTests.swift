import Glibc
import TestSupport
import Testing

/// `fathom diff` of two builds of a program whose calls are known.
@Suite struct DiffTests {
    private let directory: TemporaryDirectory
    private let recorded: String

    /// A directory with the recordings, made once a test run.
    private static let recordings = Result {
        let path = try Fathom.sharedDirectory("Diff")
        let before = try Binaries.instrumented("changed.c", .gccO2)
        let after = try Binaries.instrumented("changed.c", .gccO2, flags: ["-DCHANGED"], variant: "-changed")
        for run in 1...2 {
            for (name, binary) in [("a", before), ("b", after)] {
                // A frame of 100 ns is not to be seen beside one in which the program had no CPU for a while.
                let made = try Fathom.record([binary], into: "\(path)/\(name)\(run).fathom", isUrgent: true)
                try #require(made.status == 0)
            }
        }
        return path
    }

    init() throws {
        directory = try TemporaryDirectory("diff")
        recorded = try DiffTests.recordings.get()
    }

    private func session(_ name: String) -> String { "\(recorded)/\(name).fathom" }

    /// The words of each line after the first, by the function they are about.
    private func diff(_ arguments: [String]) throws -> (output: ProcessOutput, rows: [String: [String]]) {
        let output = try Fathom.run(["diff"] + arguments)
        var rows: [String: [String]] = [:]
        for line in output.stdout.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            for name in ["main", "repeated", "added", "removed", "steady"] where words.contains(name) {
                rows[name] = words
            }
        }
        return (output, rows)
    }

    @Test func oneRunASide() throws {
        let (output, rows) = try diff([session("a1"), session("b1")])
        #expect(output.status == 0 && output.stderr.isEmpty)
        #expect(output.stdout.contains("With one run on a side, noise cannot be told from change"))
        #expect(rows["repeated"]?.prefix(2) == ["100", "+20"])
        #expect(rows["steady"]?.prefix(2) == ["101", "+20"])
        #expect(rows["added"]?.contains("new") == true && rows["removed"]?.contains("gone") == true)
        #expect(rows["main"]?.prefix(2) == ["1", "="])
    }

    @Test func severalRunsASide() throws {
        let sides = [session("a1"), session("a2"), "--", session("b1"), session("b2")]
        let (output, rows) = try diff(sides)
        #expect(output.status == 0 && output.stdout.contains("mean of 2 runs → 2 runs"))
        #expect(!output.stdout.contains("With one run on a side"))
        #expect(rows["repeated"]?.prefix(2) == ["100", "+20"])
        #expect(rows["added"]?.contains("new") == true && rows["removed"]?.contains("gone") == true)
        let paths = try Fathom.run(["diff", "--by", "path", "--format", "json"] + sides)
        #expect(paths.status == 0 && paths.stdout.contains(#""path":["main","added","steady"]"#))
        #expect(paths.stdout.contains(#""noise_known":true,"beyond_noise":true"#))
    }

    /// Options may stand anywhere, also behind `--`.
    @Test func optionsAnywhere() throws {
        let (output, rows) = try diff([session("a1"), "--", session("b1"), "--limit", "2", "--sort", "name", "--all"])
        #expect(output.status == 0 && output.stderr.isEmpty && rows.keys.sorted() == ["added", "main"])
        let first = try diff([session("a1"), "--limit", "1", session("a2"), "--", session("b1"), session("b2")]).output
        let last = try diff([session("a1"), session("a2"), "--", session("b1"), session("b2"), "--limit", "1"]).output
        #expect(first.status == 0 && first.stdout == last.stdout)
        for wrong in [
            [session("a1"), "--"], ["--", session("b1")], ["--"], [session("a1"), "--", session("b1"), "--"],
        ] {
            #expect(try Fathom.run(["diff"] + wrong).status == 64)
        }
        let lacking = try Fathom.run(["diff", session("a1"), "--", session("b1"), "--limit"])
        #expect(lacking.status == 64 && lacking.stderr.contains("--limit"))
    }

    @Test func aRecordingHasNotChangedFromItself() throws {
        let (output, rows) = try diff([session("a1"), session("a1")])
        #expect(output.status == 0 && rows.isEmpty)
    }

    /// A copy of the evidence, by whatever name, is none.
    @Test func aRecordingCountsOnce() throws {
        let (a1, a2, b1) = (session("a1"), session("a2"), session("b1"))
        let link = directory.file("link.fathom")
        #expect(symlink(a1, link) == 0)
        for sides in [[a1, a1, "--", b1], [a1, a2, "--", a1], [b1, "--", a1, link], [a1, "--", a1, b1]] {
            let output = try Fathom.run(["diff"] + sides)
            #expect(output.status == 64 && output.stdout.isEmpty)
            #expect(output.stderr.contains("is given twice") && output.stderr.split(separator: "\n").count == 1)
        }
    }

    @Test func filters() throws {
        let (output, rows) = try diff([session("a1"), session("b1"), "--filter", "added"])
        #expect(output.status == 0 && Set(rows.keys) == ["added", "steady"])
        let nothing = try diff([session("a1"), session("b1"), "--filter", "nothing"]).output
        #expect(nothing.status == 2 && nothing.stderr.split(separator: "\n").count == 1)
    }

    /// 1 is for limits that hold; what fails says so with another status, even if one would.
    @Test func failures() throws {
        let sides = ["--fail-on", "calls(repeated)>0", session("a1"), session("b1")]
        #expect(try Fathom.run(["diff"] + sides).status == 1)
        let full = try TestSupport.run(
            "/bin/sh", ["-c", #""$@" > /dev/full"#, "sh", Fathom.executable, "diff"] + sides)
        #expect(full.status == 2 && full.stderr == "fathom: error: standard output: No space left on device\n")
        for path in [directory.file("none/x.html"), "/dev/full"] {
            let output = try Fathom.run(["diff", "-o", path] + sides)
            #expect(output.status == 2 && output.stderr.hasPrefix("fathom: error: \(path): "))
            #expect(output.stderr.split(separator: "\n").count == 1)
        }
        for options in [["--thread", "nobody"], ["--filter", "nothing"], ["--fail-on", "self(bussy)>5%"]] {
            let output = try Fathom.run(["diff"] + options + sides)
            #expect(output.status == 2 && output.stdout.isEmpty)
            #expect(output.stderr.split(separator: "\n").count == 1, "\(output.stderr)")
        }
        let bussy = try Fathom.run(["diff", "--fail-on", "self(bussy)>5%"] + sides).stderr
        #expect(bussy == "fathom: error: --fail-on 'self(bussy)>5%': no function on either side matches\n")
    }

    /// What is compared plainly is said to be.
    @Test func limitsWithoutNoise() throws {
        let limit = ["diff", "--fail-on", "calls(main)>0"]
        let said = ": noise is not told from change\n"
        let one = try Fathom.run(limit + [session("a1"), session("b1")])
        #expect(one.status == 0 && one.stderr == "fathom: warning: compared one run with one" + said)
        let two = try Fathom.run(limit + [session("a1"), session("a2"), "--", session("b1")])
        #expect(two.status == 0 && two.stderr == "fathom: warning: compared 2 runs with one" + said)
        let repeated = try Fathom.run(limit + [session("a1"), session("a2"), "--", session("b1"), session("b2")])
        #expect(repeated.status == 0 && repeated.stderr.isEmpty)
    }

    @Test func limits() throws {
        let sides = [session("a1"), session("b1")]
        let held = try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>19"])
        #expect(held.status == 1)
        #expect(held.stderr.contains("over the limit 'calls(repeated)>19': repeated, 100 calls → 120 calls, +20.0 %"))
        #expect(try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>20"]).status == 0)
        #expect(try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>19%"]).status == 1)
        // What is beyond noise in repeated runs holds, too.
        let several = [session("a1"), session("a2"), "--", session("b1"), session("b2")]
        #expect(try Fathom.run(["diff", "--fail-on", "calls(steady)>15%"] + several).status == 1)
        for wrong in ["calls", "size>5%", "calls>1ms", "total>5"] {
            let output = try Fathom.run(["diff"] + sides + ["--fail-on", wrong])
            #expect(output.status == 64 && output.stderr.hasPrefix("fathom: error: --fail-on '\(wrong)': "))
        }
        let plain = try Fathom.run(["diff"] + sides + ["--fail-on", "total>5"]).stderr
        #expect(plain.contains("a part like 5% or a time like 10ms"))
    }

    /// Frames know what they were before; what is only before has no width.
    @Test(arguments: ["svg", "html"])
    func flameGraphs(_ ending: String) throws {
        let (one, two) = (directory.file("one.\(ending)"), directory.file("two.\(ending)"))
        #expect(try Fathom.run(["diff", session("a1"), session("b1"), "-o", one]).status == 0)
        #expect(try Fathom.run(["flame", session("b1"), "--diff", session("a1"), "-o", two]).status == 0)
        for path in [one, two] {
            let text = String(decoding: try readFile(path), as: UTF8.self)
            #expect(text.contains("\"colour\":\"change\"") && text.contains("\"changes\":{\"totals\":["))
            #expect(text.contains("added") && !text.contains("removed"))
            #expect(text.contains("<title>\(session("a1")) → \(session("b1"))</title>"))
            #expect(ending == "html" || text.contains("before: not there"))
        }
        #expect(
            try Fathom.run(["flame", session("b1"), "--diff", session("a1"), "--time-order", "-o", two]).status == 64)
    }

    @Test func sidesAreNeeded() throws {
        #expect(try Fathom.run(["diff", session("a1")]).status == 64)
        #expect(try Fathom.run(["diff", session("a1"), session("a2"), session("b1")]).status == 64)
        #expect(try Fathom.run(["diff", session("a1"), session("missing")]).status == 2)
        let unknown = try Fathom.run(["diff", session("a1"), "--", session("b1"), "--unknown"])
        #expect(unknown.status == 64 && unknown.stderr.contains("--unknown"), "\(unknown.stderr)")
    }
}
