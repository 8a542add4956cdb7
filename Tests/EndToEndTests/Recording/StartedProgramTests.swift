import Glibc
import TestSupport
import Testing

/// Programs that a recorded program starts, with an environment of its own.
@Suite struct StartedProgramTests {
    /// In environments.c: eleven by fork, and vfork, posix_spawn and posix_spawnp.
    private static let ways = 14

    /// However they are started, they are recorded, and get what they would get.
    @Test(arguments: [[], ["-static"]])
    func environments(_ flags: [String]) throws {
        let isStatic = !flags.isEmpty
        let binary = try Binaries.instrumented(
            "environments.c", .gccO2, flags: flags,
            libraries: isStatic ? Fathom.staticRuntime : [], variant: isStatic ? "-static" : "")
        let directory = try TemporaryDirectory("environments")
        let session = directory.file("session.fathom")
        let plain = try run(binary, [])
        let recorded = try Fathom.record([binary], into: session)
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.stdout.split(separator: "\n").count == Self.ways, "\(recorded.stdout)")
        #expect(try Dump(session).counts() == ["main": 1 + Self.ways, "leaf": Self.ways])
    }

    /// A library that the program preloads itself stays, beside the runtime.
    @Test func aLibraryOfTheProgram() throws {
        let binary = try Binaries.instrumented("environments.c", .gccO2)
        let directory = try TemporaryDirectory("beside")
        let session = directory.file("session.fathom")
        let library = try Toolchain.compile(
            sources: [
                "noted.c":
                    "#include <unistd.h>\n__attribute__((constructor)) static void note(void) { write(1, \"noted\\n\", 6); }"
            ],
            compiler: .gcc, flags: ["-shared", "-fPIC"], output: directory.file("libnoted.so"))
        let plain = try run(binary, [library])
        let recorded = try Fathom.record([binary, library], into: session)
        #expect(recorded.stdout == plain.stdout)
        // The shells of system and popen have it, too.
        #expect(recorded.stdout.split(separator: "\n").count { $0 == "noted" } == Self.ways + 2)
        #expect(try Dump(session).counts() == ["main": 1 + Self.ways, "leaf": Self.ways])
    }

    /// What has hooks but cannot be recorded is counted, and said, once for each time that it was started.
    @Test func whatIsNotRecordedIsTold() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let isolated = try Binaries.instrumented("fib.c", .gccO2, flags: ["-static"], variant: "-static")
        let directory = try TemporaryDirectory("missed")
        let session = directory.file("session.fathom")
        try run("gcc", ["-static", "-o", directory.file("plain"), "\(Binaries.sources)/fib.c"])
        let script = """
            '\(binary)' 10; '\(isolated)' 10; PATH='\(directory.path)' exec_nothing; cd '\(directory.path)' && ./plain 10
            exec '\(isolated)' 11
            """
        let recorded = try Fathom.record(["sh", "-c", script], into: session, options: ["--force"])
        #expect(recorded.stdout == "55\n55\n55\n89\n")
        #expect(recorded.stderr.contains("2 programs with hooks not recorded"), "\(recorded.stderr)")
        let lines = try Fathom.run(["info", session]).stdout.split(separator: "\n").filter {
            $0.hasPrefix("  process ")
        }
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasSuffix(" \(isolated): statically linked without the runtime") })
        #expect(try Dump(session).counts() == ["main": 1, "fib": 177])
    }

    /// A program for another C library runs as ever: its loader is given nothing to preload.
    @Test(.enabled(if: access("/usr/bin/musl-gcc", X_OK) == 0))
    func musl() throws {
        let directory = try TemporaryDirectory("musl")
        let session = directory.file("session.fathom")
        try run("musl-gcc", ["-o", directory.file("plain"), "\(Binaries.sources)/fib.c"])
        let script = "'\(directory.file("plain"))' 10; exec '\(directory.file("plain"))' 11"
        let recorded = try Fathom.record(["sh", "-c", script], into: session, options: ["--force"])
        #expect(recorded.stdout == "55\n89\n")
        #expect(recorded.status == 0)
        #expect(!recorded.stderr.contains("with hooks not recorded"))
    }

    /// An empty FATHOM_SESSION keeps a program out of the recording.
    @Test func leftOutByRequest() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let directory = try TemporaryDirectory("request")
        let session = directory.file("session.fathom")
        let script = "'\(binary)' 10; FATHOM_SESSION= '\(binary)' 11; env -i '\(binary)' 12"
        #expect(
            try Fathom.record(["sh", "-c", script], into: session, options: ["--force", "-q"]).stdout == "55\n89\n144\n"
        )
        #expect(try Dump(session).counts() == ["main": 2, "fib": 177 + 465])
    }
}
