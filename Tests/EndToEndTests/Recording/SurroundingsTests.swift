internal import Glibc
import TestSupport
import Testing

/// What a program sees of its surroundings is what it would see without Fathom.
@Suite struct SurroundingsTests {
    @Test(arguments: Build.all)
    func theSameToTheProgram(_ build: Build) throws {
        let binary = try Binaries.instrumented("environment.c", build)
        let directory = try TemporaryDirectory("surroundings")
        let arguments = ["a b", "", "--", "-o", "\"quoted\""]
        let environment = Fathom.inherited(adding: ["EMPTY": "", "SPACES": "a  b"])
        let plain = try run(binary, arguments, environment: environment)
        let recorded = try Fathom.record(
            [binary] + arguments, into: directory.file("session.fathom"), environment: ["EMPTY": "", "SPACES": "a  b"])
        #expect(recorded.status == plain.status)
        let plainLines = plain.stdout.split(separator: "\n")
        let recordedLines = recorded.stdout.split(separator: "\n")
        #expect(recordedLines.difference(from: plainLines).isEmpty)
    }

    /// The program's standard input is the caller's, and an earlier LD_PRELOAD is kept.
    @Test func inputAndPreload() throws {
        let directory = try TemporaryDirectory("preload")
        let session = directory.file("session.fathom")
        let library = directory.file("libnoted.so")
        try Toolchain.compile(
            sources: [
                "noted.c":
                    "#include <unistd.h>\n__attribute__((constructor)) static void note(void) { write(1, \"noted\\n\", 6); }"
            ],
            compiler: .gcc, flags: ["-shared", "-fPIC"], output: library)
        let binary = try Toolchain.compile(
            sources: [
                "echo.c": "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) >= 0) putchar(c); }"
            ],
            compiler: .gcc, flags: ["-finstrument-functions"], output: directory.file("echo"))
        let recorded = try run(
            Fathom.executable, ["record", "--quiet", "-o", session, "--", binary],
            environment: Fathom.inherited(adding: ["LD_PRELOAD": library]), input: "line one\nline two\n")
        #expect(recorded.stdout.hasSuffix("noted\nline one\nline two\n"))
        #expect(try Dump(session).counts() == ["main": 1])
    }

    /// A signal for `fathom record` is one for the program.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1])
    func signalsAreForwarded(_ signal: Int32) throws {
        let directory = try TemporaryDirectory("forward")
        let session = directory.file("session.fathom")
        let binary = try Toolchain.compile(
            sources: [
                "wait.c": """
                #include <fcntl.h>
                #include <unistd.h>
                int main(int count, char **arguments) {
                    close(open(arguments[count - 1], O_CREAT | O_WRONLY, 0600));
                    for (;;) pause();
                }
                """
            ], compiler: .gcc, flags: ["-finstrument-functions"], output: directory.file("wait"))
        let started = directory.file("started")
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", session, "--quiet", "--", binary, started,
        ])
        #expect(waitUntil { access(started, F_OK) == 0 })
        recorder.signal(signal)
        #expect(recorder.wait() & 0x7f == signal)
        #expect(try Dump(session).counts() == ["main": 1])
    }

    /// Arguments and environment are bytes, not text.
    @Test func bytesOfArguments() throws {
        let directory = try TemporaryDirectory("bytes")
        let script = directory.file("script")
        // The shell makes bytes that are no UTF-8, and od shows what came of them.
        try writeFile(
            Array(
                """
                #!/bin/sh
                bytes=$(printf '\\351\\377')
                LATIN=$bytes exec "$@" sh -c 'printf "%s|%s" "$1" "$LATIN" | od -An -tx1' sh "$bytes"
                """.utf8), to: script)
        let plain = try run("/bin/sh", [script])
        let recorded = try run(
            "/bin/sh",
            [script, Fathom.executable, "record", "--force", "--quiet", "-o", directory.file("s.fathom"), "--"])
        #expect(plain.stdout.contains("e9 ff 7c e9 ff"))
        #expect(recorded.stdout == plain.stdout)
    }

    /// A session that is being recorded is not set aside by another recording.
    @Test func twoRecordingsOfOneName() throws {
        let binary = try Binaries.instrumented("lastcall.c", .gccO2)
        let directory = try TemporaryDirectory("two")
        let session = directory.file("session.fathom")
        let end = directory.file("end")
        let first = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "-o", session, "--", binary, "\(SIGKILL)", end])
        #expect(waitUntil { access(session + "/trace", F_OK) == 0 })
        let second = try Fathom.record([binary], into: session)
        try writeFile([], to: end)
        #expect(second.status == 125)
        #expect(second.stderr.contains("is being recorded right now"))
        #expect(first.wait() & 0x7f == SIGKILL)
        #expect(try Dump(session).counts()["last"] == 1)
    }

    /// Preloaded into `fathom record` itself, and so into a program that has none.
    @Test func addressSanitizerPreloaded() throws {
        let library = try run("gcc", ["-print-file-name=libasan.so"]).stdout.split(separator: "\n").first ?? ""
        try #require(library.contains("/"), "gcc has no address sanitizer")
        let binary = try Binaries.instrumented("fib.c", .gccO0)
        let session = try TemporaryDirectory("preloaded")
        let recorded = try Fathom.record(
            [binary, "10"], into: session.file("session.fathom"), environment: ["LD_PRELOAD": String(library)])
        #expect(recorded.status == 0, "\(recorded.stderr)")
        #expect(recorded.stdout == "55\n")
        #expect(try Dump(session.file("session.fathom")).counts()["fib"] == 177)
    }

    /// A preloaded library that sets variables moves the environment, behind which Swift's library looks for arguments.
    @Test func movedEnvironment() throws {
        let directory = try TemporaryDirectory("moved")
        let library = try Toolchain.compile(
            sources: [
                "moved.c": """
                #include <stdlib.h>
                __attribute__((constructor)) static void move(void) { setenv("MOVED_BY_TEST", "1", 1); }
                """
            ], compiler: .gcc, flags: ["-shared", "-fPIC"], output: directory.file("libmoved.so"))
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO0)
        let recorded = try Fathom.record([binary, "10"], into: session, environment: ["LD_PRELOAD": library])
        #expect(recorded.stdout == "55\n", "signal \(recorded.signal ?? 0): \(recorded.stderr)")
        #expect(try Dump(session).counts()["fib"] == 177)
    }

    /// Containers and chroots may have no /proc.
    @Test(.enabled(if: Privilege.isRoot)) func withoutProc() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO0)
        let directory = try TemporaryDirectory("without-proc")
        let session = directory.file("session.fathom")
        let script = """
            umount -l /proc && "$0" record -q -o "$1" -- "$2" 10 && "$0" report "$1" --format csv
            """
        let recorded = try run("unshare", ["-m", "sh", "-c", script, Fathom.executable, session, binary])
        #expect(recorded.status == 0, "\(recorded.stderr)")
        #expect(recorded.stdout.hasPrefix("55\n"))
        #expect(try Dump(session).counts()["fib"] == 177)
        #expect(access(session + "/buffers", F_OK) != 0)
    }

    /// With too few descriptors the recording is refused, or it is whole.
    @Test func fewDescriptors() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO0)
        let directory = try TemporaryDirectory("descriptors")
        var whole = 0
        for limit in 4...10 {
            let session = directory.file("\(limit).fathom")
            let recorded = try run(
                "sh",
                [
                    "-c", "ulimit -n \(limit); exec \"$0\" record -q -o \"$1\" -- \"$2\" 10", Fathom.executable,
                    session, binary,
                ])
            guard recorded.stdout == "55\n" else {
                #expect(recorded.status != 0 && !recorded.stderr.isEmpty, "\(limit)")
                continue
            }
            #expect(try Dump(session).counts()["fib"] == 177, "\(limit)")
            whole += 1
        }
        #expect(whole > 0)
    }

    /// valgrind reads the debug information of everything in the program, and ends when it cannot.
    @Test(arguments: [["memcheck"], ["callgrind", "--callgrind-out-file=/dev/null"]])
    func valgrind(_ tool: [String]) throws {
        try #require(Toolchain.isInstalled("valgrind"), "Tools/setup --for-tests installs it")
        let directory = try TemporaryDirectory("valgrind")
        let source = try directory.write(
            "int deep(int n) { return n ? deep(n - 1) + 1 : 0; }\nint main(void) { return deep(20) - 20; }\n",
            to: "deep.c")
        // What is linked into programs is read, too.
        for (name, options) in [("hooked", []), ("dormant", ["--dormant"])] {
            let program = directory.file(name)
            let built = try Fathom.run(
                ["build"] + options + ["--", "gcc", "-gdwarf-4", "-o", program, source],
                environment: ["XDG_CACHE_HOME": directory.file("cache")])
            #expect(built.status == 0, "\(built.stderr)")
            let command = ["valgrind", "-q", "--tool=\(tool[0])"] + tool.dropFirst() + [program]
            let plain = try run(command[0], Array(command.dropFirst()))
            #expect(plain.status == 0 && plain.stderr.isEmpty, "\(plain.stderr)")
            guard name == "hooked" else { continue }
            let session = directory.file("\(name).fathom")
            let recorded = try Fathom.record(command, into: session)
            #expect(recorded.status == 0, "\(recorded.stderr)")
            #expect(try Dump(session).counts() == ["main": 1, "deep": 21])
        }
    }
}
