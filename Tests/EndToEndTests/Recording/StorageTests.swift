internal import Glibc
import TestSupport
import Testing

/// Where the recording cannot be written, the program still runs as ever.
@Suite struct StorageTests {
    /// A file system of 400 KB fills up; what fitted is readable, from the first call on, and what is missing is said. How
    /// many buffers there are before the log has its first byte is chance.
    @Test(.enabled(if: Privilege.mounts), arguments: 0..<8) func diskFull(_: Int) throws {
        let files = try SmallFileSystem("size=400k")
        let session = files.directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let plain = try run(binary, ["25"])
        let output = try Fathom.record([binary, "25"], into: session, options: [])
        #expect(output.stdout == plain.stdout)
        #expect(output.status == plain.status)
        #expect(output.signal == nil)
        let dump = try Dump(session)
        #expect(dump.output.status == 0, "\(dump.output.stderr)")
        let missing = Fathom.missingCalls(output.stderr)
        // Nothing is lost but calls: functions have their names, and the process its end. `info` tells the same loss.
        #expect(missing > 0)
        #expect(Set(try dump.counts().keys) == ["main", "fib"])
        let info = try Fathom.run(["info", session])
        let told = info.stdout.filter { $0 != "," }
        #expect(told.contains("calls        \(242_785 + 1 - missing)\n"), "\(info.stdout)")
        #expect(told.contains("lost         \(missing) calls not recorded"), "\(info.stdout)")
        #expect(info.stdout.contains("  end        exited\n"), "\(info.stdout)")
    }

    /// A recorder that does not run holds nobody up, and loses nothing when it runs again.
    @Test func stoppedRecorder() throws {
        let binary = try Binaries.instrumented("stopped.c", .gccO2)
        let directory = try TemporaryDirectory("stopped")
        let session = directory.file("session.fathom")
        let output = try Fathom.record([binary, "600000"], into: session)
        #expect(output.status == 0 && Fathom.missingCalls(output.stderr) == 0, "\(output.stderr)")
        #expect(try Dump(session).counts() == ["main": 1, "run": 2, "leaf": 600_000])
    }

    /// The limit on the size of files is told as that.
    @Test func fileSizeLimit() throws {
        let directory = try TemporaryDirectory("limit")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let output = try run(
            "bash",
            ["-c", "ulimit -f 9000; exec \"$0\" record -o \"$1\" -- \"$2\" 32", Fathom.executable, session, binary])
        #expect(output.stdout == "2178309\n")
        #expect(output.stderr.contains("(ulimit -f)"), "\(output.stderr)")
        let missing = Fathom.missingCalls(output.stderr)
        let info = try Fathom.run(["info", session])
        #expect(
            info.stdout.filter { $0 != "," }.contains("lost         \(missing) calls not recorded: the limit"),
            "\(info.stdout)")
        #expect(Set(try Dump(session).counts().keys) == ["main", "fib"])
    }

    @Test func directoryIsMissing() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let output = try Fathom.record([binary], into: "/nonexistent/session.fathom")
        #expect(output.status != 0)
        #expect(output.stderr.contains("/nonexistent"))
    }

    /// Even root cannot write there.
    @Test(.enabled(if: Privilege.mounts)) func readOnlyFileSystem() throws {
        let files = try SmallFileSystem("size=64k", isReadOnly: true)
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let output = try Fathom.record([binary], into: files.directory.file("session.fathom"))
        #expect(output.status != 0)
        #expect(output.stderr.contains("session.fathom"))
    }

    /// An earlier session is moved aside; what is not a session is left alone.
    /// Nobody else can put files in the place of a session's: what is found there is mapped into programs.
    @Test func directoryForAll() throws {
        let directory = try TemporaryDirectory("for-all")
        let session = directory.file("session.fathom")
        try run("mkdir", ["-m", "777", session])
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(try Fathom.record([binary, "10"], into: session).status == 0)
        #expect(try Dump(session).counts()["fib"] == 177)
        #expect(try run("stat", ["-c", "%a", session]).stdout == "755\n")
    }

    @Test(.enabled(if: Privilege.isRoot)) func directoryOfAnother() throws {
        let directory = try TemporaryDirectory("another")
        let session = directory.file("session.fathom")
        try run("install", ["-d", "-o", "65534", session])
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let refused = try Fathom.record([binary, "10"], into: session)
        #expect(refused.status == 125 && refused.stdout.isEmpty)
        #expect(
            refused.stderr
                == "fathom: error: \(session): is a directory of another user, who could change the session; choose another place with -o\n"
        )
    }

    /// The path of a session stays in the environment of what goes on when the recording is over. Then anybody may have made
    /// another one there.
    @Test(.enabled(if: Privilege.isRoot), arguments: ["chown 65534 buffers", "mv buffers other; ln -s other buffers"])
    func filesOfOthers(_ change: String) throws {
        let directory = try TemporaryDirectory("others")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let script = "\"$0\" 10; cd \"$FATHOM_SESSION\"; \(change); \"$0\" 11"
        let recorded = try Fathom.record(["sh", "-c", script, binary], into: session, options: ["-q", "--force"])
        #expect(recorded.stdout == "55\n89\n", "\(recorded.stderr)")
        #expect(try Dump(session).counts()["fib"] == 177)
    }

    @Test func existingSession() throws {
        let directory = try TemporaryDirectory("existing")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(try Fathom.record([binary, "5"], into: session).status == 0)
        #expect(try Fathom.record([binary, "6"], into: session).status == 0)
        #expect(try Dump(session).counts()["fib"] == 25)
        #expect(try Dump("\(session).old").counts()["fib"] == 15)

        let mine = try directory.makeDirectory("mine.fathom")
        try writeFile(Array("precious".utf8), to: "\(mine)/data")
        _ = try Fathom.record([binary, "5"], into: mine)
        let kept = [mine, "\(mine).old"].contains { (try? readFile("\($0)/data")) == Array("precious".utf8) }
        #expect(kept)
    }

    /// The working directory is gone, or another, and the session stays where it was begun.
    @Test func defaultSession() throws {
        let directory = try TemporaryDirectory("default")
        let binary = try Binaries.instrumented("descriptors.c", .gccO2)
        let output = try Fathom.run(["record", "--quiet", "--", binary, "chdir"], workingDirectory: directory.path)
        #expect(output.status == 0)
        let name = try #require(binary.split(separator: "/").last)
        #expect(try Dump(directory.file("\(name).fathom")).counts() == Truth.counts([binary, "chdir"]))
    }
}
