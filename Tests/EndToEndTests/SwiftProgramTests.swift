import TestSupport
import Testing

/// Programs that `fathom build` compiles by `swiftc` alone.
@Suite struct SwiftProgramTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func build(_ kind: SwiftBuildKind, _ arguments: [String]) throws -> String {
        let program = directory.file("program")
        let built = try run(
            Fathom.executable,
            ["build"] + (kind.everyFunction ? ["--every-function"] : []) + ["--", "swiftc"]
                + (kind.configuration == "debug" ? ["-Onone", "-g"] : ["-O"]) + arguments + ["-o", program],
            environment: Fathom.inherited(adding: ["XDG_CACHE_HOME": directory.file("cache")]), seconds: 900)
        try #require(built.status == 0, Comment(rawValue: built.stderr))
        #expect(built.stderr.hasSuffix("fathom: 1 of 1 files compiled with hooks\n"), Comment(rawValue: built.stderr))
        return program
    }

    /// The standard library in the program; or all libraries, and then the runtime too, for nothing is loaded.
    @Test(arguments: [SwiftBuildKind.all[2], SwiftBuildKind.all[3]], ["-static-stdlib", "-static-executable"])
    func staticLibraries(kind: SwiftBuildKind, option: String) throws {
        let source = try directory.write(
            """
            @inline(never) func twice(_ value: Int) throws -> Int { print(value); return value * 2 }
            @inline(never) func nap() async throws -> Int {
                try await Task.sleep(nanoseconds: 5_000_000)
                return try twice(21)
            }
            print(try await nap())
            """, to: "main.swift")
        let program = try build(kind, [option, source])
        #expect(try run(program).stdout == "21\n42\n")
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        #expect(recorded.stdout == "21\n42\n", Comment(rawValue: recorded.stderr))
        #expect(try Listing.rows(["report", session, "--format", "csv"])["twice(_:)"] == 1)
        let waits = try Listing.rows(["report", session, "--format", "csv", "--callees", "nap()"])
        #expect(waits["twice(_:)"] == 1)
        let task = try Fathom.run(["tree", session, "--thread", "task *", "--filter", "nap()"]).stdout
        #expect(task.contains(" nap() (") && task.contains(" suspended)\n") && task.contains("  (suspended)\n"))
    }

    /// A static program that was built without Fathom has nothing to record, and that is said.
    @Test func staticWithoutRuntime() throws {
        let source = try directory.write("print(1)\n", to: "main.swift")
        let program = directory.file("program")
        try run("swiftc", ["-static-executable", source, "-o", program])
        let recorded = try Fathom.record([program], into: directory.file("s"))
        #expect(recorded.status == 126)
        #expect(recorded.stderr.contains("statically linked") && recorded.stderr.split(separator: "\n").count == 1)
    }

    /// What Foundation's threads and Dispatch's call is there, each call on its thread.
    @Test(arguments: SwiftBuildKind.all) func threads(kind: SwiftBuildKind) throws {
        let program = try build(kind, ["\(Binaries.sources)/dispatch.swift"])
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let calls = try Listing.rows(["report", session, "--format", "csv"])
        for (name, count) in [
            ("work()", 1166), ("closure #1 in threads(_:)", 3), ("closure #1 in perform(_:)", 1000),
            ("closure #1 in global(_:)", 100), ("closure #1 in serial(_:)", 50),
        ] {
            #expect(calls[name] == count, Comment(rawValue: name))
        }
        #expect(!calls.keys.contains { $0.hasPrefix("block_") })
        // "process program · thread name"
        let threads = try Listing.rows([
            "report", session, "--format", "csv", "--by", "thread", "--filter", "work()", "--max-depth", "0",
        ])
        var found: [Substring: Int] = [:]
        for (name, calls) in threads { found[name.split(separator: " ")[3]] = calls }
        var truth: [Substring: Int] = [:]
        for line in recorded.stdout.split(separator: "\n") {
            let words = line.split(separator: " ")
            truth[words[0]] = Int(words[1])
        }
        #expect(found == truth && truth.count > 4)
    }

    /// Names as reports show them, or in full.
    @Test func whichFunctionsHaveHooks() throws {
        let source = try directory.write(
            "struct Account { @inline(never) func deposit(_ amount: Int) { print(amount) } }\nAccount().deposit(1)\n",
            to: "main.swift")
        let program = try build(SwiftBuildKind.all[0], ["-module-name", "bank", source])
        let names = try Fathom.run(["info", program]).stdout
        #expect(names.contains("\n+ Account.deposit(_:)\n") && !names.contains("$s"), Comment(rawValue: names))
        let raw = try Fathom.run(["info", program, "--raw-names"]).stdout
        #expect(raw.contains("\n+ bank.Account.deposit(Swift.Int) -> ()\n"), Comment(rawValue: raw))
    }
}
