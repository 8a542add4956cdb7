import TestSupport
import Testing

/// `fathom build` before builds that call `swiftc` among other compilers.
@Suite struct SwiftProjectTests {
    /// `sum_squares` is called for 1, 2 and 3, and calls Swift as often as it is told.
    private static let output = "20 6\n"
    private static let calls = ["main": 1, "sum_squares": 3, "square": 6, "multiplied(_:)": 6, "note": 6, "noted": 1]

    private func expectCalls(_ found: [String: Int]) {
        for (function, count) in Self.calls { #expect(Self.calls(function, in: found) == count, "\(function)") }
    }

    /// The dump has Swift's names in full.
    private static func calls(_ function: String, in found: [String: Int]) -> Int {
        let stem = function.prefix { $0 != "(" }
        if stem.count == function.count { return found[function] ?? 0 }
        return found.reduce(0) { $0 + ($1.key.contains(".\(stem)(") ? $1.value : 0) }
    }

    /// A program linked by `swiftc`, and one of C, linked by `cc`, with Swift in a library.
    @Test(arguments: [[], ["--no-every-function"]]) func make(_ options: [String]) throws {
        let project = try Project("swift")
        let built = try project.build(["make", "-j2"], options: options)
        #expect(built.status == 0, "\(built.stderr)")
        #expect(built.stderr.hasSuffix("fathom: 4 of 4 files compiled with hooks\n"), "\(built.stderr)")
        for program in ["app", "capp"] {
            expectCalls(try project.calls(of: program, printing: Self.output))
            let tree = try Fathom.run(["tree", project.directory.file("session.fathom"), "--no-fold"])
            let names = tree.stdout.split(separator: "\n").map { String($0.split(separator: " ").last ?? "") }
            let callees = zip(names, names.dropFirst())
            #expect(callees.count { $0 == ("square", "multiplied(_:)") } == 6, "\(tree.stdout)")
            #expect(callees.count { $0 == ("multiplied(_:)", "note") } == 6)
        }
    }

    @Test func cmake() throws {
        let project = try Project("swift")
        try project.cmake(["-G", "Ninja"])
        expectCalls(try project.calls(of: "out/app", printing: Self.output))
    }

    /// Swift's objects of a build without Fathom are not linked with others, by `swiftc` nor by `cc`.
    @Test func mixed() throws {
        let project = try Project("swift")
        #expect(try run("make", [], workingDirectory: project.path).status == 0)
        for (source, remedy) in [
            ("squares.c", "main.o, square.o were compiled without Fathom; clean"),
            ("cmain.c", "was compiled without Fathom; clean"),
        ] {
            try run("touch", ["\(project.path)/\(source)"])
            let program = source == "cmain.c" ? "capp" : "app"
            let mixed = try project.build(["make", program])
            #expect(mixed.status != 0)
            #expect(mixed.stderr.contains(remedy), "\(mixed.stderr)")
        }
        #expect(try project.build(["make"], options: ["--keep-going"]).status == 0)
        #expect(try run("\(project.path)/app").stdout == Self.output)
    }

    /// What leaves functions out is not for Swift, and that is said.
    @Test func exclusions() throws {
        let project = try Project("swift")
        let built = try project.build(["make", "app"], options: ["--exclude-function", "note"])
        #expect(built.status == 0)
        #expect(built.stderr.contains("fathom: warning: Swift code has all hooks"), "\(built.stderr)")
        let calls = try project.calls(of: "app", printing: Self.output)
        #expect(calls["note"] == nil && Self.calls("multiplied(_:)", in: calls) == 6)
    }

    /// A compiler named by its path goes through Fathom, and what only asks or interprets is left alone.
    @Test func byPath() throws {
        let project = try Project("swift")
        let swiftc = try run("sh", ["-c", "command -v swiftc"]).stdout.filter { !$0.isNewline }
        let command = [
            swiftc, "-import-objc-header", "squares.h", "main.swift", "square.swift", "squares.o", "-o", "app",
        ]
        #expect(try project.build(["make", "squares.o"]).status == 0)
        let built = try project.build(command)
        #expect(built.stderr.hasSuffix("fathom: 2 of 2 files compiled with hooks\n"), "\(built.stderr)")
        expectCalls(try project.calls(of: "app", printing: Self.output))
        let asked = try project.build(["sh", "-c", "swiftc -print-target-info && swift --version"])
        #expect(asked.stdout.contains("runtimeResourcePath") && asked.stdout.contains("Swift version"))
        #expect(asked.stderr.contains("nothing was to be compiled"))
    }
}
