internal import Foundation
import TestSupport
import Testing

/// Threads that wait for each other in many ways, while the main thread goes on.
@Suite struct DeadlockTests {
    private let hangs: Hangs

    init() throws { hangs = try Hangs() }

    private func program() throws -> String { try Binaries.instrumented("deadlocks.c", .gccO2) }

    private func run(_ command: [String]) throws -> ProcessOutput {
        try TestSupport.run(command[0], Array(command.dropFirst()))
    }

    private func reports() throws -> [[String: Any]] {
        try hangs.found().map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
    }

    /// Each deadlock is one report, which tells in the end how long it lasted: those that end by a time limit, and those that
    /// the program's end ends.
    @Test func everyWayIsOneReport() throws {
        let output = try run(hangs.urgentCommand(["--timeout", "500ms"], [program(), "2500", "4500"]))
        #expect(output.status == 0, "\(output.stderr)")
        let measured: [String: Double] = try output.numbers()
        #expect(measured.count == 21, "\(output.stdout)")
        let reports = try reports()
        for (name, milliseconds) in measured {
            let found = reports.filter { $0["thread_name"] as? String == name }
            #expect(found.count == 1, "\(name): \(found.count)")
            guard let report = found.first else { continue }
            #expect(report["kind"] as? String == "deadlock" && report["ended"] as? Bool == true, "\(name): \(report)")
            let duration = try #require(report["duration_ns"] as? Double) / 1e6
            #expect(abs(duration - milliseconds) < 600, "\(name): \(duration) instead of \(milliseconds)")
            let circle = try #require(report["circle"] as? [Int])
            let threads = try #require(report["threads"] as? [[String: Any]])
                .filter { circle.contains($0["tid"] as? Int ?? 0) }
            #expect(threads.count == circle.count && threads.allSatisfy { $0["name"] as? String == name }, "\(name)")
            // The kernel refuses the last of three the mutex, and does not say which of the others has it.
            let unknown = threads.filter { $0["owner"] is NSNull }
            #expect(unknown.count <= (name == "inherit_three" ? 1 : 0), "\(name): \(threads)")
            let texts: [String] = threads.compactMap { $0["waits_for"] as? String }
            #expect(texts.count == circle.count, "\(name): \(threads)")
            #expect(!texts.contains { (text: String) in text.contains("a futex") }, "\(name): \(texts)")
        }
        #expect(reports.count == measured.count, "\(reports.map { ($0["kind"] ?? "", $0["thread_name"] ?? "") })")
    }

    /// A deadlock that comes again is another one, and all of them are completed.
    @Test func again() throws {
        let output = try run(hangs.urgentCommand(["--timeout", "300ms"], [program(), "1200", "4000", "loop"]))
        #expect(output.status == 0, "\(output.stderr)")
        let reports = try reports().filter { $0["thread_name"] as? String == "timed" }
        #expect((2...4).contains(reports.count), "\(reports)")
        for report in reports {
            #expect(report["kind"] as? String == "deadlock" && report["ended"] as? Bool == true, "\(report)")
            #expect(try #require(report["duration_ns"] as? Double) < 2e9, "\(report)")
        }
    }

    /// A program that is killed in a deadlock has a report that is complete, and of a deadlock.
    @Test func killed() throws {
        let watch = try hangs.start(["--timeout", "300ms"], [program(), "60000", "60000"])
        let report = try #require(hangs.wait { $0.member("kind") == "deadlock" })
        kill(Int32(report.member("pid") ?? "") ?? 0, SIGKILL)
        #expect(watch.wait() & 0x7f == SIGKILL)
        let reports = try reports()
        #expect(!reports.isEmpty)
        for report in reports {
            #expect(report["kind"] as? String == "deadlock" && report["ended"] as? Bool == true, "\(report)")
        }
    }
}
