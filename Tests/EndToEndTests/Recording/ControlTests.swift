internal import Glibc
import TestSupport
import Testing

/// Programs that steer their own recording by `fathom.h`.
@Suite struct ControlTests {

    private func program(
        _ build: Build, flags: [String] = [], libraries: [String] = [], variant: String = ""
    ) throws -> String {
        try Binaries.instrumented("control.c", build, flags: flags, libraries: libraries, variant: variant)
    }

    /// The lines of a tree from depth on: what does not depend on the machine.
    private func tree(_ session: String) throws -> [String] {
        let output = try Fathom.run(["tree", session])
        #expect(output.status == 0, "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return try lines.map { line in
            if let mark = line.firstRange(of: "-- mark") { return String(line[mark.lowerBound...]) }
            if let sum = line.firstRange(of: "… ") {
                return String(line[sum.lowerBound...].prefix { $0 != "," })
            }
            if line.hasPrefix("process") { return String(line.split(separator: "(").last ?? "") }
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            return ([try fields.at(0)] + fields.dropFirst(5)).joined(separator: " ")
        }
    }

    private static let whole = """
        control)
        0 main (open)
        1 scoped
        2 parse
        3 leaf
        3 lex
        4 leaf (2 calls)
        -- mark: first token
        3 leaf
        1 outer (open)
        2 before
        3 leaf
        0 main (inherited)
        1 outer (inherited)
        2 starter (inherited)
        3 leaf
        2 during
        3 during
        4 leaf
        3 leaf
        0 main (inherited)
        1 outer (open)
        2 before
        … 1 call (not recorded)
        0 main (inherited)
        1 outer (inherited)
        2 starter (inherited)
        … 1 call (not recorded)
        2 during
        … 3 calls (not recorded)
        the worker)
        0 worker
        1 scoped
        2 parse
        3 leaf
        3 lex
        4 leaf (2 calls)
        -- mark: first token
        3 leaf
        """

    /// Position-independent or not, by either compiler: the same tree, and the same output with Fathom and without.
    @Test(arguments: [Build.gccO0, .gccO2, .clangO0, .clangO2], [[], ["-fno-pie", "-no-pie"]])
    func steers(_ build: Build, _ flags: [String]) throws {
        try check(try program(build, flags: flags, variant: flags.isEmpty ? "" : "-fixed"))
    }

    /// So do programs that are linked statically: nothing but the header refers to the table of functions there.
    @Test(arguments: [Build.gccO2, .clangO2], [["-static"], ["-static-pie", "-fPIE", "-fuse-ld=bfd"]])
    func steersStatically(_ build: Build, _ flags: [String]) throws {
        let name = flags[0] == "-static" ? "-static-api" : "-static-pie-api"
        try check(try program(build, flags: flags, libraries: Fathom.staticRuntime, variant: name))
    }

    private func check(_ binary: String) throws {
        let directory = try TemporaryDirectory("control")
        let plain = try run(binary)
        #expect(plain.status == 0)
        let session = directory.file("session.fathom")
        let output = try Fathom.record([binary], into: session, options: ["--quiet", "--no-blocked"])
        #expect(output.stdout == plain.stdout)
        var lines = try tree(session)
        if !lines.isEmpty { lines[0] = "control)" }  // the thread is called as the binary is
        #expect(lines.joined(separator: "\n") == Self.whole)
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("scopes     lex, parse\n"))
        #expect(info.contains("counters   queued\n"))
        #expect(info.contains("damage       none"))
    }

    /// Nothing is recorded before the program starts it; what is open then is known.
    @Test func paused() throws {
        let directory = try TemporaryDirectory("paused")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try program(.gccO2), "paused"], into: session, options: ["--quiet", "--paused"])
        #expect(try tree(session).dropFirst() == ["0 main (inherited)", "1 leaf"])
        #expect(try Dump(session).counts() == ["leaf": 1])
    }

    /// A handler's marks are all there, whatever they interrupted.
    @Test func marksInHandlers() throws {
        let directory = try TemporaryDirectory("marks")
        let session = directory.file("session.fathom")
        let output = try Fathom.record([try program(.gccO2), "signals"], into: session)
        let marks = try Fathom.run(["dump", session]).stdout.split(separator: "\n").filter { $0.hasSuffix(" ticked") }
        #expect(marks.count == Int(output.stdout.prefix { $0 != " " }))
        #expect(try Fathom.run(["info", session]).stdout.contains("damage       none"))
    }

    /// However often recording stops and starts, by whatever options, every call that begins ends, and nothing contradicts.
    @Test(arguments: Build.two) func stress(_ build: Build) throws {
        let directory = try TemporaryDirectory("control-stress")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("control_stress.c", build)
        #expect(try Fathom.record([binary], into: session).stdout == "done\n")
        #expect(try Fathom.run(["info", session]).stdout.contains("damage       none"))
        var kinds: [Substring: Int] = [:]
        for line in try Fathom.run(["dump", session]).stdout.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            if words.count > 1 { kinds[words[1], default: 0] += 1 }
        }
        #expect(kinds["open", default: 0] > 0 && kinds["inherited", default: 0] > 0 && kinds["mark", default: 0] > 0)
        #expect(kinds["lost"] == nil)
        let begun = kinds["enter", default: 0] + kinds["inherited", default: 0]
        #expect(begun == kinds["exit", default: 0] + kinds["unwound", default: 0] + kinds["open", default: 0])
    }

    /// Another package depends on this one as on any: by its address and version, which allows no unsafe flags.
    @Test func swiftPackage() throws {
        let directory = try TemporaryDirectory("control-package")
        let root = "\(Binaries.sources)/../.."
        let package = directory.file("package")
        let steps = """
            set -e
            mkdir fathom && cd fathom
            cp -r '\(root)/Package.swift' '\(root)/Plugins' '\(root)/Sources' '\(root)/Tests' '\(root)/Tools' .
            git init -q && git add -A
            git -c user.name=test -c user.email=test@localhost commit -qm all && git tag 1.0.0
            cd .. && cp -r '\(root)/Traces/packages/control' package
            swift build --package-path package >&2
            swift package --package-path package plugin --list
            """
        let built = try TestSupport.run(
            "sh", ["-c", steps], environment: Fathom.inherited(adding: ["FATHOM_PACKAGE": directory.file("fathom")]),
            workingDirectory: directory.path)
        #expect(built.status == 0, "\(built.stderr.suffix(2000))")
        #expect(built.stdout.contains("‘fathom’ (plugin ‘FathomCommand’ in package ‘fathom’)"), "\(built.stdout)")
        let binary = "\(package)/.build/debug/control"
        #expect(try run(binary).stdout == "5\n")
        let session = directory.file("session.fathom")
        #expect(
            try Fathom.record([binary], into: session, options: ["--quiet", "--force"]).stdout == "5\n")
        let dump = try Fathom.run(["dump", session]).stdout.split(separator: "\n").dropFirst(2)
        let records = dump.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(
            records == [
                "mark begin", "enter work 1", "exit work 1", "enter work 2", "exit work 2", "counter answer = 5.0",
            ])
        #expect(try Fathom.run(["info", session]).stdout.contains("(swift main)"))
    }

    /// Threads that end while recording is stopped are gone from what the others keep of each other.
    @Test(arguments: ["trace", "profile", "counts", "stack"]) func threadsEndWhileStopped(_ mode: String) throws {
        let binary = try Binaries.instrumented("paused_ends.c", .gccO2)
        let directory = try TemporaryDirectory("paused-ends")
        let session = directory.file("session.fathom")
        let recorded = try run(
            "timeout",
            ["-s", "KILL", "60", Fathom.executable, "record", "-q", "--mode", mode, "-o", session, "--", binary])
        #expect(recorded.status == 0, "\(recorded)")
        if mode == "stack" { return }
        let rows = try Listing.rows(["report", session, "--format", "csv"])
        #expect(rows["work"] == 2 && rows["run"] == 1)
    }

    /// A real-time thread that waits for one of lower priority on its CPU lets it run.
    @Test(.enabled(if: Privilege.isRoot)) func realtimeThreads() throws {
        let binary = try Binaries.instrumented("realtime.c", .gccO2)
        let directory = try TemporaryDirectory("realtime")
        let recorded = try Fathom.record([binary], into: directory.file("session.fathom"))
        #expect(recorded.status == 77 || recorded.stdout == "over\n", "signal \(recorded.signal ?? 0)")
    }

    /// Timelines have the marks, and those that can the counters.
    @Test(arguments: [
        ("chrome", [#""ph":"i""#, #""name":"first token","s":"t""#, #""name":"queued","args":{"value":2.5}"#]),
        ("firefox", ["first token", #""markers":{"length":3,"#, #"{"type":"counter","value":2.5}"#]),
        ("perfetto", ["first token", "queued"]),
    ])
    func exports(_ format: String, _ texts: [String]) throws {
        let directory = try TemporaryDirectory("control-exports")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try program(.gccO2)], into: session)
        let file = directory.file("export")
        #expect(try Fathom.run(["export", session, "--format", format, "-o", file]).status == 0)
        let text = String(decoding: try readFile(file), as: UTF8.self)
        for expected in texts { #expect(text.contains(expected), "\(expected)") }
    }
}
