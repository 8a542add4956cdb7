import Glibc
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

    var testDescription: String { configuration + (everyFunction ? "" : " --no-every-function") }

    /// Builds a package, in a place of its own.
    ///
    /// - Parameter product: nil for all.
    /// - Returns: the directory of its products.
    func build(package: String, product: String?, name: String? = nil, options: [String] = []) throws -> String {
        let name = name ?? product ?? "package"
        let built = try swift(
            "build", package: package, name: name, (product.map { ["--product", $0] } ?? []) + options)
        try #require(built.status == 0, Comment(rawValue: built.stdout + built.stderr))
        return "\(scratch(name))/\(configuration)"
    }

    /// Runs `swift build`, `swift run` or `swift test` through Fathom.
    ///
    /// - Parameter name: tells where it is built.
    func swift(_ command: String, package: String, name: String, _ options: [String]) throws -> ProcessOutput {
        try run(
            Fathom.executable,
            ["build"] + (everyFunction ? [] : ["--no-every-function"]) + [
                "--", "swift", command, "-c", configuration, "--package-path", package, "--scratch-path", scratch(name),
            ] + options,
            environment: Fathom.inherited(adding: ["XDG_CACHE_HOME": Fathom.testProducts + "/TracedPackages/cache"]),
            seconds: 900)
    }

    func scratch(_ name: String) -> String {
        Fathom.testProducts + "/TracedPackages/\(name)-" + (everyFunction ? "every" : "plain")
    }
}

/// Packages of Swift and C, built as they are.
@Suite struct SwiftPackageTests {
    private static let package = Binaries.sources + "/../packages/tally"

    /// Calls nothing: with `--no-every-function` it may be missing.
    private static let leaves: Set<String> = ["leaf(_:)"]
    /// Closures that the optimiser puts where they are called.
    private static let inlined: Set<String> = ["closure #2 in closures(_:)", "closure #3 in closures(_:)"]

    @Test(arguments: SwiftBuildKind.all) func countsAreExact(kind: SwiftBuildKind) throws {
        try Self.expectCounts(of: try kind.build(package: Self.package, product: "tally") + "/tally", kind)
    }

    /// The build system that comes with Swift besides: its compilers find nothing in their environment.
    @Test(arguments: [SwiftBuildKind.all[0], SwiftBuildKind.all[3]])
    func otherBuildSystem(kind: SwiftBuildKind) throws {
        let options = ["--product", "tally", "--build-system", "swiftbuild"]
        _ = try kind.build(package: Self.package, product: nil, name: "swiftbuild", options: options)
        let answer = try kind.swift("build", package: Self.package, name: "swiftbuild", options + ["--show-bin-path"])
        try Self.expectCounts(of: answer.stdout.filter { !$0.isNewline } + "/tally", kind)
    }

    /// The program counts its calls itself.
    private static func expectCounts(of program: String, _ kind: SwiftBuildKind) throws {
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
        let truth = try Self.counts(recorded.stdout)
        #expect(truth.count > 30)
        let functions = try Listing.rows(["report", session, "--format", "csv"])
        let shown = try Listing.treeCounts(session)
        #expect(functions["tally"] == truth.values.reduce(0, +))
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
        let callees = try Listing.rows(["report", session, "--format", "csv", "--callees", "total(_:)"])
        let expected = ["Rectangle.area()": 10, "Polygon.area()": 10, "Star.area()": 10, "Shape.name()": 30]
        for (name, count) in expected { #expect(callees[name] == count, Comment(rawValue: name)) }
        let star = try Listing.rows(["report", session, "--format", "csv", "--callees", "Star.area()"])
        #expect(star["Polygon.area()"] == 10)

        // Into C, and back.
        let swift = try Listing.rows(["report", session, "--format", "csv", "--callees", "throughC(_:)"])
        #expect(swift["repeat_call"] == 10 && swift["header_sum"] == 10)
        let c = try Listing.rows(["report", session, "--format", "csv", "--callees", "repeat_call"])
        #expect(c["closure #1 in throughC(_:)"] == 45)

        let raw = try Listing.rows(["report", session, "--format", "csv", "--raw-names"])
        #expect(raw["Engine.Rectangle.area() -> Swift.Int"] == 20)
        if kind.configuration == "release" {
            #expect(raw.keys.contains { $0.hasPrefix("generic specialization <") })
        }
    }

    /// Somebody else's package, all of it: swift-argument-parser, whose examples are recorded.
    @Test(arguments: [SwiftBuildKind.all[0], SwiftBuildKind.all[3]]) func argumentParser(kind: SwiftBuildKind) throws {
        let package = Fathom.testProducts + "/../../checkouts/swift-argument-parser"
        var built: String?
        try withKnownIssue("a compiler with assertions stops at the IR that it wrote itself of this package") {
            built = try kind.build(package: package, product: nil, name: "argument-parser")
        } when: {
            kind.everyFunction && Toolchain.swiftHasAssertions
        }
        guard let products = built else { return }
        let directory = try TemporaryDirectory()
        let rolls =
            kind.configuration == "debug" ? "static ParsableArguments.parseOrExit(_:)" : "RollOptions.init(from:)"
        for (command, output, function) in [
            (["math", "stats", "average", "1", "2", "6"], "3.0\n", "Math.Statistics.Average.run()"),
            (["roll", "--times", "20", "--sides", "1"], "20\n", rolls),
            (["repeat", "--count", "2", "more"], "more\nmore\n", "Repeat.run()"),
            (["color", "--fav", "red"], "My favorite color is red\n", "Color.run()"),
            (["default-as-flag", "--number-flag", "7"], nil, "DefaultAsFlag.run()"),
        ] {
            let session = directory.file(command[0])
            let program = ["\(products)/\(command[0])"] + command.dropFirst()
            let recorded = try Fathom.record(program, into: session)
            let plain = try run(program[0], Array(program[1...]))
            #expect(recorded.status == 0 && recorded.stdout == plain.stdout)
            if let output { #expect(recorded.stdout == output, Comment(rawValue: recorded.stderr)) }
            let calls = try Listing.rows(["report", session, "--format", "csv"])
            #expect(calls["CommandParser.parse(arguments:)"] == 1 && calls[function] == 1, "\(function)")
            let tree = try Fathom.run([
                "tree", session, "--filter", "CommandParser.parse(arguments:)", "--max-depth", "1",
            ])
            #expect(tree.stdout.contains("    CommandParser.parseBesidesCustomCompletion(arguments:)"))
            let whole = try Fathom.run(["tree", session]).stdout
            #expect(!whole.contains("(open)") && !whole.contains("(unwound)"))
        }
        // What ends by exit(3) does so with all its calls.
        let session = directory.file("refused")
        #expect(try Fathom.record(["\(products)/repeat"], into: session).status == 64)
        #expect(try Listing.rows(["report", session, "--format", "csv"])["CommandParser.parse(arguments:)"] == 1)
    }

    /// The build runs programs of the package's, with hooks, and uses what they say; its tests are built and recorded, too.
    @Test(arguments: [SwiftBuildKind.all[0], SwiftBuildKind.all[1]])
    func toolsAndTests(kind: SwiftBuildKind) throws {
        let products = try kind.build(
            package: Binaries.sources + "/../packages/tools", product: nil, name: "tools", options: ["--build-tests"])
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        #expect(try Fathom.record(["\(products)/app"], into: session).stdout == "42\n42\n43\n86\n")
        let calls = try Listing.rows(["report", session, "--format", "csv"])
        for name in ["expanded(_:)", "generated(_:)", "twice(_:)"] {
            #expect(calls[name] == 1, Comment(rawValue: name))
        }

        let tests = "\(products)/toolsPackageTests.xctest"
        for (options, test, count) in [
            ([], "LibraryTests.testTwice()", 3), (["--testing-library", "swift-testing"], "twiceByTesting()", 2),
        ] {
            let session = directory.file(test)
            let recorded = try Fathom.record([tests] + options, into: session)
            #expect(recorded.status == 0, Comment(rawValue: recorded.stdout + recorded.stderr))
            let calls = try Listing.rows(["report", session, "--format", "csv"])
            #expect(calls["twice(_:)"] == count && calls[test] == 1, "\(calls)")
        }

        // What builds before it runs: nothing is left to build.
        for (command, output) in [(["test"], "Test run with 1 test"), (["run", "app"], "42\n42\n43\n86\n")] {
            let ran = try kind.swift(
                command[0], package: Binaries.sources + "/../packages/tools", name: "tools", Array(command[1...]))
            #expect(ran.status == 0 && ran.stdout.contains(output), Comment(rawValue: ran.stdout + ran.stderr))
        }
        let recorded = try Fathom.record(["\(products)/app"], into: directory.file("again"))
        #expect(recorded.status == 0, Comment(rawValue: recorded.stderr))
    }

    /// A tree that was built without Fathom is built anew, all of it, and the other way round.
    @Test func treesAreNeverMixed() throws {
        let kind = SwiftBuildKind.all[0]
        let options = ["--product", "tally"]
        let plain = { () throws -> ProcessOutput in
            let arguments = ["build", "-c", kind.configuration, "--package-path", Self.package, "--scratch-path"]
            return try run("swift", arguments + [kind.scratch("mixed")] + options, seconds: 900)
        }
        let hooked = { () throws -> Set<String> in
            let functions = try Fathom.run(["info", "\(kind.scratch("mixed"))/\(kind.configuration)/tally"]).stdout
            return Set(functions.split(separator: "\n").filter { $0.hasPrefix("+ ") }.map { String($0.dropFirst(2)) })
        }
        try #require(try plain().status == 0)
        #expect(try hooked() == [])
        _ = try kind.build(package: Self.package, product: "tally", name: "mixed")
        #expect(try hooked().isSuperset(of: ["static Main.main()", "total(_:)", "repeat_call", "tally_print"]))
        try #require(try plain().status == 0)
        #expect(try hooked() == [])
    }

    /// What has hooks is built in a place of its own: neither build removes what the other one made, and each says where its
    /// programs are.
    @Test func placesOfTheirOwn() throws {
        let directory = try TemporaryDirectory(), package = directory.file("tally"),
            place = directory.file("tally/Sources")
        try run("cp", ["-r", Self.package, package])
        let environment = ["XDG_CACHE_HOME": directory.file("cache")]
        let build = ["swift", "build", "--product", "tally"]
        let plain = try run(build[0], Array(build.dropFirst()), workingDirectory: package, seconds: 900)
        try #require(plain.status == 0, "\(plain.stdout)\(plain.stderr)")
        // From a folder below the package, too.
        let built = try Fathom.run(["build", "--"] + build, environment: environment, workingDirectory: place)
        try #require(built.status == 0, "\(built.stdout)\(built.stderr)")
        #expect(
            built.stderr.hasSuffix("fathom: 1 Swift package built with hooks: \(package)/.build/fathom/debug/tally\n"),
            "\(built.stderr)")
        let again = try run(build[0], Array(build.dropFirst()), workingDirectory: package, seconds: 900)
        #expect(again.status == 0 && !(again.stdout + again.stderr).contains("ompiling"), "\(again)")
        let asked = try Fathom.run(
            ["build", "--", "swift", "build", "--show-bin-path"], environment: environment, workingDirectory: package)
        #expect(asked.stdout.hasPrefix("\(package)/.build/fathom/"), "\(asked)")

        let refused = try Fathom.run(["record", "--", ".build/debug/tally"], workingDirectory: package)
        #expect(refused.status == 126)
        #expect(
            refused.stderr.contains(
                "record .build/fathom/debug/tally, which fathom build has made; or make it anew: fathom build -- swift"),
            "\(refused.stderr)")
        let recorded = try Fathom.run(
            ["record", "--quiet", "--", ".build/fathom/debug/tally"], workingDirectory: package)
        #expect(recorded.status == 0, "\(recorded.stderr)")
        let release = "\(package)/.build/release"
        try run("mkdir", ["-p", release])
        try run("cp", ["\(package)/.build/debug/tally", release])
        let other = try Fathom.run(["record", "--", ".build/release/tally"], workingDirectory: package)
        #expect(
            other.stderr.contains(
                "which fathom build has made in the other configuration; or make it anew: fathom build -- swift build -c release"
            ), "\(other.stderr)")
    }

    /// `swift package fathom` in somebody's package, which depends on Fathom's.
    @Test func commandPlugin() throws {
        let directory = try TemporaryDirectory(), package = directory.file("hello")
        try run("mkdir", ["-p", "\(package)/Sources/hello", "\(package)/Sources/other"])
        let manifest = { (targets: String) in
            """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(
                name: "hello", dependencies: [.package(name: "fathom", path: "\(Binaries.repository)")],
                targets: [\(targets)])
            """
        }
        try directory.write(manifest(#".executableTarget(name: "hello")"#), to: "hello/Package.swift")
        try directory.write(
            """
            @inline(never) func twice(_ n: Int) -> Int { n * 2 }
            print(CommandLine.arguments.dropFirst().map { twice(Int($0) ?? 0) })
            """, to: "hello/Sources/hello/main.swift")
        try directory.write("print(1)\n", to: "hello/Sources/other/main.swift")
        let swift = { (words: [String], program: String) throws(TestSupportError) -> ProcessOutput in
            try run(
                "swift", ["package", "fathom"] + words,
                environment: Fathom.inherited(
                    adding: ["FATHOM_BIN": program, "XDG_CACHE_HOME": directory.file("cache")]),
                workingDirectory: package, seconds: 900)
        }
        let recorded = try swift(["record", "--quiet", "--", "3", "4"], Fathom.executable)
        #expect(recorded.status == 0 && recorded.stdout.hasSuffix("[6, 8]\n"), "\(recorded.stdout)\(recorded.stderr)")
        #expect(try Listing.rows(["report", "\(package)/hello.fathom", "--format", "csv"])["twice(_:)"] == 2)
        // Other commands are fathom's own.
        let tree = try swift(["tree", "hello.fathom"], Fathom.executable)
        #expect(tree.status == 0 && tree.stdout.contains("  twice(_:) (2 calls)\n"), "\(tree)")
        #expect(try swift(["tree", "nosuch.fathom"], Fathom.executable).status != 0)

        try directory.write(
            manifest(#".executableTarget(name: "hello"), .executableTarget(name: "other")"#), to: "hello/Package.swift")
        let unnamed = try swift(["record"], Fathom.executable)
        #expect(unnamed.status != 0 && unnamed.stderr.contains("--product hello, or other"), "\(unnamed)")
        let named = try swift(
            ["record", "--configuration", "debug", "--product", "other", "-o", "o.fathom"], Fathom.executable)
        #expect(named.status == 0 && named.stdout.contains("\n1\n"), "\(named)")
        #expect(access("\(package)/.build/fathom/debug/other", X_OK) == 0)
        #expect(access("\(package)/o.fathom", F_OK) == 0)
    }

    @Test func buildsThatCannotBeTraced() throws {
        let directory = try TemporaryDirectory()
        for (command, reason) in [
            (["swift", "package", "clean"], "swift package"),
            (["swift", "build", "--sanitize=thread"], "-sanitize=thread"),
        ] {
            let result = try Fathom.run(
                ["build", "--"] + command, environment: ["XDG_CACHE_HOME": directory.file("cache")])
            #expect(result.status == 1)
            #expect(result.stderr.contains(reason) && result.stderr.split(separator: "\n").count == 1)
        }
    }

    /// What the program printed: a count and a name on each line.
    private static func counts(_ output: String) throws(TestSupportError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in output.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 1)
            if let count = Int(try fields.at(0)), count > 0 { counts[String(try fields.at(1))] = count }
        }
        return counts
    }
}
