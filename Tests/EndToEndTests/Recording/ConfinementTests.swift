import TestSupport
import Testing

/// Programs that forbid themselves system calls, or the counter: recorded up to there, and otherwise none the wiser.
@Suite struct ConfinementTests {
    private static let ends = ["prctl", "syscall", "tsync", "tsc", "thread"]
    private static let harmless = ["asks", "probes", "fails", "nothing"]

    private func binary(_ build: Build, isStatic: Bool) throws -> String {
        isStatic
            ? try Binaries.instrumented(
                "confined.c", build, flags: ["-static"], libraries: Fathom.staticRuntime,
                variant: "-static")
            : try Binaries.instrumented("confined.c", build)
    }

    private func record(_ binary: String, _ kind: String, into session: String) throws {
        let plain = try run(binary, [kind])
        #expect(plain.status == 3)
        let recorded = try Fathom.record([binary, kind], into: session)
        #expect(recorded.status == 3 && recorded.signal == nil, "\(kind): \(recorded.stderr)")
        #expect(recorded.stdout == plain.stdout)
        #expect(recorded.stderr == plain.stderr)
    }

    @Test(arguments: ends, [true, false]) func recordedUpToThere(_ kind: String, _ isStatic: Bool) throws {
        let directory = try TemporaryDirectory("confined")
        let session = directory.file("session.fathom")
        try record(try binary(.gccO2, isStatic: isStatic), kind, into: session)
        let counts = try Dump(session).counts()
        #expect(counts["before"] == 2)
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("confined itself"))
        #expect(info.contains("damage       none"))
    }

    /// A system call instruction of the program's own is noticed at the next system call of the runtime.
    @Test(arguments: [true, false]) func confinedUnnoted(_ isStatic: Bool) throws {
        let directory = try TemporaryDirectory("confined")
        let session = directory.file("session.fathom")
        try record(try binary(.gccO2, isStatic: isStatic), "inline", into: session)
        #expect(try Dump(session).counts()["before"] == 2)
        #expect(try Fathom.run(["info", session]).stdout.contains("confined itself"))
    }

    /// What only asks, or fails, ends nothing.
    @Test(arguments: harmless, [true, false]) func recordedOn(_ kind: String, _ isStatic: Bool) throws {
        let directory = try TemporaryDirectory("confined")
        let session = directory.file("session.fathom")
        try record(try binary(.clangO0, isStatic: isStatic), kind, into: session)
        let counts = try Dump(session).counts()
        #expect(counts["after"] == 2)
        #expect(counts["leaf"] == 40020)
        #expect(!(try Fathom.run(["info", session]).stdout.contains("confined itself")))
    }
}
