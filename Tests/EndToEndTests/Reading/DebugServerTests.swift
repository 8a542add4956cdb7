import Glibc
import TestSupport
import Testing

/// Debug information from a server, where the user has set one.
@Suite(.enabled(if: Toolchain.isInstalled("debuginfod"))) struct DebugServerTests {
    private let directory: TemporaryDirectory

    /// Records a stripped program whose symbols are below `served` alone.
    init() throws {
        directory = try TemporaryDirectory("debug server")
        _ = try directory.makeDirectory("served")
        let program = directory.file("p")
        let made = try run(
            "gcc",
            [
                "-g", "-O0", "-finstrument-functions", "\(Binaries.sources)/fib.c",
                "-I\(Binaries.repository)/Sources/CFathom/include", "-o", program,
            ])
        try #require(made.status == 0, "\(made.stderr)")
        _ = try run("objcopy", ["--only-keep-debug", program, directory.file("served/anything.debug")])
        _ = try run("strip", [program])
        let recorded = try Fathom.record([program, "10"], into: directory.file("s"))
        #expect(recorded.status == 0, "\(recorded.stderr)")
    }

    private func report(_ urls: String) throws -> ProcessOutput {
        try Fathom.run(
            ["report", directory.file("s")],
            environment: [
                "DEBUGINFOD_URLS": urls, "DEBUGINFOD_CACHE_PATH": directory.file("cache"), "DEBUGINFOD_TIMEOUT": "5",
            ])
    }

    @Test func served() throws {
        let without = try report("")
        #expect(!without.stdout.contains("fib.c") && without.stdout.contains("p+0x"))
        let port = 20_000 + Int(getpid()) % 20_000
        let server = try BackgroundProcess([
            "debuginfod", "-p", "\(port)", "-d", directory.file("db"), "-F", directory.file("served"),
        ])
        defer { server.signal(SIGTERM) }
        // The server looks through its files when it has begun to answer.
        #expect(
            waitUntil(seconds: 2) {
                _ = try? run("rm", ["-rf", directory.file("cache")])
                return (try? report("http://127.0.0.1:\(port)"))?.stdout.contains("fib.c") == true
            })
        let served = try report("http://127.0.0.1:\(port)")
        #expect(served.status == 0 && served.stderr.isEmpty && !served.stdout.contains("p+0x"), "\(served.stderr)")
    }

    /// One message, whatever is asked for, and what is known is shown.
    @Test func nobodyAnswers() throws {
        let output = try report("http://127.0.0.1:1")
        #expect(output.status == 0 && output.stdout.contains("p+0x"), "\(output.stdout)")
        #expect(
            output.stderr.split(separator: "\n").filter { $0.contains("DEBUGINFOD_URLS") }.count == 1,
            "\(output.stderr)")
    }
}
