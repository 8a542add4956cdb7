internal import Foundation
import TestSupport
import Testing

/// Where the start of real programs goes.
@Suite struct StartupTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("startup") }

    private struct Phase: Decodable {
        var name: String
        var ns: UInt64
        var minorFaults: UInt64?
    }
    private struct Initializer: Decodable {
        var module: String
        var function: String
        var ns: UInt64
    }
    private struct Library: Decodable {
        var path: String
        var unused: Bool
        var system: Bool
    }
    private struct Advice: Decodable {
        var kind: String
        var gainNs: UInt64
        var text: String
    }
    private struct Run: Decodable {
        var run: Int
        var totalNs: UInt64
    }
    private struct Report: Decodable {
        var totalNs: UInt64
        var complete: Bool
        var incomplete: String?
        var phases: [Phase]
        var initializers: [Initializer]
        var libraries: [Library]
        var advice: [Advice]
        var gaps: [String]
        var runs: [Run]?
        var cold: String?

        func phase(_ name: String) -> UInt64? { phases.first { $0.name == name }?.ns }
    }

    /// What `fathom startup` says of a program, and how it ended.
    private func startup(
        _ command: [String], _ options: [String] = [], status: Int32 = 0, stdout: String? = nil
    ) throws -> Report {
        let file = directory.file("report.json")
        // The programs take as long as they say only when they get a processor.
        let output = try Fathom.run(
            ["startup", "--format", "json", "-o", file] + options + ["--"] + command, isUrgent: true)
        #expect(output.status == status, "\(output.stderr)")
        if let stdout { #expect(output.stdout == stdout) }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let report = try decoder.decode(Report.self, from: Data(readFile(file)))
        #expect(report.phases.reduce(0) { $0 + $1.ns } == report.totalNs, "the phases do not add up: \(report.phases)")
        #expect(zip(report.initializers, report.initializers.dropFirst()).allSatisfy { $0.ns >= $1.ns })
        return report
    }

    private func plain(_ source: String, _ name: String, compiler: String = "gcc", _ flags: [String] = []) throws
        -> String
    {
        try Binaries.make(
            name, command: compiler,
            ["-O1", "-g", "-pthread", "-I\(Binaries.repository)/Sources/CFathom/include"] + flags,
            ["\(Binaries.sources)/\(source)"])
    }

    /// A constructor of 50 ms is the slowest, and is not part of main; without hooks as well as with them.
    @Test(arguments: [true, false]) func slowConstructor(isInstrumented: Bool) throws {
        let program = try isInstrumented ? Binaries.instrumented("launch.c", .gccO2) : plain("launch.c", "launch-plain")
        let report = try startup([program], ["--until", "mark first frame"], stdout: "started\n")
        let first = try #require(report.initializers.first)
        #expect(
            first.function == "slow_start" && first.ns >= 50_000_000
                && first.module.hasSuffix("launch-" + (isInstrumented ? "gcc-O2" : "plain")))
        let (initializers, main) = (
            try #require(report.phase("initializers")), try #require(report.phase("main to end"))
        )
        #expect(initializers >= first.ns && main >= 30_000_000 && report.totalNs >= initializers + main)
        #expect(report.advice.contains { $0.kind == "initializer" && $0.text.contains("slow_start") })
        let gains = report.advice.map(\.gainNs)
        #expect(gains == gains.sorted(by: >))
        guard isInstrumented else { return }
        #expect(report.advice.contains { $0.text.contains("slow_start") && $0.text.contains("read_settings") })
        #expect(report.advice.contains { $0.kind == "repeated_calls" && $0.text.contains("open_database") })
        let wait = try #require(
            report.advice.first { $0.kind == "wait" && $0.text.contains("sem_wait") }, "\(report.advice)")
        #expect(wait.text.contains("load"))
        // draw is for nobody else, and so could be later; what the loader does is on another thread.
        #expect(report.advice.contains { $0.kind == "deferrable" && $0.text.contains("draw") })
    }

    /// Up to main, nothing of main counts. An end that is never reached is said, and never made up.
    @Test func ends() throws {
        let program = try Binaries.instrumented("launch.c", .clangO0)
        let main = try startup([program])
        #expect(main.complete && main.phase("main to end") == nil && main.totalNs >= 50_000_000)
        let function = try startup([program], ["--until", "draw"])
        #expect(function.complete && function.phase("main to end") ?? 0 >= 30_000_000)
        for missing in ["mark last frame", "no_such_function"] {
            let report = try startup([program], ["--until", missing], status: 1)
            #expect(!report.complete && report.incomplete?.contains("was not reached") == true, "\(missing)")
        }
        let text = try Fathom.run(["startup", "--until", "mark frist frame", "--", program])
        #expect(text.status == 1 && text.stdout.contains("incomplete: "))
        #expect(text.stderr.contains("did you mean first frame"), "\(text.stderr)")
        #expect(text.stdout.contains("Total pre-main time: ") && text.stdout.contains(" milliseconds (100.0%)"))
    }

    /// Seven libraries are more than a start should have. One of them is not needed.
    @Test func libraries() throws {
        func library(_ number: Int) throws -> String {
            try Binaries.make(
                "libstart\(number).so", command: "gcc", ["-shared", "-fPIC", "-DPART=part\(number)", "-O1"],
                ["\(Binaries.sources)/launch_part.c"])
        }
        let libraries = try (1...7).map(library)
        let program = try Binaries.make(
            "launch-seven", command: "gcc",
            [
                "-O1", "-Wl,--no-as-needed",
                "-Wl,-rpath,\(libraries[0].split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })",
            ],
            ["\(Binaries.sources)/launch_seven.c"], libraries)
        let report = try startup([program])
        let advice = try #require(report.advice.first { $0.kind == "libraries" })
        #expect(advice.text.contains("7 libraries") && advice.text.contains("libstart1.so"))
        #expect(report.libraries.filter(\.unused).map { $0.path.split(separator: "/").last } == ["libstart7.so"])
        // Each library's own initializer is there by itself.
        #expect(report.initializers.filter { $0.function == "begin_part" }.count == 7)
        let fewer = try startup([try plain("launch.c", "launch-plain")])
        #expect(!fewer.advice.contains { $0.kind == "libraries" })
    }

    /// The program's memory is as it would be: what was read-only is, and nobody finds an address of Fathom's.
    @Test(arguments: ["gcc", "clang"]) func memoryIsAsItWas(_ compiler: String) throws {
        let program = try plain("initializers.c", "initializers-\(compiler)", compiler: compiler)
        let words = [program, "one", "two"]
        #expect(try run(program, ["one", "two"]).stdout == "as it should be\n")
        let report = try startup(words, stdout: "as it should be\n")
        let own = report.initializers.filter { $0.module.hasSuffix("initializers-\(compiler)") }.map(\.function)
        for name in ["before", "early", "late"] { #expect(own.contains(name), "\(own)") }
        #expect(
            try Fathom.record(words, into: directory.file("s.fathom"), options: ["--quiet", "--startup"]).status == 0)
    }

    /// A static program tells of its initializers when the runtime is linked into it, and the kernel of main when not.
    @Test func staticPrograms() throws {
        let bare = try plain("launch.c", "launch-static", ["-static", "-no-pie"])
        let report = try startup([bare], stdout: "started\n")
        #expect(report.complete && report.phase("initializers") ?? 0 >= 50_000_000, "\(report)")
        #expect(report.phase("relocation") == nil && report.gaps.contains { $0.contains("not known one by one") })
        let whole = try Binaries.instrumented(
            "launch.c", .gccO2, flags: ["-static"], libraries: Fathom.staticRuntime, variant: "-static")
        let known = try startup([whole], ["--until", "draw"], stdout: "started\n")
        #expect(known.complete && known.initializers.first?.function == "slow_start", "\(known)")
        #expect(known.phase("main to end") ?? 0 >= 30_000_000)
    }

    @Test func runsAndColdStarts() throws {
        let program = try plain("launch.c", "launch-plain")
        let report = try startup([program], ["--runs", "3", "--cold"])
        let runs = try #require(report.runs)
        #expect(runs.count == 3 && Set(runs.map(\.run)) == [1, 2, 3])
        #expect(report.totalNs == runs.map(\.totalNs).sorted()[1])
        #expect(report.cold?.contains("cold") == true)
        let kept = directory.file("kept")
        _ = try startup([program], ["--runs", "2", "--session", kept])
        // A kept session says the same again.
        let again = try Fathom.run(["startup", "\(kept)-2.fathom"])
        #expect(again.status == 0 && again.stdout.contains("slow_start"), "\(again.stderr)")
    }

    /// A recording that nobody made for this has what it has, and says what it lacks.
    @Test func ordinarySession() throws {
        let session = directory.file("plain.fathom")
        #expect(try Fathom.record([Binaries.instrumented("launch.c", .gccO2)], into: session).status == 0)
        let output = try Fathom.run(["startup", "--until", "mark first frame", session])
        #expect(output.status == 0 && output.stdout.contains("not recorded by record --startup"), "\(output)")
        #expect(output.stdout.contains("main to mark 'first frame'"))
    }

    /// A plan beside what happened: an order that was broken, a wait that the plan does not know, and what the plan would allow.
    @Test func launchPlan() throws {
        let program = try Binaries.instrumented("launch.c", .gccO2)
        let plan = directory.file("plan.json")
        _ = try directory.write(
            """
            {"tasks": [
              {"id": "database", "category": "base", "dependencies": ["load"]},
              {"id": "load", "category": "base", "priority": 2},
              {"id": "wait"},
              {"id": "draw", "category": "ui", "dependencies": ["database", "wait"], "thread": "main"},
              {"id": "drow"}
            ]}
            """, to: "plan.json")
        let output = try Fathom.run(
            ["startup", "--until", "mark first frame", "--plan", plan, "--width", "2", "--", program], isUrgent: true)
        #expect(output.status == 0, "\(output.stderr)")
        for text in [
            "plan: 5 tasks", "critical path: ", "load (", "ideal end with 2 threads: ", "order broken: database began ",
            "not in the plan: wait waited ", " for load", "did not run: no scope 'drow'", "did you mean draw",
        ] { #expect(output.stdout.contains(text), "\(text): \(output.stdout)") }
        for (text, message) in [
            (
                #"{"tasks": [{"id": "a", "dependencies": ["b"]}, {"id": "b", "dependencies": ["a"]}]}"#,
                "in a circle: a → b → a"
            ),
            (#"{"tasks": [{"id": "load"}, {"id": "b", "dependencies": ["lod"]}]}"#, "did you mean load"),
            (#"{"tasks": [{"name": "a"}]}"#, "task 1 has no 'id'"), ("[", "not JSON"),
        ] {
            _ = try directory.write(text, to: "plan.json")
            let refused = try Fathom.run(["startup", "--plan", plan, "--", program])
            #expect(refused.status == 2 && refused.stdout.isEmpty)
            #expect(refused.stderr.contains("plan.json: ") && refused.stderr.contains(message), "\(refused.stderr)")
            #expect(refused.stderr.split(separator: "\n").count == 1)
        }
        // What is proposed is a plan that holds for the run that it was made of.
        let session = directory.file("proposed.fathom")
        #expect(
            try Fathom.record(
                [program], into: session, options: ["--quiet", "--startup", "--blocked"], isUrgent: true
            ).status == 0)
        #expect(try Fathom.run(["startup", "--plan-from", session, "-o", plan]).status == 0)
        let again = try Fathom.run(["startup", "--until", "mark first frame", "--plan", plan, session])
        #expect(again.status == 0 && again.stdout.contains("plan: 4 tasks"), "\(again)")
        for text in ["order broken:", "not in the plan:", "other thread:", "did not run:"] {
            #expect(!again.stdout.contains(text), "\(again.stdout)")
        }
    }

    /// What is waited for between two scopes is known, too: the end of a thread whose scope is over by then, and of a child of that.
    @Test func planOfJoinsBetweenScopes() throws {
        let source = try directory.write(
            """
            #include "fathom.h"
            #include <pthread.h>
            #include <unistd.h>
            static void *load(void *unused) { { FATHOM_SCOPE("load"); usleep(60000); } usleep(20000); return unused; }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, NULL, load, NULL);
                { FATHOM_SCOPE("first"); usleep(1000); }
                { FATHOM_SCOPE("beside"); usleep(1000); }
                pthread_join(thread, NULL);
                { FATHOM_SCOPE("last"); usleep(1000); }
                return 0;
            }

            """, to: "joins.c")
        let program = directory.file("joins"), session = directory.file("joins.fathom")
        let include = "-I\(Binaries.repository)/Sources/CFathom/include"
        let built = try Fathom.run(["build", "--", "gcc", "-g", "-pthread", include, source, "-o", program])
        #expect(built.status == 0, "\(built.stderr)")
        let options = ["--quiet", "--startup", "--blocked"]
        #expect(try Fathom.record([program], into: session, options: options, isUrgent: true).status == 0)
        let plan = try Fathom.run(["startup", "--plan-from", session])
        let last = try #require(plan.stdout.split(separator: "\n").first { $0.contains("\"id\": \"last\"") }, "\(plan)")
        #expect(last.contains("\"load\"") && last.contains("\"beside\""), "\(plan.stdout)")
        let beside = try #require(plan.stdout.split(separator: "\n").first { $0.contains("\"id\": \"beside\"") })
        #expect(!beside.contains("load"), "\(plan.stdout)")
    }

    /// What lies in memory alone is never cold, and is named, wherever it lies.
    @Test(.enabled(if: access("/dev/shm", W_OK) == 0)) func coldStartsOfFilesInMemory() throws {
        let program = "/dev/shm/fathom-test-\(getpid())"
        defer { unlink(program) }
        try run("cp", [try plain("launch.c", "launch-plain"), program])
        let report = try startup([program], ["--cold"])
        let cold = try #require(report.cold)
        #expect(cold.contains("the file system of fathom-test-\(getpid()) is in memory"), "\(cold)")
        // What recording adds is none of the program's libraries, of which it says how much they take.
        let text = try Fathom.run(["startup", "--", program]).stdout
        let libraries = report.libraries.count { !$0.path.contains("libfathom") }
        #expect(text.contains("libraries:   \(libraries), "), "\(text)")
    }
}
