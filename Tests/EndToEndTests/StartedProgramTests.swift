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
            libraries: isStatic ? ["@\(Fathom.products)/libfathom.static"] : [], variant: isStatic ? "-static" : "")
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
