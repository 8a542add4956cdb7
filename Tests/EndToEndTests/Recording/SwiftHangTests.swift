import TestSupport
import Testing

/// Swift programs that do not get on.
@Suite struct SwiftHangTests {
    private let hangs: Hangs

    init() throws { hangs = try Hangs() }

    private static func program() throws -> String {
        try SwiftHangTests.built.get()
    }

    private static let built = Result {
        let directory = try TemporaryDirectory("swift-hangs-program")
        let output = directory.file("hangs")
        let made = try Fathom.run([
            "build", "--", "swiftc", "-parse-as-library", "-Onone", "-g", "-o", output,
            "\(Binaries.sources)/hangs.swift",
        ])
        try #require(made.status == 0, "\(made.stderr)")
        kept = directory
        return output
    }

    /// Keeps the program's directory for as long as the tests run.
    nonisolated(unsafe) private static var kept: TemporaryDirectory?

    /// The main actor, a task on another thread, and Dispatch: each is found, with what it waits for.
    @Test(arguments: [
        ("main-actor", "blockMainActor()", "sleep"), ("task", "waitInATask()", "sleep"),
        ("group", "waitForGroup()", "dispatch group"), ("semaphore", "waitForSemaphore()", "semaphore"),
    ]) func waits(_ way: String, _ function: String, _ wait: String) throws {
        let watch = try hangs.start(["--timeout", "300ms"], [Self.program(), way])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(hangs.wait { $0.path.contains { $0.hasPrefix(function) } })
        #expect(report.member("kind") == "hang", "\(report)")
        let thread = try #require(report.member("thread").flatMap(report.thread))
        #expect(thread.member("wait") == wait, "\(report)")
    }

    /// A task that is suspended waits, and hangs nobody.
    @Test func suspendedTask() throws {
        let ended = try TestSupport.run(
            Fathom.executable,
            hangs.command(["--timeout", "300ms"], [Self.program(), "suspended"]).dropFirst().map { $0 })
        #expect(ended.status == 0)
        // What runs Swift's tasks on the main thread is the system's, and no call with hooks.
        #expect(hangs.found().isEmpty, "\(hangs.found())")
    }

    /// All threads that run tasks are taken up.
    @Test func pool() throws {
        let watch = try hangs.start(["--timeout", "300ms"], [Self.program(), "pool"])
        defer { withExtendedLifetime(watch) {} }
        #expect(hangs.wait { $0.member("kind") == "pool" } != nil, "\(hangs.found())")
    }

    /// Two serial queues that want each other.
    @Test func queues() throws {
        let watch = try hangs.start(["--timeout", "300ms"], [Self.program(), "queues"])
        defer { withExtendedLifetime(watch) {} }
        let report = try #require(hangs.wait { $0.member("kind") == "deadlock" }, "\(hangs.found())")
        #expect(report.contains("\"wantFirst()\"") && report.contains("\"wantSecond()\""), "\(report)")
        #expect(report.contains("a dispatch queue"))
    }
}
