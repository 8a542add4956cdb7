import TestSupport
import Testing

/// Hooks that do not say whose exit they are.
@Suite struct SanitizerHookTests {
    @Test(arguments: Build.all, [[], ["-D", "1000"]]) func treeIsTheTrueOne(build: Build, options: [String]) throws {
        let program = try Self.program("sanitizer", build)
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "3000"], into: session, options: ["--quiet"] + options)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let truth = recorded.stdout.split(separator: "\n").map(String.init)
        #expect(truth.count > 1500)
        #expect(try Self.tree(session).map { "\($0[0]) \($0[1])" } == truth)
        #expect(try Fathom.run(["info", session]).stdout.contains(", 1 exit without a call"))
    }

    /// What is open is known when recording starts, whatever came before.
    @Test(arguments: Build.all) func isFollowedWhilePaused(build: Build) throws {
        let program = try Self.program("sanitizer", build)
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "3000", "paused"], into: session, options: ["--quiet", "--paused"])
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let tree = try Self.tree(session).map { $0.joined(separator: " ") }
        #expect(tree == ["0 main (inherited)", "1 all the rest (inherited)", "2 leaf", "0 leaf"])
    }

    /// Each call's depth, name, and perhaps how it began and ended.
    static func tree(_ session: String) throws -> [[Substring]] {
        // "depth total unit self unit name", and what there is to say.
        let lines = try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n")
        let fields = lines.map { $0.split(separator: " ") }.filter { $0.count > 5 && Int($0[0]) != nil }
        return fields.map { [$0[0]] + $0.dropFirst(5) }
    }

    private static func program(_ name: String, _ build: Build) throws -> String {
        try Binaries.make(
            "\(name)-\(build.compiler.rawValue)-O\(build.level)", command: build.compiler.rawValue,
            ["-O\(build.level)", "-g", "-I\(Binaries.sources)/../../Sources/CFathom/include"],
            ["\(Binaries.sources)/\(name).c", "\(Fathom.products)/libfathom-swift.o"])
    }
}
