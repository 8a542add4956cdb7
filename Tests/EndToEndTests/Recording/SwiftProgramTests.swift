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
            ["build"] + (kind.everyFunction ? ["--every-function"] : ["--no-every-function"]) + ["--", "swiftc"]
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

    /// Every function has hooks, too, where the linker optimises and where the code counts for coverage.
    @Test(arguments: [["-lto=llvm-full", "-use-ld=lld"], ["-profile-generate", "-profile-coverage-mapping"]])
    func everyFunctionOfOtherCode(options: [String]) throws {
        let source = try directory.write(
            """
            @inline(never) func leaf(_ n: Int) -> Int { n &+ 1 }
            @inline(never) func twice(_ n: Int) -> Int { leaf(leaf(n)) }
            print(twice(Int(CommandLine.argc)))
            """, to: "main.swift")
        let program = try build(SwiftBuildKind.all[3], options + [source])
        let session = directory.file("s")
        let recorded = try Fathom.record(
            [program], into: session, environment: ["LLVM_PROFILE_FILE": directory.file("profile")])
        #expect(recorded.stdout == "3\n", Comment(rawValue: recorded.stderr))
        let calls = try Listing.rows(["report", session, "--format", "csv"])
        #expect(calls["twice(_:)"] == 1 && calls["leaf(_:)"] == 2, "\(calls)")
    }

    /// What runs of a task on the main thread is called by `main`: it stays, however deep and short, and is joined.
    @Test(arguments: [SwiftBuildKind.all[0], SwiftBuildKind.all[2]], [["-t", "200us"], ["-D", "0"]])
    func optionsKeepTasks(kind: SwiftBuildKind, options: [String]) throws {
        let source = try directory.write(
            """
            @inline(never) func leaf(_ n: Int) -> Int { "\\(n)".count }
            @MainActor @inline(never) func descend(_ n: Int) async -> Int {
                var sum = (0..<20).reduce(0) { $0 + leaf(n + $1) }
                await Task.yield()
                if n > 0 { sum += await descend(n - 1) }
                await Task.yield()
                return sum + leaf(n)
            }
            print(await descend(9))
            """, to: "main.swift")
        let program = try build(kind, [source])
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session, options: ["--quiet"] + options)
        #expect(recorded.stdout == (try run(program).stdout), Comment(rawValue: recorded.stderr))
        let tree = try Fathom.run(["tree", session, "--thread", "task *", "--no-fold"]).stdout
        let calls = tree.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.contains("descend(_:)") }
        #expect(
            calls.map { Int($0[0]) ?? 0 } == Array(0..<10).map { (Int(calls.first?[0] ?? "") ?? 0) + $0 },
            Comment(rawValue: tree)
        )
        #expect(!tree.contains("(resumed)"))
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("damage       none"))
        let leaves = try Listing.rows(["report", session, "--format", "csv"])["leaf(_:)"] ?? 0
        #expect(leaves < 210 && (options[0] == "-t" || leaves == 0))
        // "left out   N calls, by the options".
        let line = info.split(separator: "\n").first { $0.hasPrefix("left out ") }
        #expect(
            (try line.flatMap { Int(try $0.split(separator: " ").at(2)) } ?? 0) >= 210 - leaves, Comment(rawValue: info)
        )
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
        for (name, calls) in threads { found[try name.split(separator: " ").at(3)] = calls }
        var truth: [Substring: Int] = [:]
        for line in recorded.stdout.split(separator: "\n") {
            let words = line.split(separator: " ")
            truth[try words.at(0)] = Int(try words.at(1))
        }
        #expect(found == truth && truth.count > 4)
    }

    /// The code of main.swift that awaits is the task's outermost call, whatever parts the compiler makes of it.
    @Test(arguments: SwiftBuildKind.all) func asynchronousMain(kind: SwiftBuildKind) throws {
        let source = try directory.write(
            """
            import Dispatch
            @inline(never) func leaf(_ step: Int) { print(step) }
            leaf(1)
            var start = DispatchTime.now().uptimeNanoseconds
            var now = start
            while now - start < 20_000_000 { now = DispatchTime.now().uptimeNanoseconds }
            var busy = now - start
            try await Task.sleep(nanoseconds: 30_000_000)
            start = DispatchTime.now().uptimeNanoseconds
            now = start
            while now - start < 20_000_000 { now = DispatchTime.now().uptimeNanoseconds }
            busy += now - start
            leaf(3)
            print(busy)
            """, to: "main.swift")
        let program = try build(kind, [source])
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        let busy = try #require(
            UInt64(recorded.stdout.split(separator: "\n").last ?? ""), Comment(rawValue: recorded.stderr))
        // 0.1 % for the rates of two clocks.
        #expect(try selfTimeOfMain(session) >= busy - busy / 1000)
    }

    /// The optimiser may put it all into the thunk that the program's task begins with.
    @Test(arguments: SwiftBuildKind.all) func shortAsynchronousMain(kind: SwiftBuildKind) throws {
        let source = try directory.write(
            """
            @inline(never) func leaf(_ step: Int) { print(step) }
            leaf(1)
            try await Task.sleep(nanoseconds: 3_000_000)
            leaf(3)
            """, to: "main.swift")
        let program = try build(kind, [source])
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        #expect(recorded.stdout == "1\n3\n", Comment(rawValue: recorded.stderr))
        _ = try selfTimeOfMain(session)
    }

    /// Expects one task, with the calls leaf, some waiting, leaf in one of main.
    ///
    /// - Returns: main's self time in ns.
    private func selfTimeOfMain(_ session: String) throws -> UInt64 {
        let export = try Fathom.run(["export", session, "--format", "csv", "-o", "-", "--thread", "task *"])
        // call,caller,pid,tid,lane,depth,name,module,start,total,self,state
        let calls = export.stdout.split(separator: "\n").dropFirst().map(csvFields)
        try #require(calls.allSatisfy { $0.count == 12 }, "\(export.stdout)")
        #expect(Set(calls.map { $0[3] }).count == 1)
        let roots = calls.filter { $0[5] == "0" }
        #expect(roots.map { $0[6] } == ["main"])
        let callees = calls.filter { $0[5] == "1" }.map { $0[6] }.filter { $0 == "leaf(_:)" || $0 == "(suspended)" }
        #expect(callees.first == "leaf(_:)" && callees.last == "leaf(_:)", "\(callees)")
        #expect(callees.count { $0 == "leaf(_:)" } == 2 && callees.contains("(suspended)"))
        let names = Set(try Listing.rows(["report", session, "--format", "csv"]).keys)
        #expect(!names.contains { $0.contains("async_Main") })
        return try UInt64(#require(roots.first)[10]) ?? 0
    }

    /// The optimiser may put the beginning of a function into its caller, and leave the rest: that has the function's name.
    @Test(arguments: [SwiftBuildKind.all[2], SwiftBuildKind.all[3]]) func inlinedBeginning(kind: SwiftBuildKind) throws
    {
        let steps = (0..<12).map { step in
            "    total += leaf(total &* \(step)); if total > \(step) { total -= leaf(total &+ \(step)) }\n"
        }.joined()
        let source = try directory.write(
            """
            @inline(never) func leaf(_ n: Int) -> Int { if n == -1 { print(n) }; return n & 0xff }
            @inline(never) func nap(_ n: Int) async throws -> Int {
                try await Task.sleep(nanoseconds: 1_000_000)
                return leaf(n)
            }
            func outer(_ n: Int) async throws -> Int {
                var total = try await nap(n)
            \(steps)
                total += try await nap(total)
            \(steps)
                return total
            }
            @inline(never) func many() async throws -> Int {
                var sum = 0
                for n in 0..<3 { sum += try await outer(n) }
                return try await sum + outer(10)
            }
            print(try await many())
            """, to: "main.swift")
        let program = try build(kind, [source])
        let session = directory.file("s")
        let recorded = try Fathom.record([program], into: session)
        #expect(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let calls = try Listing.rows(["report", session, "--format", "csv"])
        #expect(calls["outer(_:)"] == 4 && !calls.keys.contains { $0.hasSuffix("(resumed)") }, "\(calls)")
        let callees = try Listing.rows(["report", session, "--format", "csv", "--callees", "outer(_:)"])
        #expect(callees["leaf(_:)"] ?? 0 > 0)
        let threads = try Listing.rows(["report", session, "--format", "csv", "--thread", "*"])
        #expect(threads["outer(_:) (resumed)"] ?? 0 > 0)
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
