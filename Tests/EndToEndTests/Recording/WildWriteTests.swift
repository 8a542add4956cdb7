import TestSupport
import Testing

/// A program with wild pointers may write over the buffers: the recorder and the readers go on, and what is missing is told.
@Suite struct WildWriteTests {
    @Test(arguments: ["none", "head", "words", "headers", "payloads", "all"], 1...3)
    func isSurvived(_ place: String, _ seed: Int) throws {
        let directory = try TemporaryDirectory("wild")
        let session = directory.file("d")
        let binary = try Binaries.instrumented(
            "wild.c", .gccO2, flags: ["-I\(Binaries.sources)/../../Sources/CTraceFormat/include"])
        let recorded = try run(
            Fathom.executable, ["record", "-o", session, "--", binary, place, "\(seed)"], seconds: 60)
        #expect(recorded.status == 7, "\(recorded.stderr)")
        let truth = try #require(Int(recorded.stdout.dropLast()))
        for command in [["report"], ["dump"], ["tree", "--limit", "9"], ["info", "--check", "--format", "json"]] {
            let output = try run(Fathom.executable, [command[0], session] + command[1...], seconds: 60)
            #expect(output.signal == nil && 0...2 ~= output.status, "\(command): \(output.stderr)")
        }
        let info = try Fathom.run(["info", "--check", session]).stdout
        func number(_ row: String) -> Int {
            info.split(separator: "\n").first { $0.hasPrefix(row) }.flatMap { line in
                line.split(separator: " ").dropFirst().first.flatMap { Int($0.filter { $0 != "," }) }
            } ?? 0
        }
        // All is there, or it is said that not all is.
        if place == "none" { #expect(info.contains("\ndamage       none\n"), "\(info)") }
        if info.contains("\ndamage       none\n") { #expect(number("calls") + number("lost") >= truth, "\(info)") }
    }
}
