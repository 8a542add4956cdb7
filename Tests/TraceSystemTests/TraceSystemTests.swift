internal import Glibc
import TestSupport
import Testing
import TraceSystem
import TraceText

@Suite struct SystemClockTests {
    @Test func clocks() {
        let monotonic = SystemClock.monotonic, realtime = SystemClock.realtime
        #expect(SystemClock.monotonic >= monotonic && monotonic > 0)
        #expect(SystemClock.sinceBoot >= monotonic)
        #expect(abs(Int(realtime / 1_000_000_000) - time(nil)) <= 2)
    }
}

@Suite struct DirectoryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("system") }

    /// Names that are no text come out as they are, and lead back to their files.
    @Test func names() throws {
        let raw = String(raw: [UInt8(ascii: "a"), 0xff, 0xfe])
        for name in ["b", ".c", raw] {
            #expect("\(directory.path)/\(name)".withRawCString { close(creat($0, 0o600)) } == 0)
        }
        try directory.makeDirectory("d")
        let found = try #require(Directory.entries(of: directory.path)).sorted { $0.name < $1.name }
        #expect(Set(found.map(\.name)) == ["b", ".c", raw, "d"])
        #expect(found.first { $0.name == "d" }?.kind == Int(DT_DIR))
        let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        for _ in 0..<2 { #expect(Directory.names(in: descriptor).map(Set.init) == Set(found.map(\.name))) }
        Directory.remove(directory.path)
        #expect(access(directory.path, F_OK) != 0)
    }

    @Test func missingDirectories() {
        #expect(Directory.names(in: directory.file("none")) == nil && errno == ENOENT)
        #expect(Directory.names(in: -2) == nil && errno == EBADF)
        #expect(throws: SystemError.self) { try Directory.makeTemporary("x", in: directory.file("none")) }
        Directory.remove(directory.file("none"))
    }

    /// What a link in the directory leads to stays.
    @Test func removing() throws {
        let kept = try directory.write("text", to: "kept")
        let made = try Directory.makeTemporary("made", in: directory.path)
        var status = stat()
        #expect(stat(made, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(made.hasPrefix(directory.file("made-")))
        #expect(mkdir(made + "/below", 0o700) == 0 && symlink(kept, made + "/below/link") == 0)
        #expect(symlink(directory.path, made + "/up") == 0)
        Directory.remove(made)
        #expect(access(made, F_OK) != 0 && access(kept, F_OK) == 0)
    }
}

@Suite struct ChildProgramTests {
    @Test func statusAndStreams() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let program = ChildProgram(input: .nothing, output: .descriptor(ends[1]), errors: .nothing)
        let status = try program.run("/bin/sh", ["sh", "-c", "cat; echo out; echo err >&2; exit 3"])
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &bytes, bytes.count)
        close(ends[0])
        #expect(status >> 8 == 3 && String(decoding: bytes[..<max(count, 0)], as: UTF8.self) == "out\n")
    }

    /// A signal that this program ignores, or that the thread has blocked, ends the child if it is told so.
    @Test(.serialized, arguments: [true, false]) func signals(_ isBlocked: Bool) throws {
        var usual = sigset_t(), none = sigset_t(), one = sigset_t()
        sigemptyset(&none)
        sigaddset(&one, SIGUSR1)
        let before = isBlocked ? SIG_DFL : signal(SIGUSR1, SIG_IGN)
        pthread_sigmask(SIG_BLOCK, &one, &usual)
        defer {
            pthread_sigmask(SIG_SETMASK, &usual, nil)
            signal(SIGUSR1, before)
        }
        var program = ChildProgram()
        if !isBlocked { program.blockedSignals = none }
        let words = ["sh", "-c", "kill -USR1 $$; exit 4"]
        #expect(try program.run("/bin/sh", words) >> 8 == 4)
        program.blockedSignals = none
        program.defaultSignals = one
        #expect(try program.run("/bin/sh", words) & 0x7f == SIGUSR1)
    }

    @Test func missingPrograms() throws {
        let error = #expect(throws: SystemError.self) { try ChildProgram().run("/none", ["none"]) }
        #expect(error?.subject == "/none" && error?.errno == ENOENT)
        #expect(error?.description == "/none: No such file or directory")
        #expect(throws: SystemError.self) { try ChildProgram().start("sh", ["sh"]) }
        #expect(try ChildProgram.wait(for: ChildProgram().start("true", ["true"], isSearched: true)) == 0)
        #expect(throws: SystemError.self) { try ChildProgram.wait(for: getpid()) }
    }
}
