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
}
