import Glibc
import TestSupport
import Testing

/// Programs that give up rights while they are recorded.
@Suite struct PrivilegeTests {
    /// Buffers that a program comes to need later are had without a path, a descriptor or rights. With buffers of 4 MB each
    /// is mapped by itself.
    @Test(arguments: ["closefrom", "nofile", "chroot", "rights"])
    func furtherBuffers(_ way: String) throws {
        let binary = try Binaries.instrumented("descriptors.c", .gccO2)
        let directory = try TemporaryDirectory("buffers")
        let session = directory.file("session.fathom")
        let plain = try run(binary, [way])
        let recorded = try Fathom.record([binary, way], into: session, options: ["--buffer-size", "4M"])
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.status == plain.status)
        #expect(Fathom.missingCalls(recorded.stderr) == 0, "\(recorded.stderr)")
        #expect(try Dump(session).counts() == Truth.counts([binary, way]))
    }

    /// `fathom record` ends as its program does, at once, and what goes on is recorded to its end, without rights too.
    @Test func aDaemonToItsEnd() throws {
        let binary = try Binaries.instrumented("rights.c", .gccO2)
        let directory = try TemporaryDirectory("daemon")
        let session = directory.file("session.fathom")
        let recorded = try Fathom.record([binary, "1000000", directory.file("go")], into: session, options: [])
        #expect(recorded.status == 0)
        let line = try #require(recorded.stderr.split(separator: "\n").first { $0.contains("still running") })
        #expect(line.contains(session))
        // "... goes on in the background (pid 18) until all have ended"
        let recorder = try #require(
            line.firstRange(of: "background (pid ").flatMap {
                Int32(line[$0.upperBound...].prefix { $0.isNumber })
            })
        #expect(kill(recorder, 0) == 0)
        #expect(try Fathom.record([binary], into: session).stderr.contains("is being recorded right now"))

        try writeFile([1], to: directory.file("go"))
        #expect(waitUntil { access(session + "/buffers", F_OK) != 0 }, "the last look was taken")
        let info = try Fathom.run(["info", session, "--format", "json"]).stdout
        // main and serve.
        #expect(info.contains("\"calls\":1000002,"), "\(info)")
        #expect(info.contains("\"unplaced_calls\":0,"))
        #expect(info.contains("\"damage\":[]"))
    }

    /// Of a session that only its owner may look into, nobody says that it is none.
    @Test(.enabled(if: Privilege.isRoot)) func sessionsOfOthers() throws {
        let binary = try Binaries.instrumented("rights.c", .gccO2)
        let directory = try TemporaryDirectory("others")
        chmod(directory.path, 0o755)
        let session = directory.file("private.fathom")
        #expect(try Fathom.record([binary], into: session).status == 0)
        chmod(session, 0o700)
        func asNobody(_ arguments: [String]) throws -> ProcessOutput {
            try run(
                "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", Fathom.executable] + arguments,
                workingDirectory: directory.path)
        }
        for command in [
            ["tree", session], ["tree"], ["info", "private.fathom"], ["report", directory.file("private")],
        ] {
            let read = try asNobody(command)
            #expect(read.status != 0 && read.stdout.isEmpty)
            #expect(
                read.stderr.contains(
                    "private.fathom: you may not look into it (permission denied); it belongs to user root"),
                "\(command): \(read.stderr)")
        }
    }
}
