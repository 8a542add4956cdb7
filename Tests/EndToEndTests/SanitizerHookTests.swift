import TestSupport
import Testing

/// Hooks that do not say whose exit they are.
@Suite struct SanitizerHookTests {
    @Test(arguments: Build.all, [[], ["-D", "1000"]]) func treeIsTheTrueOne(build: Build, options: [String]) throws {
        let program = try Binaries.make(
            "sanitizer-\(build.compiler.rawValue)-O\(build.level)", command: build.compiler.rawValue,
            ["-O\(build.level)", "-g"], ["\(Binaries.sources)/sanitizer.c", "\(Fathom.products)/libfathom-swift.o"])
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "3000"], into: session, options: ["--quiet"] + options)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let truth = recorded.stdout.split(separator: "\n").map(String.init)
        #expect(truth.count > 1500)
        // "depth total unit self unit name", and perhaps how it ended.
        let tree = try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n")
            .map { $0.split(separator: " ") }.filter { $0.count > 5 && Int($0[0]) != nil }
            .map { "\($0[0]) \($0[5])" }
        #expect(tree == truth)
    }
}
