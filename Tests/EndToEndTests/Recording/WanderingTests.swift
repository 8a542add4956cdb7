#if arch(x86_64)
    import TestSupport
    import Testing

    /// Coroutines that go from thread to thread, and wait in the midst of calls. Fathom does not follow a coroutine to another thread:
    /// its open calls end at the latest where the thread does that has begun them. All of them are there, and nothing of the program
    /// changes.
    @Suite struct WanderingTests {
        private let directory: TemporaryDirectory
        private var session: String { directory.file("s.fathom") }

        init() throws { directory = try TemporaryDirectory("wandering") }

        private func counts() throws -> [String: Int] {
            try Fathom.calls(in: session)
        }

        /// Each call that begins ends, by its exit or without it.
        private func eachCallEnds() throws {
            let check = try Fathom.run(["info", "--check", session])
            #expect(check.status == 0 && check.stdout.contains("damage       none"), "\(check.stdout)")
            var kinds: [Substring: Int] = [:]
            for line in try Fathom.run(["dump", session]).stdout.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 2)
                if words.count > 1 { kinds[words[1], default: 0] += 1 }
            }
            #expect(kinds["enter", default: 0] > 1000 && kinds["lost"] == nil, "\(kinds)")
            #expect(kinds["enter", default: 0] == kinds["exit", default: 0] + kinds["unwound", default: 0], "\(kinds)")
        }

        /// Records a program in several ways, and demands that it does what it does without that.
        ///
        /// - Parameter expected: how often functions are called, by what the program has printed.
        private func record(
            _ program: String, _ arguments: [String], _ ways: [[String]], expected: (String) -> [String: Int]
        ) throws {
            let plain = try run(program, arguments)
            #expect(plain.status == 0, "\(plain)")
            for options in ways {
                let output = try Fathom.record([program] + arguments, into: session, options: ["--quiet"] + options)
                #expect(output.status == 0 && output.stdout == plain.stdout, "\(options): \(output)")
                if !options.contains("--mode") { try eachCallEnds() }
                if options == ["--libcalls"] { continue }
                let found = try counts()
                for (name, count) in expected(plain.stdout) {
                    #expect(found[name] == count, "\(options): \(name) in \(found)")
                }
            }
        }

        private static let ways = [
            ["--any"], ["--libcalls"], ["--any", "--libcalls"], ["--any", "--mode", "profile"],
        ]
        private static let programs = [(Build.gccO2, "-O1"), (.gccO2, "-O2"), (.clangO2, "-O2")]
        private static let stacks = [
            ["ucontext", "apart"], ["ucontext", "touching"], ["assembly", "apart"], ["assembly", "touching"],
        ]

        /// What wandering.c prints of its calls: `sum 17, 0 wrong, 3 leaf, 4 walk`.
        private static func printed(_ output: String) -> [String: Int] {
            let words = output.split { $0 == " " || $0 == "," || $0 == "\n" }
            return ["leaf": Int(words[4]) ?? -1, "walk": Int(words[6]) ?? -1, "begin": 24]
        }

        @Test(arguments: programs, stacks) func bare(_ build: (Build, String), _ stacks: [String]) throws {
            let program = try Binaries.make(
                "wandering-bare-\(build.0.compiler)\(build.1)", command: build.0.compiler.rawValue,
                [build.1, "-g", "-Wall", "-Wextra", "-Werror", "-pthread"], ["\(Binaries.sources)/wandering.c"])
            try record(program, stacks, Self.ways, expected: Self.printed)
        }

        @Test(arguments: [Build.gccO2, .clangO2], stacks) func hooked(_ build: Build, _ stacks: [String]) throws {
            let program = try Binaries.instrumented("wandering.c", build)
            try record(program, stacks, [[], ["--libcalls"]], expected: Self.printed)
        }

        /// C++20's coroutines leave their frames when they wait, so that all of their calls end in the thread that began them.
        @Test(arguments: [(Toolchain.Compiler.gxx, "-O0"), (.gxx, "-O2"), (.clangxx, "-O2")])
        func tasks(_ compiler: Toolchain.Compiler, _ level: String) throws {
            let program = try Binaries.make(
                "wandering_tasks-\(compiler.rawValue)\(level)", command: compiler.rawValue,
                [level, "-g", "-std=c++20", "-fno-optimize-sibling-calls", "-Wall", "-Wextra", "-Werror", "-pthread"],
                ["\(Binaries.sources)/wandering_tasks.cpp"])
            // `16 of 16 right, 5696 thrown`
            try record(program, [], Self.ways) { ["thrown": Int($0.split(separator: " ")[4]) ?? -1] }
        }

        /// A coroutine waits while calls end that are not its own, although they lie where its own might. Its places to return to are
        /// given to nobody else meanwhile.
        @Test(arguments: [
            ("above", ["--any"]), ("above", ["--any=[wjdl]*"]), ("above", ["--any", "--libcalls"]),
            ("ended", ["--any"]), ("ended", ["--any=[wdl]*"]), ("ended", ["--any", "--libcalls"]),
        ])
        func waitsMeanwhile(_ how: String, _ options: [String]) throws {
            let program = try Binaries.make(
                "waiting_coroutine", command: "gcc", ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"],
                ["\(Binaries.sources)/waiting_coroutine.c"])
            let plain = try run(program, [how])
            let output = try Fathom.record([program, how], into: session, options: ["--quiet"] + options)
            #expect(plain.stdout.hasPrefix("179 ") && output.status == 0 && output.stdout == plain.stdout, "\(output)")
            #expect(try counts()["waits"] == 11)
        }
    }
#endif
