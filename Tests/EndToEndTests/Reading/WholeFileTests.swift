import Glibc
import TestSupport
import Testing

/// A file that a command writes is there whole, or the old one is: whatever ends the command, at whatever moment.
@Suite struct WholeFileTests {
    /// A command that writes a file.
    struct Command: Sendable, CustomTestStringConvertible {
        /// Its words, where SESSION stands for a session, and HISTORY for a history that has it.
        var words: [String]
        /// The file's name, which tells some commands what to write.
        var file: String
        /// The program whose recording is read, and its arguments: one that makes the command last long enough.
        var program: [String]

        init(_ line: String, writes file: String = "file", of program: [String] = ["fib.c", "21"]) {
            words = line.split(separator: " ").map(String.init)
            self.file = file
            self.program = program
        }

        var testDescription: String { "\(words.joined(separator: " ")) -o \(file)" }
    }

    private static let commands =
        [
            "perfetto", "speedscope", "chrome", "folded", "pprof", "callgrind", "dot", "firefox", "csv", "parquet",
            "otlp",
        ].map {
            Command("export SESSION --format \($0)")
        } + [
            Command("export SESSION --format parquet --calls"),
            Command("export SESSION --format folded", writes: "file.gz"),
            Command("export SESSION --format csv", writes: "file.zst"), Command("flame SESSION"),
            Command("flame SESSION --time-order"), Command("flame SESSION", writes: "file.svg"),
            Command("flame SESSION --diff SESSION"), Command("diff SESSION SESSION"), Command("tune SESSION"),
            Command("tail SESSION spin --slowest 1", of: ["busy.c", "1", "20"]), Command("order SESSION --linker lld"),
            Command("startup SESSION", writes: "file.html"),
            Command("history trend total --history HISTORY", writes: "file.svg"),
        ]

    private static let old: [UInt8] = Array("what was there before".utf8)

    private func session(_ directory: TemporaryDirectory, of program: [String] = ["fib.c", "21"]) throws -> String {
        let session = directory.file("session.fathom")
        let command = [try Binaries.instrumented(program[0], .gccO2)] + program.dropFirst()
        let recorded = try Fathom.record(command, into: session)
        try #require(recorded.status == 0, "\(recorded.stderr)")
        let added = try Fathom.run(["history", "add", session, "--history", "\(session).db"])
        try #require(added.status == 0, "\(added.stderr)")
        return session
    }

    private func words(_ command: Command, _ session: String, _ file: String) -> [String] {
        command.words.map { $0 == "SESSION" ? session : $0 == "HISTORY" ? "\(session).db" : $0 } + ["-o", file]
    }

    /// Fails unless the file is the old one or the new one, and nothing lies beside it.
    private func expectWhole(_ file: String, _ new: [UInt8], in folder: String, _ moment: String) throws {
        let bytes = try readFile(file)
        #expect(bytes == WholeFileTests.old || bytes == new, "\(moment): \(bytes.count) bytes, \(new.count) when whole")
        let beside = try run("ls", ["-A", folder]).stdout
        #expect("\(folder)/\(beside)" == "\(file)\n", "\(moment): \(beside)")
    }

    /// A signal comes at five moments of the time that the command takes.
    @Test(arguments: commands, [SIGINT, SIGTERM, SIGKILL]) func signals(_ command: Command, _ signal: Int32) throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory, of: command.program)
        let folder = try directory.makeDirectory("folder")
        let file = "\(folder)/\(command.file)"
        var before = timespec()
        clock_gettime(CLOCK_MONOTONIC, &before)
        try #require(try Fathom.run(words(command, session, file)).status == 0)
        var after = timespec()
        clock_gettime(CLOCK_MONOTONIC, &after)
        let duration = (after.tv_sec - before.tv_sec) * 1_000_000 + (after.tv_nsec - before.tv_nsec) / 1000
        let new = try readFile(file)
        for moment in 0..<5 {
            try writeFile(WholeFileTests.old, to: file)
            let process = try BackgroundProcess([Fathom.executable] + words(command, session, file))
            usleep(UInt32(duration * (2 * moment + 1) / 10))
            process.signal(signal)
            process.wait()
            // Nothing can be done against SIGKILL in the moment between a file's getting a name and its place.
            if signal == SIGKILL { try run("find", [folder, "-name", ".fathom-*", "-delete"]) }
            try expectWhole(file, new, in: folder, "moment \(moment)")
        }
    }

    /// The disk is full after five amounts of bytes: a limit on the size of files says so as a full disk does.
    @Test(arguments: commands) func noRoom(_ command: Command) throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory, of: command.program)
        let folder = try directory.makeDirectory("folder")
        let file = "\(folder)/\(command.file)"
        // What is kept beside a recording is made now, so that it is not what the limit hits.
        _ = try Fathom.run(["report", session])
        try #require(try Fathom.run(words(command, session, file)).status == 0)
        let new = try readFile(file)
        for moment in 0..<5 {
            try writeFile(WholeFileTests.old, to: file)
            let limit = new.count * moment / 5
            // By a pipe, because the limit holds for a file that standard error is, too.
            let limited = ["prlimit", "--fsize=\(limit)", Fathom.executable] + words(command, session, file)
            let output = try run("bash", ["-o", "pipefail", "-c", "\"$@\" 2>&1 | cat", "bash"] + limited)
            #expect(output.status == 2)
            // A history has a file of its own beside it while it is read.
            let mayName = [file] + (command.words.contains("HISTORY") ? ["\(session).db"] : [])
            #expect(mayName.contains { output.stdout.contains("fathom: error: \($0): ") }, "\(output.stdout)")
            #expect(try readFile(file) == WholeFileTests.old)
            try expectWhole(file, new, in: folder, "\(limit) bytes")
        }
    }

    /// The same on disks that have room for the old file and for five amounts of the new one.
    @Test(.enabled(if: Privilege.mounts), arguments: commands) func fullDisk(_ command: Command) throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory, of: command.program)
        _ = try Fathom.run(["report", session])
        let whole = directory.file(command.file)
        try #require(try Fathom.run(words(command, session, whole)).status == 0)
        let pages = try readFile(whole).count / 4096
        for moment in 0..<5 {
            let disk = try SmallFileSystem("size=\(4 * (1 + pages * moment / 5))k")
            let file = disk.directory.file(command.file)
            try writeFile(WholeFileTests.old, to: file)
            let output = try Fathom.run(words(command, session, file))
            #expect(output.status == 2)
            #expect(output.stderr.contains("fathom: error: \(file): No space left on device\n"), "\(output.stderr)")
            #expect(try readFile(file) == WholeFileTests.old)
            #expect(try run("ls", ["-A", disk.directory.path]).stdout == "\(command.file)\n")
        }
    }

    /// What is wrong with the recording or the options leaves the old file alone.
    @Test func errorsLeaveTheOldFile() throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory, of: ["fib.c", "5"])
        let file = directory.file("x.csv")
        try writeFile(WholeFileTests.old, to: file)
        for options in [["--filter", "none_such"], ["--thread", "none such"], ["--max-depth", "x"]] {
            let output = try Fathom.run(["export", session, "--format", "csv", "-o", file] + options)
            #expect(output.status != 0)
            #expect(try readFile(file) == WholeFileTests.old)
        }
    }

    /// A link stays one, a file keeps its permissions, and a device is no file.
    @Test func linksPermissionsAndDevices() throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory, of: ["fib.c", "5"])
        let (file, link) = (directory.file("there/x.csv"), directory.file("link"))
        try directory.makeDirectory("there")
        try writeFile(WholeFileTests.old, to: file)
        chmod(file, 0o604)
        #expect(symlink("there/x.csv", link) == 0)
        let export = ["export", session, "--format", "csv", "-o"]
        #expect(try Fathom.run(export + [link]).status == 0)
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o604)
        #expect(try readFile(file).starts(with: Array("call,caller,".utf8)))
        let piped = try run("sh", ["-c", "\"$@\" | head -c 12", "sh", Fathom.executable] + export + ["/dev/stdout"])
        #expect(piped.stdout == "call,caller,")
        #expect(try Fathom.run(export + [directory.path]).stderr.contains("Is a directory"))
    }

    /// A file system without files that have no name: what lies beside the place goes when a signal comes.
    @Test(.enabled(if: Privilege.mounts)) func namedFiles() throws {
        let directory = try TemporaryDirectory("whole")
        let session = try session(directory)
        let folder = try directory.makeDirectory("folder")
        let file = "\(folder)/file"
        try writeFile(WholeFileTests.old, to: file)
        // Without /proc, a file without a name cannot be given one, so it has one from the beginning.
        let script = """
            umount -l /proc
            "$@" & command=$!
            sleep 0.01
            kill -TERM $command
            wait $command
            """
        let arguments = [Fathom.executable] + words(Command("export SESSION --format csv"), session, file)
        for _ in 0..<5 {
            try run("unshare", ["-m", "sh", "-c", script, "sh"] + arguments)
            let beside = try run("ls", ["-A", folder]).stdout
            #expect(beside == "file\n", "\(beside)")
        }
        let whole = try run("unshare", ["-m", "sh", "-c", "umount -l /proc; exec \"$@\"", "sh"] + arguments)
        #expect(whole.status == 0, "\(whole.stderr)")
        #expect(try readFile(file).starts(with: Array("call,caller,".utf8)))
        #expect(try run("ls", ["-A", folder]).stdout == "file\n")
    }
}
