internal import Glibc
import TestSupport
import Testing

/// The runtime trusts nothing that the shared buffers say of themselves.
struct RuntimeFuzzTests {
    @Test func mutatedBuffers() throws {
        let directory = try TemporaryDirectory("fuzz")
        let session = directory.file("session.fathom")
        // A recorder that is killed leaves the buffers behind.
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "--force", "--quiet", "-o", session, "--", "/bin/sleep", "5",
        ])
        let opened = waitUntil { access(session + "/buffers", F_OK) == 0 && access(session + "/trace", F_OK) == 0 }
        recorder.signal(SIGKILL)
        recorder.wait()
        try #require(opened)
        let sources = "\(Binaries.sources)/../../Sources"
        let fuzzer = try Binaries.make(
            "fuzz_session", command: "gcc",
            [
                "-g", "-O1", "-std=gnu17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                "-I\(sources)/CTraceFormat/include", "-I\(sources)/CTraceRuntime/include", "-I\(sources)/CTraceRuntime",
            ],
            ["\(Binaries.sources)/fuzz_session.c"]
                + [
                    "host/system", "host/vectors", "session/session", "session/slots", "session/await",
                ].map { "\(sources)/CTraceRuntime/\($0).c" })
        let output = try run(fuzzer, [session, "10000"])
        #expect(output.status == 0, "\(output.stderr)")
    }
}
