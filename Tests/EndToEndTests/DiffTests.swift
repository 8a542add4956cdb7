import TestSupport
import Testing

/// `fathom diff` of two builds of a program whose calls are known.
@Suite struct DiffTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("diff")
        let before = try Binaries.instrumented("changed.c", .gccO2)
        let after = try Binaries.instrumented("changed.c", .gccO2, flags: ["-DCHANGED"], variant: "-changed")
        for run in 1...2 {
            for (name, binary) in [("a", before), ("b", after)] {
                #expect(try Fathom.record([binary], into: session("\(name)\(run)")).status == 0)
            }
        }
    }

    private func session(_ name: String) -> String { directory.file("\(name).fathom") }

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

    @Test func aRecordingHasNotChangedFromItself() throws {
        let (output, rows) = try diff([session("a1"), session("a1")])
        #expect(output.status == 0 && rows.isEmpty)
        let twice = [session("a1"), session("a2")]
        let repeated = try diff(twice + ["--"] + twice)
        #expect(repeated.rows.isEmpty && repeated.output.stdout.contains("with no change beyond noise"))
    }

    @Test func filters() throws {
        let (output, rows) = try diff([session("a1"), session("b1"), "--filter", "added"])
        #expect(output.status == 0 && Set(rows.keys) == ["added", "steady"])
        let nothing = try diff([session("a1"), session("b1"), "--filter", "nothing"]).output
        #expect(nothing.status == 1 && nothing.stderr.split(separator: "\n").count == 1)
    }

    @Test func limits() throws {
        let sides = [session("a1"), session("b1")]
        let held = try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>19"])
        #expect(held.status == 1)
        #expect(held.stderr.contains("'calls(repeated)>19' holds: repeated, 100 calls → 120 calls, +20.0 %"))
        #expect(try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>20"]).status == 0)
        #expect(try Fathom.run(["diff"] + sides + ["--fail-on", "calls(repeated)>19%"]).status == 1)
        // What is beyond noise in repeated runs holds, too.
        let several = [session("a1"), session("a2"), "--", session("b1"), session("b2")]
        #expect(try Fathom.run(["diff", "--fail-on", "calls(steady)>15%"] + several).status == 1)
        for wrong in ["calls", "size>5%", "calls>1ms"] {
            let output = try Fathom.run(["diff"] + sides + ["--fail-on", wrong])
            #expect(output.status == 64 && output.stderr.hasPrefix("Error: --fail-on '\(wrong)': "))
        }
    }

    /// Frames know what they were before; what is only before has no width.
    @Test(arguments: ["svg", "html"])
    func flameGraphs(_ ending: String) throws {
        let (one, two) = (directory.file("one.\(ending)"), directory.file("two.\(ending)"))
        #expect(try Fathom.run(["diff", session("a1"), session("b1"), "-o", one]).status == 0)
        #expect(try Fathom.run(["flame", session("b1"), "--diff", session("a1"), "-o", two]).status == 0)
        for path in [one, two] {
            let text = String(decoding: try readFile(path), as: UTF8.self)
            #expect(text.contains("\"colour\":\"change\"") && text.contains("\"changes\":{\"steps\":8"))
            #expect(text.contains("added") && !text.contains("removed"))
            #expect(ending == "html" || text.contains("before: not there"))
        }
        #expect(
            try Fathom.run(["flame", session("b1"), "--diff", session("a1"), "--time-order", "-o", two]).status == 64)
    }

    @Test func sidesAreNeeded() throws {
        #expect(try Fathom.run(["diff", session("a1")]).status == 64)
        #expect(try Fathom.run(["diff", session("a1"), session("a2"), session("b1")]).status == 64)
        #expect(try Fathom.run(["diff", session("a1"), session("missing")]).status == 2)
    }
}
