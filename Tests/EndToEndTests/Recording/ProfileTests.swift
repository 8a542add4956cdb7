internal import Glibc
import TestSupport
import Testing

/// Calls that are added up by their paths while the program runs: the sums are those of a recording of each call.
@Suite struct ProfileTests {
    enum Mode: String, CaseIterable, Sendable { case profile, counts }

    private let directory: TemporaryDirectory
    private var trace: String { directory.file("trace.fathom") }
    private var sums: String { directory.file("sums.fathom") }

    init() throws { directory = try TemporaryDirectory("profile") }

    private func record(_ mode: String, _ command: [String], _ options: [String] = []) throws -> ProcessOutput {
        try Fathom.record(command, into: mode == "trace" ? trace : sums, options: ["--mode", mode] + options)
    }

    /// Records a program in both ways, which does the same each time, and compares.
    private func compare(_ mode: Mode, _ command: [String], _ options: [String] = []) throws {
        let recorded = try record("trace", command, options), other = try record(mode.rawValue, command, options)
        #expect(recorded.status == other.status && recorded.signal == other.signal)
        let tool = try run(
            "\(Binaries.repository)/Tools/compare-paths", ["--fathom", Fathom.executable, trace, sums])
        #expect(tool.status == 0 && tool.stdout.contains(" 0 different"), "\(tool.stdout)\(tool.stderr)")
        let info = try Fathom.run(["info", "--check", sums])
        #expect(info.stdout.contains("damage       none"), "\(info.stdout)")
    }

    static let programs: [[String]] = [
        ["fib.c", "15"], ["paths.c", "3000", "5"], ["paths.c", "900", "3", "fork"], ["jumps.c"], ["coroutines.c"],
        ["stacks.cpp", "nested"], ["stacks.cpp", "jump"], ["stacks.cpp", "throw"], ["stacks.cpp", "link"],
        ["ending.cpp", "exit"], ["ending.cpp", "throw"], ["steps.c"], ["deep.c", "400"],
    ]

    @Test(arguments: programs, Mode.allCases)
    func sameAsTrace(_ program: [String], _ mode: Mode) throws {
        for build in Build.two {
            let binary = try Binaries.instrumented(program[0], build)
            try compare(mode, [binary] + program.dropFirst())
        }
    }

    /// A program that starts paused, and starts and stops recording itself.
    @Test(arguments: Mode.allCases)
    func pauses(_ mode: Mode) throws {
        let binary = try Binaries.instrumented("control.c", .gccO2)
        try compare(mode, [binary, "started"], ["--paused"])
    }

    @Test(arguments: [3, 8, 14], Mode.allCases)
    func torture(_ seed: Int, _ mode: Mode) throws {
        try TortureTests.expectRight([
            "\(seed)", "--calls", "600", "--builds", "gcc-O2,clang-O0", "--record", "--mode \(mode.rawValue)",
        ])
    }

    /// One library takes the addresses that another one had.
    /// Calls that wait are added up, too, by the paths in which they wait.
    @Test func waits() throws {
        let binary = try Binaries.instrumented("requests.c", .gccO2)
        let session = directory.file("waits.fathom")
        let recorded = try Fathom.record(
            [binary, "1000", "600"], into: session, options: ["--mode", "profile", "--blocked"])
        #expect(recorded.status == 0, "\(recorded.stderr)")
        let rows = try Fathom.run(["report", "--format", "csv", session]).stdout.split(separator: "\n")
        let row = try #require(rows.first { $0.contains("nanosleep") }, "\(rows)")
        #expect(row.contains(",1,"), "\(row)")
        let folded = try Fathom.run(["export", "--format", "folded", "-o", "-", session]).stdout
        #expect(folded.contains("handle;wait_for_disk;"), "\(folded)")
        let none = try Fathom.run(["waits", session])
        #expect(none.status == 1 && none.stderr.contains("has the sums of calls that wait"), "\(none.stderr)")
    }

    @Test func reusedAddresses() throws {
        let libraries = try ["a", "b"].map { name in
            try Binaries.make(
                "libprofile-\(name).so", command: "gcc",
                [
                    "-g", "-O1", "-shared", "-fPIC", "-finstrument-functions", "-DNAME=\(name)",
                    "-I\(Binaries.repository)/Traces/programs",
                ],
                ["\(Binaries.sources)/plugin.c"])
        }
        let binary = try Binaries.instrumented("dlreopen.c", .gccO2, libraries: ["-ldl"])
        try compare(.profile, [binary] + libraries)
    }

    /// No more paths are kept than were asked for; calls that have none are counted where they came from.
    @Test(arguments: Mode.allCases)
    func bound(_ mode: Mode) throws {
        let binary = try Binaries.instrumented("paths.c", .gccO2)
        let recorded = try record(mode.rawValue, [binary, "20000", "50"], ["--max-paths", "1000"])
        #expect(recorded.stderr.contains("1,000 call paths, the most that --max-paths allows"), "\(recorded.stderr)")
        let words = recorded.stderr.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
        func number(before word: String) -> Int {
            words.indices.dropFirst().filter { words[$0] == word }
                .compactMap { Int(words[$0 - 1].filter { $0 != "," }) }.reduce(0, +)
        }
        // 20,000 functions called 50 times, and what calls them; each is counted once.
        #expect((1_000_000...1_000_100).contains(number(before: "calls")), "\(recorded.stderr)")
        let bytes = try readFile(sums + "/trace").count
        // A path, and a unit of durations for each two doublings that a busy machine spreads its 50 calls over.
        #expect(bytes < 1000 * 800, "\(bytes) bytes for 1000 paths")
        let info = try Fathom.run(["info", sums])
        #expect(info.stdout.contains("1,000 call paths") && info.stdout.contains("--max-paths"), "\(info.stdout)")
    }

    /// What is kept does not grow with the time that a program runs.
    @Test func memoryIsFlat() throws {
        let binary = try Binaries.instrumented("paths.c", .gccO2)
        var sizes: [Int] = []
        for rounds in ["20", "400"] {
            #expect(try record("profile", [binary, "500", rounds], ["--max-paths", "300", "-q"]).status == 0)
            sizes.append(try readFile(sums + "/trace").count)
            _ = try run("rm", ["-r", sums])
        }
        // Longer runs meet a few more durations.
        #expect(sizes[1] < sizes[0] * 2, "\(sizes)")
    }

    /// Whoever is killed: the numbers are those of that moment.
    @Test(arguments: CrashTests.Victim.allCases, 0..<6)
    func nothingIsLost(_ victim: CrashTests.Victim, _ seed: Int) throws {
        let binary = try Binaries.instrumented("progress.c", seed % 2 == 0 ? .gccO2 : .clangO0)
        let progress = try SharedProgress(directory.file("progress"))
        let mode = seed % 3 == 2 ? "counts" : "profile"
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "--mode", mode, "-o", sums, "--quiet", "--", binary,
            directory.file("progress"),
        ])
        #expect(waitUntil { progress.calls > 0 })
        CrashTests.pause(seed)
        let soFar = progress.calls
        let live = try calls(of: "leaf")
        #expect(live >= soFar && live <= progress.calls + 1, "read while it is recorded")
        victim.kill(recorder, progress)
        let calls = progress.calls
        #expect(try (calls...calls + 1).contains(self.calls(of: "leaf")))
        #expect(try self.calls(of: "main") == 1 && self.calls(of: "outer") == 10 && self.calls(of: "forever") == 1)
    }

    /// The calls of a function, which must be there.
    private func calls(of function: String) throws -> Int {
        let report = try Fathom.run(["report", "--raw", "--limit", "0", "--format", "json", sums])
        #expect(report.status == 0 && !report.stderr.contains("damage"), "\(report.stderr)")
        let row = try #require(report.stdout.split(separator: "\n").first { $0.contains("\"\(function)\"") })
        let start = try #require(row.firstRange(of: "\"calls\":"), "\(row)").upperBound
        return try #require(Int(row[start...].prefix { $0.isNumber }), "\(row)")
    }

    /// A program with wild pointers may write over what was added up: hooks follow nothing that they find there.
    @Test(arguments: ["words", "headers", "payloads", "all"], Mode.allCases)
    func wildWritesAreSurvived(_ place: String, _ mode: Mode) throws {
        let binary = try Binaries.instrumented(
            "wild.c", .gccO2, flags: ["-I\(Binaries.sources)/../../Sources/CTraceFormat/include"])
        #expect(try record(mode.rawValue, [binary, place, "5"]).status == 7)
        for command in [["report"], ["graph", "--format", "json"], ["info", "--check"]] {
            let output = try Fathom.run([command[0], sums] + command[1...])
            #expect(output.signal == nil && 0...2 ~= output.status, "\(command): \(output.stderr)")
        }
    }

    @Test(arguments: Mode.allCases)
    func viewsOfSingleCallsSayWhyNot(_ mode: Mode) throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let recorded = try record(mode.rawValue, [binary, "10"])
        #expect(recorded.stderr.contains("next: fathom report "), "\(recorded.stderr)")
        let refused: [[String]] = [
            ["tree", sums], ["dump", sums], ["tail", sums, "fib"], ["flame", "--time-order", "-o", "/dev/null", sums],
            ["report", "--from", "1ms", sums], ["export", "--format", "chrome", "-o", "/dev/null", sums],
            ["export", "--format", "perfetto", "-o", "/dev/null", sums],
            ["export", "--format", "firefox", "-o", "/dev/null", sums],
            ["export", "--format", "csv", "-o", "/dev/null", sums],
            ["export", "--format", "parquet", "--calls", "-o", "/dev/null", sums],
        ]
        for arguments in refused {
            let output = try Fathom.run(arguments)
            #expect(output.status == 1, "\(arguments): \(output.status) \(output.stderr)")
            #expect(output.stderr.contains("record --mode trace keeps calls"), "\(arguments): \(output.stderr)")
            #expect(output.stderr.split(separator: "\n").count == 1, "\(output.stderr)")
        }
        for arguments in [["tune", sums], ["flame", "-o", "/dev/null", sums]] {
            let output = try Fathom.run(arguments)
            #expect(output.status == (mode == .profile ? 0 : 1), "\(arguments): \(output.stderr)")
        }
        for arguments in [
            ["report", sums], ["report", "--by", "thread", sums], ["graph", sums], ["graph", sums, "fib"],
            ["diff", sums, sums], ["export", "--format", "folded", "-o", "/dev/null", sums],
            ["export", "--format", "pprof", "-o", "/dev/null", sums],
            ["export", "--format", "callgrind", "-o", "/dev/null", sums],
            ["export", "--format", "dot", "-o", "/dev/null", sums], ["info", sums],
            ["info", "--tree", sums],
        ] {
            let output = try Fathom.run(arguments)
            #expect(output.status == 0, "\(arguments): \(output.stderr)")
        }
    }

    @Test func optionsThatDoNotFit() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        for (options, reason) in [
            (["--mode", "profile", "-D", "3"], "--max-depth is for --mode trace and flight"),
            (["--mode", "counts", "--baseline"], "--baseline is for --mode trace and profile"),
            (["--mode", "profile", "-F", "fib"], "naming functions is for --mode trace and flight"),
            (["--max-paths", "10"], "--max-paths is for --mode profile, counts and stack"),
            (["--mode", "profile", "--max-paths", "0"], "--max-paths is a number from 1"),
        ] {
            let output = try Fathom.record([binary, "3"], into: sums, options: options)
            #expect(output.status == 64 && output.stderr.contains(reason), "\(output.stderr)")
        }
    }

    /// The cost of recording is taken out of times.
    @Test func baseline() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(try record("profile", [binary, "27"], ["--baseline", "-q"]).status == 0)
        let report = try Fathom.run(["report", sums])
        #expect(report.status == 0 && report.stdout.contains("corrected"), "\(report.stdout)\(report.stderr)")
    }
}
