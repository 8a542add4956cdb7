internal import Glibc
import TestSupport
import Testing

/// Functions that are selected while recording: the same calls as when all are recorded and the reader selects.
@Suite struct FunctionFilterTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("functions") }

    /// The lines of a tree, thread by thread: each call's depth and name. Threads and processes are sorted, because their
    /// order is that of their first calls that were recorded.
    private func tree(_ session: String, _ filters: [String] = []) throws -> [[String]] {
        let output = try Fathom.run(["tree", session, "--no-fold", "--limit", "0"] + filters)
        var threads: [[String]] = [[]]
        for line in output.stdout.split(separator: "\n") {
            if line.hasPrefix("process") || line.hasPrefix("thread") { threads.append([]) }
            let words = line.split(separator: " ", maxSplits: 5)
            // depth, total and its unit, self and its unit, name
            guard words.count == 6, Int(words[0]) != nil else { continue }
            threads[threads.count - 1].append("\(words[0]) \(words[5].drop { $0 == " " })")
        }
        return threads.filter { !$0.isEmpty }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func record(_ command: [String], _ name: String, _ options: [String] = [], in place: String? = nil) throws
        -> String
    {
        let session = directory.file("\(name).fathom")
        let output = try Fathom.run(
            ["record", "-q", "--no-blocked", "-o", session] + options + ["--"] + command, workingDirectory: place)
        #expect(output.status == 0, "\(output.stderr)")
        return session
    }

    /// Expects that selecting while recording keeps what selecting while reading shows, and counts the rest.
    private func expectSame(_ command: [String], _ filters: [[String]], in place: String? = nil) throws {
        let all = try record(command, "all", in: place)
        let calls = try Dump(all).counts().values.reduce(0, +)
        for filter in filters {
            let some = try record(command, "some", filter, in: place)
            let expected = try tree(all, filter), found = try tree(some)
            #expect(!expected.isEmpty, "\(filter) tests nothing")
            #expect(found == expected, "\(filter)")
            let info = try Fathom.run(["info", some, "--format", "json"]).stdout
            let leftOut = try #require(info.firstMatch(of: /"left_out_calls":(\d+)/).flatMap { Int($0.1) })
            #expect(try Dump(some).counts().values.reduce(0, +) + leftOut == calls, "\(filter)")
        }
    }

    private static let branches = [
        ["-F", "W"], ["-N", "W"], ["-H", "W"], ["-C", "W"], ["-F", "b", "-D", "1"], ["-H", "a", "-N", "x"],
        ["-F", "W", "-N", "y"], ["-F", "W", "-H", "x"], ["-C", "W", "-C", "c"], ["-C", "y", "-H", "b"],
        ["-F", "b", "-C", "y", "-D", "2"], ["-N", "/^[xyz]$/"], ["-F", "main", "-F", "W"],
    ]

    @Test(arguments: Build.all) func everyWay(_ build: Build) throws {
        try expectSame([try Binaries.instrumented("branches.c", build)], Self.branches)
    }

    /// A fork's child, another thread, and the image after exec.
    @Test(arguments: Build.two) func inEveryProcess(_ build: Build) throws {
        let program = try Binaries.instrumented("branches.c", build)
        let all = try record([program, "more"], "all")
        for filter in Self.branches.prefix(6) {
            let some = try record([program, "more"], "some", filter)
            #expect(try tree(some) == tree(all, filter), "\(filter)")
        }
    }

    @Test func staticProgram() throws {
        let program = try Binaries.instrumented(
            "branches.c", .gccO2, flags: ["-static"], libraries: Fathom.staticRuntime, variant: "-static")
        try expectSame([program], [["-F", "W"], ["-N", "b"], ["-C", "c"]])
    }

    @Test(arguments: Build.two) func names(_ build: Build) throws {
        let program = [try Binaries.instrumented("names.cpp", build)]
        try expectSame(program, [["-F", "main"], ["-N", "*lambda*"], ["-H", "*::*"]])
    }

    @Test(arguments: [
        (ExportRecording.Program.lua, [["-F", "luaV_execute"], ["-N", "luaH_*", "-H", "luaV_*"], ["-C", "luaM_*"]]),
        (.sqlite, [["-F", "sqlite3VdbeExec"], ["-N", "sqlite3*Mem*"], ["-H", "sqlite3*", "-D", "6"]]),
        (.jq, [["-F", "jv_*"], ["-C", "jvp_utf8*"]]),
        (.zstd, [["-F", "ZSTD_compressBlock*"], ["-H", "ZSTD_*", "-N", "FIO_*"]]),
    ])
    func realPrograms(_ program: ExportRecording.Program, _ filters: [[String]]) throws {
        // One thread: which of two does what is not the same in two runs. And addresses that stay as they are, because Lua
        // looks for strings by them: the sessions' names, which are in the environment, are of one length.
        let command =
            ["setarch", "-R"] + (try ExportRecording.command(program).filter { $0 != "-T2" })
            + (program == .zstd ? ["-T1"] : [])
        let all = try record(command, "all of it", ["--force"], in: ExportRecording.directory)
        for filter in filters {
            let some = try record(command, "its parts", filter + ["--force"], in: ExportRecording.directory)
            let expected = try tree(all, filter), found = try tree(some)
            #expect(expected.joined().count > 10, "\(filter) tests nothing")
            #expect(found == expected, "\(program) \(filter)")
        }
    }

    /// The functions of a library are known before the first of them is called, even those that loading it calls.
    @Test(arguments: Build.two) func libraryLoadedLater(_ build: Build) throws {
        let library = try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=a"], variant: "-a")
        let other = try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=b"], variant: "-b")
        let program = try Binaries.instrumented("dlreopen.c", build)
        let session = try record([program, library, other], "plugin", ["-F", "a_leaf"])
        // Two libraries take turns at the same addresses.
        #expect(try Dump(session).counts() == ["a_leaf": 200])
        #expect(try !Fathom.run(["info", session]).stdout.contains("unselected"))
    }

    @Test(arguments: Build.two) func triggers(_ build: Build) throws {
        let program = [try Binaries.instrumented("branches.c", build)]
        func lines(_ options: [String]) throws -> [String] {
            try tree(try record(program, "t", options)).flatMap { $0 }
        }
        func names(_ lines: some Sequence<String>) -> [String] {
            lines.map { String($0.drop { $0 != " " }.dropFirst()) }
        }
        #expect(try lines(["-T", "W@depth=1"]).filter { $0.hasSuffix("y") }.isEmpty)
        #expect(try lines(["-T", "W@depth=1"]).count { $0.hasSuffix(" x") } == 2)
        #expect(try lines(["-T", "b@min-cost=10s"]) == ["0 main", "1 a", "2 b", "1 d"])
        // Calls that are open when recording stops are marked so.
        let stopped = names(try lines(["-T", "c@stop"])).map { String($0.prefix { $0 != " " }) }
        #expect(stopped == ["main", "a", "b", "W", "x", "y", "z"])
        let started = try lines(["--paused", "-T", "c@start"])
        #expect(names(started.prefix(5)).map { String($0.prefix { $0 != " " }) } == ["main", "a", "b", "c", "W"])
        let marked = try record(program, "m", ["-T", "W@mark,save"])
        #expect(try Fathom.run(["tree", marked]).stdout.matches(of: /-- mark: W/).count == 2)
    }

    /// The outputs of InspectiveC's rules: callers once, and levels that count from the innermost watched call.
    @Test(arguments: Build.two) func watchList(_ build: Build) throws {
        let program = [try Binaries.instrumented("branches.c", build)]
        func watched(_ options: [String]) throws -> [String] {
            try tree(try record(program, "w", ["--watch", "W"] + options)).flatMap { $0 }.map {
                $0.filter { !"*-|".contains($0) }  // what was watched is marked
            }
        }
        let way = ["0 main", "1 a", "2 b"]
        #expect(try watched([]) == way + ["3 W", "3 W"])
        #expect(try watched(["--relative-depth", "1"]) == way + ["3 W", "4 x", "3 W", "4 x"])
        let below = ["3 W", "4 x", "5 y", "6 z"]
        #expect(try watched(["--relative-depth", "64"]) == way + below + below)
        #expect(try watched(["--complete"]).count == 13)
        let all = try record(program, "all")
        for levels in ["0", "1", "2"] {
            let shown = try tree(all, ["--watch", "W", "--relative-depth", levels]).flatMap { $0 }.map {
                $0.filter { !"*-|".contains($0) }
            }
            #expect(try watched(["--relative-depth", levels]) == shown)
        }
        let both = try Fathom.run(["record", "-C", "a", "--watch", "b", "--", "true"])
        #expect(both.status == 64 && both.stderr.contains("take one of them"))
    }

    @Test func saysWhatMatches() throws {
        let program = try Binaries.instrumented("branches.c", .gccO2)
        let session = directory.file("says.fathom")
        let output = try Fathom.run(["record", "-o", session, "-F", "[abc]", "-N", "man", "--", program])
        #expect(output.stderr.contains("fathom: --filter '[abc]': 3 functions\n"))
        #expect(output.stderr.contains("--notrace man matches no function"))
        #expect(output.stderr.contains("did you mean main?"))
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("filter=[abc]") && info.contains("notrace=man"))
        #expect(access("\(session)/functions", F_OK) != 0, "it is there only while it is used")
    }

    @Test(arguments: [
        ("f", "a trigger is FUNC@ACTION"), ("f@", "is no action"), ("f@depth", "is no action"),
        ("f@depth=x", "number of levels"), ("f@min-cost=1", "write 1us"), ("f@mark,fly", "'fly' is no action"),
    ])
    func badTrigger(_ trigger: String, _ message: String) throws {
        let output = try Fathom.run(["record", "-T", trigger, "--", "true"])
        #expect(output.status == 64)
        #expect(output.stderr.contains(message), "\(output.stderr)")
    }
}
