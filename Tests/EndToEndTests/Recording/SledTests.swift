#if arch(x86_64)
    import TestSupport
    import Testing

    /// Programs that `fathom build --dormant` makes: their sleds stay closed until they are recorded.
    @Suite struct SledTests {
        /// The compilers, each with how it is asked for the code of one function to be one machine frame.
        static let compilers = ["g++", "clang++"]

        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory("sleds") }

        private func build(
            _ source: String, _ compiler: String, options: [String] = [], flags: [String] = []
        ) throws -> String {
            let program = directory.file("program")
            let built = try Fathom.run(
                ["build", "--dormant"] + options
                    + ["--", compiler, "-O2", "-pthread", "\(Binaries.sources)/\(source)", "-o", program] + flags,
                environment: ["XDG_CACHE_HOME": directory.file("cache")])
            try #require(built.status == 0, "\(built.stderr)")
            #expect(built.stderr.hasSuffix("fathom: 1 of 1 files compiled with closed sleds\n"), "\(built.stderr)")
            return program
        }

        /// What the program counts itself: `name count` a line.
        private func counts(_ output: String) -> [String: Int] {
            var counts: [String: Int] = [:]
            for line in output.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count == 2, let count = Int(words[1]) { counts[String(words[0])] = count }
            }
            return counts
        }

        /// Arguments and results of all kinds, tail calls, exceptions, jumps, signal handlers, threads and a fork's child.
        @Test(arguments: compilers) func everyCallIsRecorded(_ compiler: String) throws {
            let program = try build("sleds.cpp", compiler)
            let plain = try run(program, ["200"])
            #expect(plain.status == 0)
            let expected = counts(plain.stdout)
            #expect(expected.count == 12)
            for mode in ["trace", "profile", "counts"] {
                let session = directory.file("\(mode).fathom")
                let recorded = try Fathom.record([program, "200"], into: session, options: ["--mode", mode])
                #expect(recorded.status == 0, "\(recorded.stderr)")
                #expect(recorded.stdout == plain.stdout)
                var found = try Listing.rows(["report", session, "--format", "csv"])
                // The child's.
                found["recursive", default: 0] -= 5
                for (function, count) in expected { #expect(found[function] == count, "\(mode) \(function)") }
                #expect(found["main"] == 1)
            }
            // Frames that are left without an end do not become callers of what comes next.
            let tree = try Fathom.run(["tree", directory.file("trace.fathom"), "--no-fold"]).stdout
            let names = [
                "main", "worker", "lands", "catches", "passes", "throws", "jumps", "mixed", "wide", "tail", "last",
            ]
            for line in tree.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count > 5, let depth = Int(words[0]), names.contains(String(words[5])) else { continue }
                let expected = ["main": 0, "worker": 0, "passes": 2, "throws": 3, "jumps": 2]
                #expect(depth == expected[String(words[5])] ?? 1, "\(line)")
            }
        }

        /// Functions that nobody asks for keep their sleds closed, and the others' calls are as they were.
        @Test(arguments: compilers) func closedSleds(_ compiler: String) throws {
            let program = try build("sleds.cpp", compiler)
            let expected = counts(try run(program, ["50"]).stdout)
            let session = directory.file("some.fathom")
            let recorded = try Fathom.record(
                [program, "50"], into: session, options: ["--hide", "recursive", "--hide", "last"])
            #expect(recorded.status == 0)
            #expect(
                recorded.stderr.contains("functions of program with sleds are open; 2 left out by name\n"),
                "\(recorded.stderr)")
            let found = try Listing.rows(["report", session, "--format", "csv"])
            #expect(found["recursive"] == nil && found["last"] == nil)
            #expect(found["tail"] == expected["tail"] && found["throws"] == expected["throws"])

            // Whether a call is below one of these shows only where all are open.
            let below = try Fathom.record(
                [program, "50"], into: directory.file("below.fathom"), options: ["--filter", "recursive"])
            #expect(below.stderr.contains("fathom: -F, -N and -C keep all sleds open, because "), "\(below.stderr)")

            let sized = directory.file("sized.fathom")
            let large = try Fathom.record([program, "50"], into: sized, options: ["--min-size", "40000"])
            #expect(large.stderr.contains("fathom: 0 of "), "\(large.stderr)")
            #expect(large.stderr.contains(" smaller than asked for\n") && large.stderr.contains("recorded 0 calls"))
            let info = try Fathom.run(["info", sized])
            #expect(info.stdout.contains("smaller than asked for"), "\(info.stdout)")
        }

        /// All sleds are opened and closed while eight threads run them. `SLED_CHANGES` says how often.
        @Test func changesUnderLoad() throws {
            let program = try build("sleds_load.c", "clang", flags: ["-ldl"])
            let times = Fathom.inherited(adding: [:])["SLED_CHANGES"] ?? "150"
            let session = directory.file("load.fathom")
            let recorded = try Fathom.record([program, times], into: session, options: ["-q", "--mode", "counts"])
            #expect(recorded.status == 0, "\(recorded.stderr)")
            #expect(recorded.stdout == "wrong 0, refused 0\n")
            let calls = try Listing.rows(["report", session, "--format", "csv"])
            #expect(calls["nested", default: 0] > 0)
        }

        /// A library that is loaded later, and the constructors in it.
        @Test(arguments: compilers) func loadedLibraries(_ compiler: String) throws {
            let library = """
                static volatile int made;
                __attribute__((constructor, noinline)) static void makes(void) { made = 41; }
                extern "C" __attribute__((noinline)) int answers(int x) { return made + x; }
                """
            let program = """
                #include <dlfcn.h>
                #include <stdio.h>
                int main(int, char **arguments) {
                    void *library = dlopen(arguments[1], RTLD_NOW);
                    int (*answers)(int) = (int (*)(int))dlsym(library, "answers");
                    printf("%d %d\\n", answers(1), answers(2));
                    dlclose(library);
                    library = dlopen(arguments[1], RTLD_NOW);
                    answers = (int (*)(int))dlsym(library, "answers");
                    return answers(3) == 44 ? 0 : 1;
                }
                """
            try directory.write(library, to: "library.cpp")
            try directory.write(program, to: "main.cpp")
            for command in [
                ["-shared", "-fPIC", "library.cpp", "-o", "library.so"], ["main.cpp", "-o", "main", "-ldl"],
            ] {
                let built = try Fathom.run(
                    ["build", "--dormant", "--", compiler, "-O2"] + command,
                    environment: ["XDG_CACHE_HOME": directory.file("cache")], workingDirectory: directory.path)
                try #require(built.status == 0, "\(built.stderr)")
            }
            let session = directory.file("loaded.fathom")
            let recorded = try Fathom.record([directory.file("main"), directory.file("library.so")], into: session)
            #expect(recorded.status == 0 && recorded.stdout == "42 43\n", "\(recorded.stderr)")
            let found = try Listing.rows(["report", session, "--format", "csv"])
            #expect(found["answers"] == 3 && found["makes"] == 2 && found["main"] == 1, "\(found)")
        }

        /// Swift's functions, those that throw and those of tasks too.
        @Test(arguments: ["-O", "-Onone"]) func swift(_ optimization: String) throws {
            let source = """
                struct Refusal: Error {}
                @inline(never) func fails(_ n: Int) throws -> Int { if n % 2 == 0 { throw Refusal() }; return n }
                @inline(never) func mixes(_ a: Int, _ b: Double, _ c: String) -> (Double, String) { (Double(a) * b, c + c) }
                @inline(never) func fib(_ n: Int) -> Int { n < 2 ? n : fib(n - 1) + fib(n - 2) }
                @inline(never) func leaf(_ n: Int) async -> Int { await Task.yield(); return n + 1 }
                @inline(never) func middle(_ n: Int) async -> Int { await leaf(await leaf(n)) }
                @main struct Main {
                    static func main() async {
                        var passed = 0
                        for n in 0..<10 where (try? fails(n)) != nil { passed += 1 }
                        print(passed, mixes(3, 0.5, "ab"), fib(10), await middle(5))
                    }
                }
                """
            try directory.write(source, to: "tasks.swift")
            let built = try Fathom.run(
                [
                    "build", "--dormant", "--", "swiftc", optimization, "-parse-as-library", "tasks.swift", "-o",
                    "tasks",
                ],
                environment: ["XDG_CACHE_HOME": directory.file("cache")], workingDirectory: directory.path)
            try #require(built.status == 0, "\(built.stderr)")
            let output = "5 (1.5, \"abab\") 55 7\n"
            #expect(try run(directory.file("tasks"), []).stdout == output)
            let session = directory.file("tasks.fathom")
            let recorded = try Fathom.record([directory.file("tasks")], into: session)
            #expect(recorded.status == 0 && recorded.stdout == output, "\(recorded.stderr)")
            let found = try Listing.rows(["report", session, "--format", "csv"])
            #expect(found["fails(_:)"] == 10 && found["mixes(_:_:_:)"] == 1 && found["fib(_:)"] == 177, "\(found)")
            #expect(found["leaf(_:)"] == 2 && found["middle(_:)"] == 1, "\(found)")
        }

        /// Where code must not be written to, the program runs as it is, and it is said.
        @Test(.enabled(if: Privilege.forbidsNewCode, "the kernel is older than 6.3"))
        func forbidden() throws {
            let program = try build("fib.c", "clang")
            let confine = """
                import ctypes, os, sys
                os._exit(77) if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) else os.execv(sys.argv[1], sys.argv[1:])
                """
            let recorded = try run(
                "python3",
                [
                    "-c", confine, Fathom.executable, "record", "-o", directory.file("forbidden.fathom"), "--", program,
                    "10",
                ])
            #expect(recorded.status == 0 && recorded.stdout == "55\n")
            #expect(
                recorded.stderr.contains(
                    "fathom: warning: the sleds of program stay closed, because its code cannot be changed: "),
                "\(recorded.stderr)")
        }

        /// Of functions that are closed again, the ends are closed, too, as soon as no thread has a call of them open. What is
        /// still recorded keeps its callers, and the calls that were open end where they return.
        @Test(arguments: ["gcc", "clang"]) func closesEnds(_ compiler: String) throws {
            let program = try build("budget.c", compiler)
            let session = directory.file("ends.fathom")
            let recorded = try Fathom.record(
                [program], into: session, options: ["--budget", "5%", "--buffer-size", "16K"])
            #expect(recorded.status == 0, "\(recorded.stderr)")
            #expect(recorded.stdout == "b2 and b3 closed\na2 open\na2 closed\n")
            let folded = directory.file("folded")
            let exported = try Fathom.run(["export", session, "--format", "folded", "--output", folded])
            try #require(exported.status == 0, "\(exported.stderr)")
            let paths = String(decoding: try readFile(folded), as: UTF8.self).split(separator: "\n")
            #expect(paths.contains { $0.contains("a_rare") } && paths.contains { $0.contains("b_rare") })
            for path in paths where path.contains("a_rare") { #expect(!path.contains(/;b\d/), "\(path)") }
            for path in paths where path.contains("b_rare") { #expect(!path.contains(/;a\d/), "\(path)") }
            #expect(!(try Fathom.run(["dump", session]).stdout.contains("unwound")))
        }

        /// Functions that are called most are closed again, and it is said.
        @Test func budget() throws {
            let program = try build("fib.c", "clang")
            let session = directory.file("budget.fathom")
            let recorded = try Fathom.record(
                [program, "27"], into: session, options: ["--budget", "5%", "--buffer-size", "16K"])
            #expect(recorded.status == 0)
            #expect(recorded.stderr.contains("1 closed again to keep to the budget\n"), "\(recorded.stderr)")
        }
    }
#endif
