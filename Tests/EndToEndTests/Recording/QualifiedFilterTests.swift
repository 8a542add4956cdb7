import TestSupport
import Testing

/// Filters by the ends of names, by file, by module and by size, and triggers: while recording, and while reading.
@Suite struct QualifiedFilterTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("qualified") }

    private func record(_ command: [String], _ name: String, _ options: [String] = []) throws -> (
        session: String, stderr: String
    ) {
        let session = directory.file("\(name).fathom")
        let output = try Fathom.run(["record", "--no-blocked", "-o", session] + options + ["--"] + command)
        #expect(output.status == 0, "\(output.stderr)")
        return (session, output.stderr)
    }

    /// The depth and name of each call that is shown.
    private func calls(_ session: String, _ filters: [String] = []) throws -> [String] {
        let output = try Fathom.run(["tree", session, "--no-fold", "--limit", "0"] + filters)
        return output.stdout.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 5)
            guard words.count == 6, Int(words[0]) != nil else { return nil }
            return "\(words[0]) \(words[5].drop { $0 == " " })"
        }
    }

    private func names(_ calls: [String]) -> Set<String> {
        Set(calls.map { String($0.drop { $0 != " " }.dropFirst()) })
    }

    private static let filters = [
        ["-F", "fib"], ["-F", "=app::fib"], ["-F", "app::fib"], ["-F", "push_back"], ["-F", "Stack::push_back"],
        ["-N", "fib"], ["-C", "small"], ["-H", "operator=="], ["-F", "operator()"], ["-N", "=Number::operator*"],
        ["-L", "qualified.h"], ["-L", "qualified.h@hide"], ["-L", "programs"], ["-F", "fib", "-L", "qualified.cpp"],
        ["-T", "fib@hide"], ["-T", "=work@depth=1"], ["-D", "1", "-T", "=lib::fib@depth=2"],
        ["-D", "2", "-T", "small@depth=0"], ["-D", "1", "-T", "fib@depth=1", "-H", "small"],
        ["-t", "1000s", "-T", "operator==@trace"], ["-t", "1000s", "-T", "=lib::fib@min-cost=0"],
        ["-t", "1000s", "-D", "3", "-T", "small@trace", "-F", "work"], ["-F", "*@qualified*", "-D", "2"],
    ]

    @Test(arguments: Build.two) func recordingAndReadingAgree(_ build: Build) throws {
        let program = [try Binaries.instrumented("qualified.cpp", build)]
        let all = try record(program, "all").session
        let everything = try calls(all).count
        for filter in Self.filters {
            let some = try record(program, "some", ["-q"] + filter).session
            let expected = try calls(all, filter)
            #expect(try calls(some) == expected, "\(filter)")
            #expect(
                !expected.isEmpty && expected.count < everything || filter == ["-L", "programs"],
                "\(filter) tests nothing")
        }
    }

    @Test(arguments: Build.two) func lastPartsOfNames(_ build: Build) throws {
        let program = [try Binaries.instrumented("qualified.cpp", build)]
        let (session, said) = try record(program, "fib", ["-F", "fib", "-N", "small"])
        #expect(said.contains("--filter fib: 3 functions"))
        #expect(said.contains("'fib' matches (anonymous namespace)::fib, app::fib, lib::fib; '=NAME' is one name"))
        #expect(try names(calls(session)) == ["(anonymous namespace)::fib", "app::fib", "lib::fib"])

        let all = try record(program, "all").session
        let tree = try Fathom.run(["tree", all, "-F", "fib"])
        #expect(tree.stderr.contains("fathom: 'fib' matches (anonymous namespace)::fib, app::fib, lib::fib"))
        #expect(try !Fathom.run(["tree", all, "-F", "=app::fib"]).stderr.contains("matches"))
        #expect(try names(calls(all, ["-F", "push_back", "-D", "0"])).count == 2)
        // The right name in another namespace, and a misspelt one beside one that is right.
        let wrong = try Fathom.run(["report", all, "-F", "app::small"])
        #expect(wrong.status != 0 && wrong.stderr.contains("did you mean lib::small?"), "\(wrong.stderr)")
        let one = try Fathom.run(["report", all, "-F", "work", "-F", "smal"])
        #expect(one.status == 0 && one.stderr.contains("no function matches 'smal'; did you mean lib::small?"))
    }

    @Test(arguments: Build.two) func files(_ build: Build) throws {
        let program = [try Binaries.instrumented("qualified.cpp", build)]
        let all = try record(program, "all").session
        // Without optimisation, there may be constructors as well.
        let header = try names(calls(all)).filter { $0 == "lib::small" || $0.hasPrefix("box::Stack<") }
        #expect(header.isSuperset(of: ["lib::small", "box::Stack<int>::push_back", "box::Stack<char>::push_back"]))
        #expect(try names(calls(all, ["-L", "qualified.h"])) == header)
        #expect(try names(calls(all, ["-L", "programs/qualified.h"])) == header)
        #expect(try names(calls(all, ["-L", "*.h@hide"])) == names(calls(all)).subtracting(header))
        let lost = try Fathom.run(["graph", all, "-L", "qualifed.h"])
        #expect(lost.stderr.contains("is defined in 'qualifed.h'; did you mean qualified.h"), "\(lost.stderr)")
        let (_, said) = try record(program, "lost", ["-L", "qualifed.h"])
        #expect(said.contains("warning: --source qualifed.h: no function"), "\(said)")
        // The whole time is that of the calls that are left.
        let graph = try Fathom.run(["report", all, "-L", "qualified.cpp", "--format", "json"]).stdout
        #expect(!graph.contains("small") && graph.contains("app::fib"))
        let plain = [try Binaries.instrumented("qualified.cpp", build, flags: ["-g0"], variant: "-g0")]
        let (bare, warning) = try record(plain, "bare", ["-L", "qualified.h"])
        #expect(warning.contains("the debug information (-g) is missing"), "\(warning)")
        #expect(try calls(bare).isEmpty)
    }

    @Test(arguments: Build.two) func modules(_ build: Build) throws {
        let library = try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=a"], variant: "-a")
        let other = try Binaries.instrumented(
            "plugin.c", build, flags: ["-shared", "-fPIC", "-DLETTER=b"], variant: "-b")
        let program = [try Binaries.instrumented("dlreopen.c", build), library, other]
        let all = try record(program, "all").session
        let file = String(library.split(separator: "/").last!)
        for filter in [
            ["-F", "*@\(file)"], ["-N", "@\(library)"], ["-H", "plugin_run@\(file)"],
            ["-F", "main", "-N", "*_leaf@*-b*"],
        ] {
            let some = try record(program, "some", ["-q"] + filter).session
            let expected = try calls(all, filter)
            #expect(try calls(some) == expected && !expected.isEmpty, "\(filter)")
        }
        #expect(try names(calls(all, ["-F", "*@\(file)"])) == ["a_load", "a_leaf", "a_unload", "plugin_run"])
    }

    /// The sizes are those of the symbol table.
    @Test(arguments: Build.two) func sizes(_ build: Build) throws {
        let program = try Binaries.instrumented("qualified.cpp", build)
        let all = try record([program], "all").session
        var sizes: [String: Int] = [:]
        for line in try run("nm", ["-S", "-C", program]).stdout.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, "tTwW".contains(words[2]), let size = Int(words[1], radix: 16) else { continue }
            // Of a function in parts, the first one is called.
            sizes[String(words[3].prefix { $0 != "(" }), default: 0] = max(
                size, sizes[String(words[3].prefix { $0 != "(" })] ?? 0)
        }
        let called = try names(calls(all)).filter { sizes[$0] != nil }
        #expect(called.count >= 4)
        for least in Set(called.compactMap { sizes[$0] }).sorted() {
            let expected = called.filter { sizes[$0]! >= least }
            #expect(try names(calls(all, ["-Z", "\(least)"])).intersection(called) == expected, "\(least)")
        }
        #expect(
            try Fathom.run(["tree", all, "--min-size", "1000000"]).stderr.contains("no calls are left by the filters"))
    }

    @Test func ranges() throws {
        let all = try record([try Binaries.instrumented("qualified.cpp", .gccO2)], "all").session
        func shown(_ filters: [String]) throws -> String {
            try Fathom.run(["tree", all, "--no-fold"] + filters).stdout
        }
        #expect(try shown(["-r", "0~1h"]) == shown([]))
        #expect(try shown(["-r", "~1h"]) == shown(["--to", "1h"]))
        #expect(try shown(["--range", "0~+1h"]) == shown(["--to", "1h"]))
        let late = try Fathom.run(["tree", all, "-r", "1h~"])
        #expect(late.status != 0 && late.stderr.contains("no calls are left by the filters"))
        for (options, message) in [
            (["-r", "5ms"], "10ms~20ms"), (["-r", "~"], "10ms~20ms"), (["-r", "1~2"], "1 of what?"),
            (["-r", "2s~1s"], "ends before"),
            (["-r", "1s~2s~3s"], "10ms~20ms"), (["-r", "1s~", "--to", "3s"], "take one of them"),
            (["-T", "f@mark"], "are for fathom record --trigger"), (["-T", "f@depth=99999"], "levels at most"),
            (["-T", "f"], "FUNC@ACTION"), (["-T", "f@x"], "is no action"),
            (["-T", "/(/@trace"], "is not a regular expression"),
            (["-L", ""], "names no file"), (["-L", "@hide"], "names no file"), (["-Z", "x"], "not a whole number"),
            (Array(repeating: ["-T", "f@min-cost=1s"], count: 16).flatMap { $0 }, "no more than 15"),
        ] {
            let refused = try Fathom.run(["tree", all] + options)
            #expect(refused.status == 64 && refused.stderr.contains(message), "\(options): \(refused.stderr)")
        }
    }

    /// Every command with filters has all of them.
    @Test func everyCommand() throws {
        let program = [try Binaries.instrumented("qualified.cpp", .clangO2)]
        let all = try record(program, "all").session
        let filter = [
            "-F", "work@qualified*", "-L", "qualified.cpp", "-Z", "1", "-t", "1000s", "-T", "=lib::fib@trace", "-r",
            "0~1h",
        ]
        for command in [
            ["tree", all], ["report", all], ["graph", all, "--threshold", "0"], ["flame", all, "-o", "-"],
            ["export", all, "--format", "folded", "-o", "-"], ["export", all, "--format", "chrome", "-o", "-"],
            ["diff", all, all, "--all"],
        ] {
            let shown = try Fathom.run(command + filter)
            #expect(shown.status == 0, "\(command): \(shown.stderr)")
            #expect(shown.stdout.contains("lib::fib"), "\(command): \(shown.stdout.prefix(600))")
            #expect(!shown.stdout.contains("lib::small") && !shown.stdout.contains("app::fib"), "\(command)")
        }
        let tail = try Fathom.run(["tail", all, "fib", "-L", "qualified.h", "-H", "main"])
        #expect(tail.stderr.contains("'fib' matches (anonymous namespace)::fib, app::fib, lib::fib"), "\(tail.stderr)")
    }
}
