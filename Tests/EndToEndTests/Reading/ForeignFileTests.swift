internal import Glibc
import TestSupport
import Testing

/// Recording never removes or changes a file that is no session's, whatever has the session's name.
@Suite struct ForeignFileTests {
    /// What stands where the session `d` is to be. Paths are below the working directory.
    struct Place: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Run by sh there; `$fathom` records into `d`, `$session` is a session to copy.
        var setup: String
        /// Files that must be what they were, wherever `d` is now: there or in `d.old`.
        var kept: [String]

        init(_ description: String, _ setup: String, keeps kept: String...) {
            testDescription = description
            self.setup = setup
            self.kept = kept
        }
    }

    static let places = [
        Place("a file named trace", "mkdir d; echo mine >d/trace", keeps: "d/trace"),
        Place("a file named trace among others", "mkdir d; echo mine >d/trace; echo x >d/x", keeps: "d/trace", "d/x"),
        Place("a file named buffers", "mkdir d; echo mine >d/buffers", keeps: "d/buffers"),
        Place("a file named session.json", "mkdir d; echo '{}' >d/session.json", keeps: "d/session.json"),
        Place("a file named aggregate", "mkdir d; echo mine >d/aggregate", keeps: "d/aggregate"),
        Place("empty files of our names", "mkdir d; : >d/trace; : >d/buffers", keeps: "d/trace", "d/buffers"),
        Place("a plain file", "echo mine >d", keeps: "d"),
        Place(
            "d.old with a file named trace", "cp -r $session d; mkdir d.old; echo mine >d.old/trace",
            keeps: "d.old/trace"),
        Place(
            "d.old, a session with one more file", "cp -r $session d; cp -r $session d.old; echo mine >d.old/notes",
            keeps: "d.old/notes", "d.old/trace", "d.old/session.json"),
        Place(
            "d.old, a session with a foreign aggregate",
            "cp -r $session d; cp -r $session d.old; echo mine >d.old/aggregate", keeps: "d.old/aggregate",
            "d.old/trace"),
        Place(
            "d.old, a session with a directory",
            "cp -r $session d; cp -r $session d.old; mkdir -p d.old/a; echo x >d.old/a/x",
            keeps: "d.old/a/x", "d.old/trace"),
        Place(
            "d.old, a link to a directory", "cp -r $session d; mkdir other; echo mine >other/trace; ln -s other d.old",
            keeps: "other/trace"),
        Place(
            "d.old, a link to a session", "cp -r $session d; cp -r $session other; ln -s other d.old",
            keeps: "other/trace", "other/session.json"),
        Place("d.old, a link to nothing", "cp -r $session d; ln -s nowhere d.old", keeps: "d/trace"),
        Place("d.old, a plain file", "cp -r $session d; echo mine >d.old", keeps: "d.old"),
        Place(
            "d.old, whose trace is a link",
            "cp -r $session d; mkdir d.old; cp $session/trace other; ln -s ../other d.old/trace",
            keeps: "other", "d.old/trace"),
        Place(
            "d.old, whose trace is a pipe", "cp -r $session d; mkdir d.old; mkfifo d.old/trace; echo mine >d.old/x",
            keeps: "d.old/x"),
        Place(
            "d, a link to files", "mkdir other; echo mine >other/trace; ln -s other d", keeps: "other/trace", "d/trace"),
        Place(
            "d, a link to a session", "cp -r $session other; ln -s other d", keeps: "other/trace", "other/session.json"),
        Place("d, a session with one more file", "cp -r $session d; echo mine >d/notes", keeps: "d/notes"),
        Place(
            "d, a session whose trace was lost", "cp -r $session d; rm d/trace; echo mine >d/trace", keeps: "d/trace"),
        Place(
            "d.old is being recorded", "cp -r $session d; cp -r $session d.old; exec 9<d.old; flock 9; echo >held",
            keeps: "d.old/trace", "d.old/session.json"),
    ]

    @Test(arguments: places) func isKept(_ place: Place) throws {
        let directory = try TemporaryDirectory("foreign")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([binary, "3"], into: session).status == 0)
        let work = try directory.makeDirectory("work")
        // What is in the files before and after four recordings, the links among them followed.
        let script = """
            set -e
            session=\(session)
            \(place.setup)
            sum() { for file in \(place.kept.joined(separator: " ")); do cksum <$file; done; }
            sum >../before
            for i in 1 2 3 4; do "$0" record -q -o d -- "$1" $i 2>>../said 9<&- || true; done
            for file in \(place.kept.joined(separator: " ")); do
                cksum <$file 2>/dev/null || cksum <d.old${file#d} || echo lost $file
            done >../after
            """
        let output = try run("sh", ["-c", script, Fathom.executable, binary], workingDirectory: work)
        #expect(output.status == 0, "\(output.stderr)")
        #expect(try readFile(directory.file("before")) == readFile(directory.file("after")))
        let said = String(decoding: try readFile(directory.file("said")), as: UTF8.self)
        #expect(said.split(separator: "\n").allSatisfy { $0.hasPrefix("fathom: ") }, "\(said)")
    }

    /// What a report keeps beside a session takes nobody's place.
    @Test func aggregateIsKept() throws {
        let directory = try TemporaryDirectory("foreign")
        let session = directory.file("d")
        #expect(try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "26"], into: session).status == 0)
        usleep(2_500_000)  // what is younger than two seconds is not kept
        try writeFile(Array("mine".utf8), to: "\(session)/aggregate")
        #expect(try Fathom.run(["report", session]).status == 0)
        #expect(try readFile("\(session)/aggregate") == Array("mine".utf8))
        unlink("\(session)/aggregate")
        #expect(try Fathom.run(["report", session]).status == 0)
        #expect(access("\(session)/aggregate", F_OK) == 0, "large enough to be kept")
    }

    /// A session's name that is not UTF-8 is refused, for it would become another one; so are no programs, nor their arguments, nor
    /// the directory where they run.
    @Test func namesOfOtherBytes() throws {
        let directory = try TemporaryDirectory("bytes")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let script = """
            name=$(printf 'a\\377')
            mkdir "$name" && cd "$name" && cp "$1" "$name"
            "$0" record -q -o "$name" -- "$1" 5; echo $?
            "$0" record -q -- "./$name" 5; echo $?
            "$0" tree "$name"; echo $?
            "$0" record -q -o d -- "$1" "5$name"; echo $?
            "$0" export d --format csv -o "$name"; echo $?
            ls
            "$0" info d | grep -a '^calls'
            """
        let output = try run("bash", ["-c", script, Fathom.executable, binary], workingDirectory: directory.path)
        let lines = output.stdout.split(separator: "\n").map(String.init)
        let expected = ["64", "5", "0", "64", "5", "0", "64", "a\\xff.fathom", "a\u{fffd}", "d", "calls        16"]
        #expect(lines == expected, "\(output.stderr)")
        #expect(output.stderr.split(separator: "\n").count == 3, "\(output.stderr)")
    }

    /// A recording that cannot be made leaves nothing of its own.
    @Test func nothingIsLeft() throws {
        let directory = try TemporaryDirectory("foreign")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let script = "ulimit -f 1; \"$0\" record -o d -- \"$1\" 5"
        let output = try run("bash", ["-c", script, Fathom.executable, binary], workingDirectory: directory.path)
        #expect(output.status == 125)
        #expect(output.stderr.contains("ulimit -f"), "\(output.stderr)")
        #expect(access(directory.file("d"), F_OK) != 0)
    }

    /// Where the system refuses to open what is there, that says nothing about whose it is.
    @Test func tooFewOpenFiles() throws {
        let directory = try TemporaryDirectory("foreign")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let script = """
            for i in 1 2; do "$0" record -q -o d -- "$1" 5; done
            for limit in 4 5; do (ulimit -n $limit; "$0" record -q -o d -- "$1" 5); done
            "$0" record -q -o d -- "$1" 5
            """
        let output = try run("bash", ["-c", script, Fathom.executable, binary], workingDirectory: directory.path)
        #expect(output.status == 0 && output.stdout == "5\n5\n5\n")
        let said = output.stderr.split(separator: "\n")
        #expect(said.count == 2 && said.allSatisfy { $0.contains("d: cannot create") && $0.contains("ulimit -n") })
    }

    /// Whoever may not read what a program does may not read what it did.
    @Test func isForItsOwner() throws {
        let directory = try TemporaryDirectory("owner")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let session = directory.file("d")
        let script =
            "umask 022; \"$0\" record -q --baseline -o \"$2\" -- \"$1\" 20 </dev/null; find \"$2\" -printf '%m %f\\n'"
        let output = try run("sh", ["-c", script, Fathom.executable, binary, session])
        #expect(
            Set(output.stdout.split(separator: "\n").dropFirst()) == [
                "700 d", "600 trace", "600 session.json", "600 names",
            ])
    }
}
