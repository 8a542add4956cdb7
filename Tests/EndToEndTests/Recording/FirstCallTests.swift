import Glibc
import TestSupport
import Testing

#if arch(x86_64)
    private let isX86 = true
#else
    private let isX86 = false
#endif

/// `record --first-calls` finds what ordinary builds call first, and changes nothing of what they do.
@Suite(.enabled(if: isX86)) struct FirstCallTests {
    private let directory: TemporaryDirectory
    private let program: String

    init() throws {
        directory = try TemporaryDirectory("first")
        program = try Binaries.make(
            "first_calls", command: "gcc", ["-O2", "-g", "-pthread"], ["\(Binaries.sources)/first_calls.c"], ["-ldl"])
    }

    /// Records the program, and compares what it does with what it does by itself.
    ///
    /// - Returns: how often each function of the session was entered.
    private func record(_ arguments: [String], _ options: [String] = ["--quiet"]) throws -> [String: Int] {
        let session = directory.file("session.fathom")
        let plain = try run(program, arguments)
        let recorded = try Fathom.record([program] + arguments, into: session, options: ["--first-calls"] + options)
        #expect(recorded.status == plain.status, "\(arguments): \(recorded.stderr)")
        #expect(recorded.stdout == plain.stdout, "\(arguments)")
        return try Dump(session).counts()
    }

    private func works(_ numbers: ClosedRange<Int>) -> Set<String> { Set(numbers.map { "work\($0)" }) }

    @Test func ownHandlersAndMasksOfSIGTRAP() throws {
        let calls = try record(["signals"])
        #expect(
            Set(calls.keys) == [
                "early", "also_known", "main", "sum_table", "signals", "on_trap", "work11", "on_alarm", "work20",
            ],
            "\(calls)")
        #expect(calls.values.allSatisfy { $0 == 1 })
        // What nobody handles ends the program, as ever.
        let plain = try run(program, ["unhandled"])
        let recorded = try Fathom.record(
            [program, "unhandled"], into: directory.file("ended.fathom"), options: ["--first-calls", "--quiet"])
        #expect(recorded.status == plain.status && recorded.stdout == plain.stdout)
    }

    /// FATHOM_FIRST_CALL_RUNS is how often it is run.
    @Test func threadsThatEnterTheSameFunctionsAtOnce() throws {
        let runs = getenv("FATHOM_FIRST_CALL_RUNS").flatMap { Int(String(cString: $0)) } ?? 3
        for _ in 0..<runs {
            let calls = try record(["threads", "8"])
            #expect(
                Set(calls.keys)
                    == works(11...89).union(["also_known", "early", "main", "sum_table", "threads", "run"]), "\(calls)")
            #expect(calls.values.allSatisfy { $0 == 1 }, "\(calls)")
        }
    }

    @Test func forksLibrariesAndCodeThatTheProgramProtects() throws {
        // A fork's child has those traps that its parent had left.
        let forked = try record(["fork"])
        #expect(
            forked == [
                "early": 1, "also_known": 1, "main": 1, "sum_table": 1, "forks": 1, "work30": 1, "work31": 2,
                "work32": 1,
            ],
            "\(forked)")

        let library = try Binaries.make(
            "libfirst_calls.so", command: "gcc", ["-O2", "-g", "-shared", "-fPIC"],
            ["\(Binaries.sources)/first_calls_library.c"])
        let loaded = try record(["load", library])
        #expect(
            Set(loaded.keys)
                == [
                    "early", "also_known", "main", "sum_table", "load", "library_begins", "library_early",
                    "library_call",
                ],
            "\(loaded)")
        let chosen = try record(["load", library], ["--quiet", "--module", "libfirst*"])
        #expect(Set(chosen.keys) == ["library_begins", "library_early", "library_call"], "\(chosen)")

        // What lies on the page that the program protects is not recorded, and runs.
        let protected = try record(["protect"])
        #expect(Set(protected.keys).isSuperset(of: ["early", "main", "protect"]), "\(protected)")
    }

    @Test func orderAndUnusedReadIt() throws {
        let session = directory.file("read.fathom")
        let recorded = try Fathom.record(
            [program, "threads", "2"], into: session, options: ["--first-calls"])
        let name = "first_calls get traps; 1 are left alone, because their code is not like a compiler's"
        #expect(
            recorded.stderr.contains(name) && recorded.stderr.contains("recorded 85 first calls"), "\(recorded.stderr)")
        #expect(recorded.stderr.contains("next: fathom order"))
        let order = try Fathom.run(["order", session, "--linker", "lld", "-o", "-"]).stdout.split(separator: "\n").map(
            String.init)
        #expect(order.prefix(4) == ["early", "also_known", "main", "sum_table"] || order.first == "early", "\(order)")
        #expect(order.count == 85 && order.suffix(79) == (11...89).map { "work\($0)" }, "\(order)")
        let unused = try Fathom.run(["unused", session, "--format", "json"]).stdout
        for wanted in ["never_called", "forks", "load", "protect", "signals", "on_trap", "on_alarm"] {
            #expect(unused.contains("\"name\":\"\(wanted)"), "\(wanted): \(unused)")
        }
        #expect(!unused.contains("\"name\":\"work") && !unused.contains("\"name\":\"main"), "\(unused)")
        for view in [["tree"], ["report"], ["graph"], ["tail"], ["flame", "-o", directory.file("flame.html")]] {
            let refused = try Fathom.run(
                view.prefix(1) + [session] + (view == ["tail"] ? ["main"] : []) + view.dropFirst())
            #expect(
                refused.status != 0 && refused.stderr.contains("keeps the first call of each function"), "\(refused)")
        }
        #expect(try Fathom.run(["info", session]).stdout.contains("mode=first-calls"))
    }

    @Test func whatCannotBeDoneIsSaid() throws {
        let hooked = try Binaries.instrumented("startup.c", .gccO2)
        let refused = try Fathom.record([hooked], into: directory.file("no.fathom"), options: ["--first-calls"])
        #expect(refused.status == 126 && refused.stderr.contains("has hooks, which tell of every call"), "\(refused)")
        let both = try Fathom.record(
            [program], into: directory.file("no.fathom"), options: ["--first-calls", "--blocked"])
        #expect(both.status == 64 && both.stderr.contains("--blocked is not for --first-calls"), "\(both)")
        let alone = try Fathom.record([program], into: directory.file("no.fathom"), options: ["--module", "x"])
        #expect(alone.status == 64 && alone.stderr.contains("--module is for --first-calls"), "\(alone)")
    }

    /// A process that may never have memory that can be written to and run.
    @Test(.enabled(if: Privilege.forbidsNewCode, "the kernel is older than 6.3"))
    func whereTrapsAreForbiddenThatIsSaid() throws {
        let source = try directory.write(
            """
            #include <stdio.h>
            #include <sys/prctl.h>
            #include <unistd.h>
            int main(int count, char **words) {
                if (prctl(65, 1ul, 0ul, 0ul, 0ul) != 0) return 77;
                if (count > 1) execv(words[1], words + 1);
                return 78;
            }
            """, to: "strict.c")
        let strict = directory.file("strict")
        try #require(try run("gcc", ["-O2", "-o", strict, source]).status == 0)
        let session = directory.file("strict.fathom")
        let words = [strict, program, "threads", "2"]
        let plain = try run(words[0], Array(words.dropFirst()))
        let recorded = try Fathom.record(words, into: session, options: ["--first-calls"])
        #expect(recorded.status == plain.status && recorded.stdout == plain.stdout, "\(recorded)")
        #expect(
            recorded.stderr.contains("first_calls: no first calls: the system does not let traps be written"),
            "\(recorded.stderr)")
    }

    /// A stripped program does what it does, and its functions are found by where they are.
    @Test func strippedProgram() throws {
        let stripped = directory.file("stripped")
        try #require(try run("strip", ["-o", stripped, program]).status == 0)
        let plain = try run(program, ["threads", "2"])
        let whole = try record(["threads", "2"])
        let session = directory.file("stripped.fathom")
        let recorded = try Fathom.record([stripped, "threads", "2"], into: session, options: ["--first-calls"])
        #expect(recorded.status == plain.status && recorded.stdout == plain.stdout, "\(recorded.stderr)")
        #expect(recorded.stderr.contains("it is stripped"), "\(recorded.stderr)")
        let calls = try Dump(session).counts()
        #expect(calls.values.allSatisfy { $0 == 1 })
        // The table knows code without a symbol, too, such as a program's start.
        #expect(
            calls.count <= whole.count + 2 && calls.count * 10 >= whole.count * 9, "\(calls.count) of \(whole.count)")
    }
}
