import TestSupport
import Testing

/// A Swift package as `fathom build` builds it.
struct SwiftBuildKind: Sendable, CustomTestStringConvertible {
    var configuration: String
    var everyFunction: Bool

    static let all = [
        SwiftBuildKind(configuration: "debug", everyFunction: false),
        SwiftBuildKind(configuration: "debug", everyFunction: true),
        SwiftBuildKind(configuration: "release", everyFunction: false),
        SwiftBuildKind(configuration: "release", everyFunction: true),
    ]

    var testDescription: String { configuration + (everyFunction ? " --every-function" : "") }

    /// Builds a package, in a place of its own.
    ///
    /// - Returns: the directory of its products.
    func build(package: String, product: String, options: [String] = []) throws -> String {
        let scratch = Fathom.testProducts + "/TracedPackages/\(product)-" + (everyFunction ? "every" : "plain")
        let build = try run(
            Fathom.executable,
            ["build"] + (everyFunction ? ["--every-function"] : []) + [
                "--", "swift", "build", "-c", configuration, "--product", product, "--package-path", package,
                "--scratch-path", scratch,
            ] + options, seconds: 900)
        try #require(build.status == 0, Comment(rawValue: build.stdout + build.stderr))
        return "\(scratch)/\(configuration)"
    }
}

/// Packages of Swift and C, built as they are.
@Suite struct SwiftPackageTests {
    private static let package = Binaries.sources + "/../packages/tally"

    /// Calls nothing: without `--every-function` it may be missing.
    private static let leaves: Set<String> = ["leaf(_:)"]
    /// Closures that the optimiser puts where they are called.
    private static let inlined: Set<String> = ["closure #2 in closures(_:)", "closure #3 in closures(_:)"]

    /// The program counts its calls itself.
    @Test(arguments: SwiftBuildKind.all) func countsAreExact(kind: SwiftBuildKind) throws {
        let program = try kind.build(package: Self.package, product: "tally") + "/tally"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))

        // It runs without Fathom, wherever it lies.
        let copy = directory.file("copy")
        try run("cp", [program, copy])
        #expect(try run(copy).stdout.sorted() == recorded.stdout.sorted())

        var missing = kind.everyFunction ? [] : Self.leaves
        if kind.configuration == "release" { missing.formUnion(Self.inlined) }
        let truth = Self.counts(recorded.stdout)
        #expect(truth.count > 30)
        let functions = try Self.rows(["report", session, "--format", "csv"])
        let shown = try Self.treeCounts(session)
        for (name, count) in truth {
            for calls in [functions[name], shown[name]] where calls != nil || !missing.contains(name) {
                #expect(calls == count, Comment(rawValue: name))
            }
        }
        for name in functions.keys {
            for word in ["outlined", "metadata", "witness", "thunk", "specialization", "forwarder", "__swift_", "0x"] {
                #expect(!name.contains(word), Comment(rawValue: name))
            }
        }
    }

    /// Thunks and specialisations are not in the way.
    @Test(arguments: SwiftBuildKind.all) func callersCallWhatTheirSourceSays(kind: SwiftBuildKind) throws {
        let program = try kind.build(package: Self.package, product: "tally") + "/tally"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        _ = try Fathom.record([program], into: session)
        let callees = try Self.rows(["report", session, "--format", "csv", "--callees", "total(_:)"])
        let expected = ["Rectangle.area()": 10, "Polygon.area()": 10, "Star.area()": 10, "Shape.name()": 30]
        for (name, count) in expected { #expect(callees[name] == count, Comment(rawValue: name)) }
        let star = try Self.rows(["report", session, "--format", "csv", "--callees", "Star.area()"])
        #expect(star["Polygon.area()"] == 10)

        let raw = try Self.rows(["report", session, "--format", "csv", "--raw-names"])
        #expect(raw["Engine.Rectangle.area() -> Swift.Int"] == 20)
        if kind.configuration == "release" {
            #expect(raw.keys.contains { $0.hasPrefix("generic specialization <") })
        }
    }

    /// Somebody else's package: swift-argument-parser, with an example of its own.
    @Test(arguments: [SwiftBuildKind.all[0], SwiftBuildKind.all[3]])
    func argumentParser(kind: SwiftBuildKind) throws {
        let package = Fathom.testProducts + "/../../checkouts/swift-argument-parser"
        let program = try kind.build(package: package, product: "math") + "/math"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "stats", "average", "1", "2", "6"], into: session)
        #expect(recorded.stdout == "3.0\n", Comment(rawValue: recorded.stderr))
        let calls = try Self.rows(["report", session, "--format", "csv"])
        #expect(calls["CommandParser.parse(arguments:)"] == 1)
        let tree = try Fathom.run(["tree", session, "--filter", "CommandParser.parse(arguments:)", "--max-depth", "1"])
        #expect(tree.stdout.contains("    CommandParser.parseBesidesCustomCompletion(arguments:)"))
        let balanced = try Fathom.run(["tree", session]).stdout
        #expect(!balanced.contains("(open)") && !balanced.contains("(unwound)"))
    }

    /// The standard library in the program.
    @Test(arguments: [SwiftBuildKind.all[2], SwiftBuildKind.all[3]])
    func staticStandardLibrary(kind: SwiftBuildKind) throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            @inline(never) func twice(_ value: Int) throws -> Int { print(value); return value * 2 }
            @inline(never) func nap() async throws -> Int {
                try await Task.sleep(nanoseconds: 5_000_000)
                return try twice(21)
            }
            print(try await nap())
            """, to: "main.swift")
        let options = kind.everyFunction ? ["--every-function"] : []
        let build = try run(
            Fathom.executable,
            ["build"] + options + ["--", "swiftc", "-O", "-static-stdlib", "main.swift", "-o", "program"],
            workingDirectory: directory.path, seconds: 900)
        try #require(build.status == 0, Comment(rawValue: build.stderr))
        let session = directory.file("s")
        let recorded = try Fathom.record([directory.file("program")], into: session)
        #expect(recorded.stdout == "21\n42\n", Comment(rawValue: recorded.stderr))
        #expect(try Self.rows(["report", session, "--format", "csv"])["twice(_:)"] == 1)
        let waits = try Self.rows(["report", session, "--format", "csv", "--callees", "nap()"])
        #expect(waits["twice(_:)"] == 1)
        let task = try Fathom.run(["tree", session, "--thread", "task *", "--filter", "nap()"]).stdout
        #expect(task.contains(" nap() (") && task.contains(" suspended)\n") && task.contains("  (suspended)\n"))
    }

    @Test func buildsThatCannotBeTraced() throws {
        for (command, reason) in [
            (["swift", "package", "clean"], "swift package"),
            (["swift", "build", "--sanitize=thread"], "-sanitize=thread"),
        ] {
            let result = try Fathom.run(["build", "--"] + command)
            #expect(result.status == 1)
            #expect(result.stderr.contains(reason) && result.stderr.split(separator: "\n").count == 1)
        }
    }

    // MARK: Reading

    /// What the program printed: a count and a name on each line.
    private static func counts(_ output: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in output.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 1)
            if let count = Int(fields[0]), count > 0 { counts[String(fields[1])] = count }
        }
        return counts
    }

    /// Calls by function of a report as CSV.
    private static func rows(_ arguments: [String]) throws -> [String: Int] {
        let report = try Fathom.run(arguments)
        try #require(report.status == 0, Comment(rawValue: report.stderr))
        let lines = report.stdout.split(separator: "\n").map(fields)
        let header = try #require(lines.first)
        let name = try #require(header.firstIndex(of: "name"))
        let calls = try #require(header.firstIndex(of: "calls"))
        var rows: [String: Int] = [:]
        for line in lines.dropFirst() { rows[line[name], default: 0] += Int(line[calls]) ?? 0 }
        return rows
    }

    private static func fields(_ line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields
    }

    /// Calls by function of the tree, line by line.
    private static func treeCounts(_ session: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in try Fathom.run(["tree", session, "--no-fold"]).stdout.split(separator: "\n") {
            var words = line.split(separator: " ")
            // depth, total and its unit, self and its unit, name; of a call that waited, "(12.3 ms suspended)"
            guard words.count > 5, Int(words[0]) != nil else { continue }
            if words.last == "suspended)" { words.removeLast(3) }
            counts[words[5...].joined(separator: " "), default: 0] += 1
        }
        return counts
    }
}

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
