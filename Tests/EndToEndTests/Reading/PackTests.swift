import Glibc
import TestSupport
import Testing

/// A packed session is read as the session itself, by every command, wherever it is.
@Suite struct PackTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("pack") }

    @discardableResult
    private func fathom(_ arguments: String...) throws -> ProcessOutput {
        try Fathom.run(arguments, workingDirectory: directory.path)
    }

    /// Builds a program with threads, a library, recursion and children.
    private func build(_ compiler: String = "gcc") throws {
        _ = try directory.write(
            """
            #include <pthread.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int inside(int n);
            __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
            static void *work(void *n) { return (void *)(long)(fib((int)(long)n) + inside(3)); }
            int main(int count, char **arguments) {
                int n = count > 1 ? atoi(arguments[1]) : 15;
                pthread_t threads[3];
                for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)(n - i));
                for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
                if (fork() == 0) _exit(fib(5) == 0);
                wait(0);
                printf("%d\\n", fib(n) + inside(4));
                return 0;
            }

            """, to: "p.c")
        _ = try directory.write("int inside(int n) { return n > 0 ? inside(n - 1) + 1 : 0; }\n", to: "l.c")
        for words in [
            ["-shared", "-fPIC", "l.c", "-o", "libl.so"],
            ["p.c", "-o", "p", "-pthread", "-L.", "-ll", "-Wl,-rpath,\(directory.path)"],
        ] {
            let made = try run(
                compiler, ["-g", "-O1", "-finstrument-functions"] + words, workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
        }
    }

    private func record(_ options: String..., arguments: [String] = []) throws {
        let made = try Fathom.run(
            ["record", "-q"] + options + ["-o", "s.fathom", "--", "./p"] + arguments, workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
    }

    /// What commands show, without the row that says where the session is and how large it is there.
    private func shown(_ views: [[String]], _ session: String) throws -> [String] {
        try views.map { view in
            let words = view.map { $0 == "S" ? session : $0 }
            let output = try Fathom.run(words, workingDirectory: directory.path)
            let lines = output.stdout.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("session ") && !$0.hasPrefix("log ") }
            // The names are those of the session and of the plain one that it is compared with.
            return "\(view): \(output.status) \(output.stderr) \(lines.joined(separator: "\n"))"
                .replacing(session, with: "S").replacing("s.fathom", with: "S")
        }
    }

    private static let views = [
        ["tree", "S", "--lines", "--call-sites"], ["tree", "S", "--sort", "time", "--limit", "30"],
        ["tree", "S", "-t", "5us"], ["tree", "S", "--from", "100us", "--to", "400us"], ["report", "S"],
        ["report", "S", "--by", "thread", "--format", "csv"], ["graph", "S"], ["flame", "S", "-o", "-"],
        ["info", "S", "--check"], ["info", "S", "--tree"], ["dump", "S", "--chunks"], ["tune", "S"],
        ["tail", "fib", "S"], ["diff", "S", "s.fathom"],
    ]
    private static let formats = [
        "perfetto", "speedscope", "chrome", "folded", "pprof", "callgrind", "dot", "firefox", "csv", "parquet", "otlp",
    ]

    /// At home, and where neither the program nor its library is.
    @Test(arguments: ["gcc", "clang"], [["--blocked"], ["--memory"], ["--mode", "profile"], []])
    func everyView(_ compiler: String, _ options: [String]) throws {
        try build(compiler)
        let made = try Fathom.run(
            ["record", "-q"] + options + ["-o", "s.fathom", "--", "./p"], workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
        let views = Self.views + (options == ["--blocked"] ? [["waits", "S"]] : [])
        let exports = Self.formats.map { ["export", "S", "--format", $0, "-o", "-"] }
        let expected = try shown(views + exports, "s.fathom")
        let packing = try fathom("pack")
        try #require(packing.status == 0, "\(packing.stderr)")
        for (packed, plain) in zip(try shown(views + exports, "s.fathomz"), expected) { #expect(packed == plain) }
        for name in ["p", "p.c", "libl.so", "l.c"] { unlink(directory.file(name)) }
        for (packed, plain) in zip(try shown(views, "s.fathomz"), expected) { #expect(packed == plain) }
        #expect(try fathom("unpack", "s.fathomz", "-o", "back.fathom").status == 0)
        for file in try run("ls", [directory.file("s.fathom")]).stdout.split(separator: "\n") where file != "aggregate"
        {
            let same = try run("cmp", [directory.file("s.fathom/\(file)"), directory.file("back.fathom/\(file)")])
            #expect(same.status == 0, "\(file): \(same.stdout)\(same.stderr)")
        }
    }

    /// A log that is packed while it is recorded has the same calls, and what it unpacks to is the same.
    @Test(arguments: ["gcc", "clang"]) func whileRecording(_ compiler: String) throws {
        try build(compiler)
        try record("--compress", arguments: ["22"])
        let counts = try Dump(directory.file("s.fathom")).counts()
        #expect(counts["fib"] == 2 * 57_313 + 35_421 + 21_891 + 15, "\(counts)")
        let expected = try shown(Self.views, "s.fathom")
        #expect(try fathom("unpack", "s.fathom", "-o", "plain.fathom").status == 0)
        #expect(try fathom("pack", "s.fathom").status == 0)
        for session in ["plain.fathom", "s.fathomz"] {
            for (other, packed) in zip(try shown(Self.views, session), expected) { #expect(other == packed) }
        }
        let (packed, plain) = (try size("s.fathom/trace"), try size("plain.fathom/trace"))
        #expect(packed * 5 < plain, "\(packed) \(plain)")
    }

    private func size(_ name: String) throws -> Int {
        var status = stat()
        try #require(stat(directory.file(name), &status) == 0)
        return Int(status.st_size)
    }

    /// A recorder that is killed leaves what it has written, and what was in the buffers; that is packed, too.
    @Test(arguments: [[], ["--compress"]], 0..<3) func killed(_ options: [String], _ round: Int) throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let killed = try run(
            "sh",
            [
                "-c",
                "\"$0\" record -q -o \"$1\" \(options.joined(separator: " ")) -- \"$2\" 40 >/dev/null & "
                    + "until \"$0\" report \"$1\" --format csv 2>&1 | grep -q fib; do sleep 0.05; done; "
                    + "sleep 0.\(1 + 2 * round); kill -9 $!; sleep 0.1; pkill -9 -f \"$2 40\"; exit 0",
                Fathom.executable,
                directory.file("s.fathom"), binary,
            ])
        #expect(killed.status == 0, "\(killed.stderr)")
        let views = [["info", "S", "--check"], ["report", "S", "--format", "csv"], ["tree", "S", "--limit", "40"]]
        let expected = try shown(views, "s.fathom")
        #expect(expected[1].contains("fib"), "\(expected)")
        #expect(!expected[0].contains("damage       1"), "\(expected[0])")
        let packing = try fathom("pack", "s.fathom")
        try #require(packing.status == 0, "\(packing.stderr)")
        for (packed, plain) in zip(try shown(views, "s.fathomz"), expected) { #expect(packed == plain) }
    }

    /// While it is recorded, a packed log is read as a plain one.
    @Test func whileItGrows() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let recorder = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "--compress", "-o", directory.file("s.fathom"), "--", binary, "45"])
        defer { recorder.signal(SIGTERM) }
        let session = directory.file("s.fathom")
        try #require(waitUntil { ((try? readFile("\(session)/trace"))?.count ?? 0) > 100_000 })
        let report = try Fathom.run(["report", session, "--format", "csv"])
        #expect(report.status == 0 && report.stdout.contains("fib"), "\(report)")
        #expect(report.stderr.contains("still being recorded") && !report.stderr.contains("damage"), "\(report.stderr)")
        let packing = try Fathom.run(["pack", session])
        #expect(packing.status == 2 && packing.stderr.contains("still being recorded"), "\(packing)")
        let top = try Fathom.run(["top", session, "-n", "1"])
        #expect(top.status == 0 && top.stdout.contains("fib"), "\(top)")
    }

    /// Source files go along, and are shown where they are not.
    @Test func sources() throws {
        try build()
        try record()
        _ = try directory.write("changed\n", to: "l.c")
        let packing = try fathom("pack", "--sources", "s.fathom")
        #expect(
            packing.status == 0 && packing.stderr.contains("1 source file") && packing.stderr.contains("l.c"),
            "\(packing)")
        #expect(try fathom("unpack", "s.fathomz", "-o", "back.fathom").status == 0)
        let archive = try readFile(directory.file("back.fathom/sources"))
        #expect(String(decoding: archive, as: UTF8.self).contains("static void *work"))
        #expect(try fathom("info", "back.fathom", "--check").stdout.contains("damage       none"))
    }

    @Test func refusals() throws {
        try build()
        try record()
        _ = try directory.write("mine", to: "mine")
        let others = try fathom("pack", "s.fathom", "-o", "mine")
        #expect(others.status == 2 && others.stderr.contains("left alone"), "\(others)")
        #expect(try fathom("pack", "nothing").status == 2)
        #expect(try fathom("unpack", "s.fathom").status == 1)
        #expect(try fathom("pack", "s.fathom", "-o", "none/s.fathomz").status == 2)
        #expect(try fathom("pack", "s.fathom").status == 0)
        var status = stat()
        try #require(stat(directory.file("s.fathomz"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        // A packed session replaces a packed one, and nothing else does.
        #expect(try fathom("pack", "s.fathom").status == 0)
        #expect(try fathom("pack", "s.fathomz").status == 0)
        #expect(access(directory.file("s.fathomz.fathomz"), F_OK) != 0)
        let steering = try fathom("ctl", "s.fathomz", "status")
        #expect(steering.status == 2 && steering.stderr.contains("the recording is over"), "\(steering)")
        let collecting = try fathom("collect", "--to", "fleet", "s.fathomz")
        #expect(collecting.status == 2 && collecting.stderr.contains("fathom unpack"), "\(collecting)")
        #expect(try fathom("record", "-q", "--compress", "-o", "c.fathom", "--", "./p").status == 0)
        #expect(try fathom("pack", "s.fathom", "-o", "c.fathom/trace").status == 2)
        #expect(try fathom("unpack", "c.fathom", "-o", "c.fathom").status == 2)
        #expect(try fathom("report", "c.fathom").status == 0)
        #expect(try fathom("flame", "s.fathom", "-o", "s.fathomz").status == 64)
        #expect(try fathom("unpack", "s.fathomz").status == 0)
        #expect(access(directory.file("s.fathom.old/trace"), F_OK) == 0)
        let mode = try fathom("record", "--compress", "--mode", "profile", "--", "./p")
        #expect(mode.status == 64 && mode.stderr.contains("--compress is for --mode trace"), "\(mode)")
    }

    /// Where the disk is full, what fitted is readable, and what is missing is said.
    @Test(.enabled(if: Privilege.mounts)) func diskFull() throws {
        let files = try SmallFileSystem("size=300k")
        let session = files.directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let plain = try run(binary, ["32"])
        let output = try Fathom.record([binary, "32"], into: session, options: ["--compress"])
        #expect(output.stdout == plain.stdout && output.status == plain.status)
        let missing = Fathom.missingCalls(output.stderr)
        #expect(missing > 0)
        let info = try Fathom.run(["info", session])
        #expect(
            info.stdout.filter { $0 != "," }.contains("calls        \(7_049_155 + 1 - missing)\n"), "\(info.stdout)")
        #expect(try Fathom.run(["info", "--check", session]).stdout.contains("damage       none"))
    }
}
