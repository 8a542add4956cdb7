import Foundation
import Glibc
import TestSupport
import Testing

/// Histories of runs of a real program, and gates against them.
@Suite struct HistoryTests {
    /// How many times a writer is killed, and how many changes are to be found; more are tried by hand.
    private static let kills = getenv("FATHOM_KILLS").flatMap { Int(String(cString: $0)) } ?? 6
    private static let gates = getenv("FATHOM_GATES").flatMap { Int(String(cString: $0)) } ?? 2

    private let directory: TemporaryDirectory

    /// Each function is called as often as the words say; the third word fails it.
    private static let source = """
        #include <stdlib.h>
        static volatile int sum;
        void leaf(int n) { sum += n; }
        void parse(int n) { for (int i = 0; i < n; i++) leaf(i); }
        void work(int n) { for (int i = 0; i < n; i++) { leaf(i); leaf(i + 1); } }
        int main(int count, char **words) {
            for (int i = 0; i < 5; i++) parse(4);
            work(7);
            int more = getenv("MORE") ? atoi(getenv("MORE")) : 0;
            switch (more % 3) {
            case 1: leaf(1); break;
            case 2: parse(more); break;
            default: if (more) work(more);
            }
            return count > 2 ? 3 : 0;
        }

        """

    init() throws {
        directory = try TemporaryDirectory("history")
        _ = try directory.write(Self.source, to: "prog.c")
        let built = try fathom("build", "--", "gcc", "-O1", "-g", "-o", "prog", "prog.c")
        try #require(built.status == 0, "\(built.stderr)")
    }

    private func fathom(_ arguments: String..., environment: [String: String] = [:]) throws -> ProcessOutput {
        try Fathom.run(arguments, environment: environment, workingDirectory: directory.path)
    }

    private func record(_ session: String, more: Int = 0) throws {
        let made = try fathom("record", "-q", "-o", session, "--", "./prog", "1", environment: ["MORE": "\(more)"])
        try #require(made.status == 0, "\(made.stderr)")
    }

    /// What a history holds: the functions of each run by its label `n`.
    private func runs(_ history: String) throws -> [String: String] {
        let list = try fathom("history", "list", "--history", history, "--format", "json")
        if list.status == 1 { return [:] }
        try #require(list.status == 0, "\(list.stderr)")
        var runs: [String: String] = [:]
        for line in list.stdout.split(separator: "\n") where line.hasPrefix("{\"run\":") {
            let run = String(line.dropFirst(7).prefix { $0.isNumber })
            let shown = try fathom("history", "show", run, "--history", history, "--format", "json")
            try #require(shown.status == 0, "\(shown.stderr)")
            let label = try #require(shown.stdout.firstMatch(of: #/"labels":{"n":"(\d+)"}/#)?.1)
            let functions = try #require(shown.stdout.split(separator: "\"by_function\":").last)
            runs[String(label)] = String(functions)
        }
        return runs
    }

    /// A run is added as it is recorded, and what changes between versions is told.
    @Test func versions() throws {
        for (version, more) in [("1", 0), ("1", 0), ("2", 1), ("2", 1)] {
            let made = try fathom(
                "record", "-q", "--history", "h.db", "--label", "version=\(version)", "--", "./prog", "1",
                environment: ["MORE": "\(more)"])
            try #require(made.status == 0 && made.stderr.isEmpty, "\(made.stderr)")
        }
        let changes = try fathom("history", "changes", "--history", "h.db", "--format", "json")
        #expect(changes.status == 0)
        #expect(changes.stdout.contains(#"{"function":"leaf","module":"","kind":"calls","index":2,"run":3,"#))
        #expect(changes.stdout.contains(#""calls":[34.0,35.0]"#), "\(changes.stdout)")
        let markdown = try fathom("history", "changes", "--history", "h.db", "--format", "markdown").stdout
        #expect(markdown.contains("| <code>leaf</code> | 34 → 35 calls"), "\(markdown)")
        let trend = try fathom("history", "trend", "leaf", "--metric", "calls", "--history", "h.db")
        let lines = trend.stdout.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.contains(["1", "2", "34", "34"]) && lines.contains(["2", "2", "35", "35", "+2.9", "%"]))
        for (format, begin) in [("svg", "<svg "), ("html", "<!doctype html>"), ("json", "{\"subject\":\"total\"")] {
            let drawn = try fathom("history", "trend", "total", "--history", "h.db", "--format", format)
            #expect(
                drawn.status == 0 && drawn.stdout.hasPrefix(begin)
                    && !drawn.stdout.contains("http://\("www.w3.org/1999")"))
        }
        // The session that was recorded last is in it already.
        let again = try fathom("history", "add", "prog.fathom", "--history", "h.db")
        #expect(again.status == 0 && again.stderr.contains("is there already, as run 4"), "\(again.stderr)")
        #expect(try fathom("history", "remove", "2", "--history", "h.db").status == 0)
        #expect(try fathom("history", "compact", "--history", "h.db").status == 0)
        #expect(try fathom("history", "merge", "h.db", "--history", "other.db").stderr.contains("3 runs of h.db added"))
        #expect(try fathom("history", "remove", "9", "--history", "h.db").status == 2)
        #expect(try fathom("history", "trend", "leav", "--history", "h.db").stderr.contains("did you mean leaf?"))
        // A history of a newer version is refused before the program runs, and stays as it is.
        let raised = try run(
            "python3",
            [
                "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 99')",
                directory.file("h.db"),
            ])
        try #require(raised.status == 0, "\(raised.stderr)")
        for command in [["history", "list", "--history", "h.db"], ["record", "--history", "h.db", "--", "./prog"]] {
            let refused = try Fathom.run(command, workingDirectory: directory.path)
            #expect(refused.status == (command[0] == "record" ? 125 : 2))
            #expect(refused.stderr.contains("h.db: written by a newer fathom: its format is 99"), "\(refused.stderr)")
        }
    }

    /// Writers that are killed leave whole runs or none, and those that write at the same time wait for each other.
    @Test func killedAndConcurrentWriters() throws {
        for number in 0..<4 { try record("s\(number).fathom", more: number) }
        for number in 0..<4 {
            let added = try fathom(
                "history", "add", "s\(number).fathom", "--history", "all.db", "--label", "n=\(number)")
            try #require(added.status == 0, "\(added.stderr)")
        }
        let whole = try runs("all.db")
        try #require(whole.count == 4 && Set(whole.values).count == 4)
        var random = SeededGenerator(seed: 11)
        for kill in 0..<Self.kills {
            let history = "killed\(kill % 3).db"
            let writers = try (0..<4).map { number in
                try BackgroundProcess([
                    Fathom.executable, "history", "add", directory.file("s\(number).fathom"), "--history",
                    directory.file(history), "--label", "n=\(number)",
                ])
            }
            usleep(UInt32(random.next() % 60_000))
            for writer in writers {
                writer.signal(SIGKILL)
                writer.wait()
            }
            guard access(directory.file(history), F_OK) == 0 else { continue }
            for (number, functions) in try runs(history) { #expect(whole[number] == functions) }
        }
        // All at once, and none is lost.
        let writers = try (0..<4).map { number in
            try BackgroundProcess([
                Fathom.executable, "history", "add", directory.file("s\(number).fathom"), "--history",
                directory.file("killed0.db"), "--label", "n=\(number)",
            ])
        }
        for writer in writers { #expect(writer.wait() == 0) }
        #expect(try runs("killed0.db") == whole)
    }

    /// One call more of any function is found in one run, and nothing is found where there is none.
    @Test func gateOfCounts() throws {
        for _ in 0..<2 {
            let made = try fathom("record", "-q", "--history", "h.db", "--", "./prog", "1")
            try #require(made.status == 0)
        }
        for number in 1...Self.gates {
            let worse = try fathom(
                "gate", "--counts", "--against", "h.db", "--junit", "t.xml", "--", "./prog", "1",
                environment: ["MORE": "\(number)"])
            #expect(worse.status == 1, "\(number): \(worse.stderr)")
            #expect(worse.stdout.hasPrefix("**Worse**"), "\(worse.stdout)")
            let fine = try fathom("gate", "--counts", "--against", "h.db", "--", "./prog", "1")
            #expect(fine.status == 0 && fine.stderr.isEmpty && fine.stdout.hasPrefix("**Passed**"), "\(fine.stderr)")
        }
        let test = try run(
            "python3",
            [
                "-c",
                "import sys, xml.etree.ElementTree as t; r = t.parse(sys.argv[1]).getroot(); print(r.tag, r.get('failures'), r.find('testcase/failure').get('message'))",
                directory.file("t.xml"),
            ])
        #expect(test.stdout.hasPrefix("testsuite 1 "), "\(test)")
        // Sessions do as well as a history.
        try record("base.fathom")
        let named = try fathom(
            "gate", "--counts", "--against", "base.fathom", "--format", "json", "--", "./prog", "1",
            environment: ["MORE": "1"])
        #expect(named.status == 1 && named.stdout.contains(#"{"name":"leaf","calls":[34,35],"follows":false}"#))
    }

    /// A gate of times tells worse, fine, and that nobody can tell; a program that fails tells nothing.
    @Test func gateOfTimes() throws {
        let slow = """
            #include <stdlib.h>
            #include <unistd.h>
            int main(int count, char **words) { usleep(count > 1 ? 1000 * atoi(words[1]) : 0); }

            """
        _ = try directory.write(slow, to: "wait.c")
        try #require(try fathom("build", "--", "gcc", "-O1", "-g", "-o", "wait", "wait.c").status == 0)
        let worse = try fathom(
            "gate", "--baseline-cmd", "./wait 1", "--max-regress", "100%", "--format", "json", "--", "./wait", "60")
        #expect(worse.status == 1 && worse.stdout.contains(#""verdict":"worse""#), "\(worse.stdout)\(worse.stderr)")
        #expect(worse.stdout.contains(#"{"name":"main","self_ns""#))
        let fine = try fathom(
            "gate", "--baseline-cmd", "./wait 60", "--max-regress", "100%", "--", "./wait", "1")
        #expect(fine.status == 0 && fine.stdout.hasPrefix("**Passed**"), "\(fine.stdout)\(fine.stderr)")
        let short = try fathom("gate", "--baseline-cmd", "./wait", "--budget", "1ms", "--", "./wait")
        #expect(
            short.status == 2 && short.stderr.contains("allowed; about 6 more runs of each side would tell"),
            "\(short.stderr)")
        let failing = try fathom("gate", "--baseline-cmd", "./prog", "--", "./prog", "1", "2")
        #expect(failing.status == 2 && failing.stderr.contains("ended with status 3"), "\(failing.stderr)")
        // A subject that nobody has is no success, and takes no more than a run.
        for (subject, message) in [
            ("mian", "no run called a function that matches 'mian'; did you mean main?"),
            ("main;none", "no run has the call path main → none"), ("mark none", "the run has no mark none"),
        ] {
            let misspelt = try fathom("gate", "--baseline-cmd", "./wait", "--of", subject, "--", "./wait")
            #expect(misspelt.status == 2 && misspelt.stderr.contains(message), "\(misspelt.stderr)")
        }
        #expect(try fathom("gate", "--", "./wait").status == 64)
        #expect(try fathom("gate", "--against", "none.db", "--", "./wait").status == 2)
    }

    /// The ending of the file's name says what is written, unless an option does.
    @Test func trendsByEnding() throws {
        for number in 1...3 {
            let made = try fathom("record", "-q", "--history", "h.db", "-o", "s\(number)", "--", "./prog")
            try #require(made.status == 0, "\(made.stderr)")
        }
        let beginnings = [
            ("t.html", "<!doctype html>"), ("t.SVG", "<svg"), ("t.json", "{\"subject\""), ("t.txt", "total"),
            ("t", "total"),
        ]
        for (name, beginning) in beginnings {
            let made = try fathom("history", "trend", "total", "--history", "h.db", "-o", name)
            #expect(made.status == 0, "\(made.stderr)")
            let text = String(decoding: try readFile(directory.file(name)), as: UTF8.self)
            #expect(text.hasPrefix(beginning), "\(name): \(text.prefix(40))")
        }
        _ = try fathom("history", "trend", "total", "--history", "h.db", "-o", "t.html", "--format", "json")
        #expect(String(decoding: try readFile(directory.file("t.html")), as: UTF8.self).hasPrefix("{"))
        // So does fathom startup.
        _ = try fathom("startup", "-o", "start.json", "--", "./prog")
        #expect(String(decoding: try readFile(directory.file("start.json")), as: UTF8.self).hasPrefix("{"))
    }

    /// A gate compares with runs of the same command, though the newest in the history are of another; where there is none, nobody can tell, and
    /// who waits for a test's result gets one.
    @Test func gateOfOtherCommands() throws {
        for words in [["1"], ["1"], ["1"], ["2"], ["2"]] {
            let more = words[0] == "2" ? "7" : "0"
            let made = try Fathom.run(
                ["record", "-q", "--history", "h.db", "-o", "s", "--", "./prog", words[0]], environment: ["MORE": more],
                workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
        }
        let same = try fathom("gate", "--counts", "--against", "h.db", "--", "./prog", "1")
        #expect(same.status == 0, "\(same.stdout) \(same.stderr)")
        let elsewhere = try fathom("gate", "--counts", "--against", "h.db", "--", "\(directory.path)/prog", "1")
        #expect(elsewhere.status == 0, "\(elsewhere.stdout) \(elsewhere.stderr)")
        let other = try fathom("gate", "--counts", "--against", "h.db", "--junit", "gate.xml", "--", "./prog", "3")
        #expect(other.status == 2 && other.stderr.contains("has no run of ./prog 3"), "\(other.stderr)")
        let junit = try String(contentsOfFile: directory.file("gate.xml"), encoding: .utf8)
        #expect(junit.contains("skipped=\"1\"") && junit.contains("has no run of ./prog 3"), "\(junit)")
        let missing = try fathom("gate", "--against", "none.db", "--junit", "none.xml", "--", "./prog", "1")
        #expect(missing.status == 2, "\(missing.stderr)")
        #expect(try String(contentsOfFile: directory.file("none.xml"), encoding: .utf8).contains("<skipped"))
    }

    /// The recipes of Documentation/continuous-integration.md, in three jobs each, on a machine of its own name, which carry nothing but what they
    /// cache: two of the main branch make the history grow, and the gate of a change judges.
    @Test func recipesOfContinuousIntegration() throws {
        let document = try String(
            contentsOfFile: "\(Binaries.repository)/Documentation/continuous-integration.md", encoding: .utf8)
        let cached = document.matches(of: #/(?:path: |paths: \[)([\w.]+)/#).map { String($0.1) }
        #expect(Set(cached) == ["perf.db"])
        func lines(_ beginning: String) -> [String] {
            document.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .map { $0.hasPrefix("run: ") ? String($0.dropFirst(5)) : $0 }
                .filter {
                    $0.hasPrefix(beginning) && $0.contains("perf.db")
                        && ($0.contains("github") || $0.contains("CI_") || $0.contains("junit"))
                }
        }
        let (records, gates) = (lines("fathom record"), lines("fathom gate"))
        try #require(records.count == 2 && gates.count >= 2)
        for (record, gate) in zip(records, gates) {
            let cache = try TemporaryDirectory("cache")
            func job(_ line: String, _ commit: String, more: String) throws -> ProcessOutput {
                let work = try TemporaryDirectory("job")
                for (from, to) in [
                    (directory.file("prog"), work.file("prog")), (cache.file("perf.db"), work.file("perf.db")),
                ]
                where FileManager.default.fileExists(atPath: from) {
                    try FileManager.default.copyItem(atPath: from, toPath: to)
                }
                let command = line.replacingOccurrences(of: "${{ github.sha }}", with: commit)
                let output = try run(
                    "/bin/sh", ["-c", command],
                    environment: [
                        "CI_COMMIT_SHA": commit, "MORE": more, "GITHUB_STEP_SUMMARY": work.file("summary"),
                        "PATH":
                            "\(Fathom.executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }):/usr/bin:/bin",
                    ], workingDirectory: work.path, seconds: 60)
                if FileManager.default.fileExists(atPath: cache.file("perf.db")) {
                    try FileManager.default.removeItem(atPath: cache.file("perf.db"))
                }
                try FileManager.default.copyItem(atPath: work.file("perf.db"), toPath: cache.file("perf.db"))
                return output
            }
            for (count, commit) in [(1, "a1"), (2, "b2")] {
                let made = try job(record, commit, more: "0")
                #expect(made.status == 0, "\(made.stderr)")
                let list = try fathom("history", "list", "--history", cache.file("perf.db"), "--format", "json")
                #expect(list.stdout.matches(of: #/"run":/#).count == count, "\(list.stdout) \(list.stderr)")
            }
            #expect(try job(gate, "c3", more: "0").status == 0)
            #expect(try job(gate, "c3", more: "1").status == 1)
        }
    }

    /// A history that cannot be written is told before the program runs, and is no success.
    @Test func unwritableHistory() throws {
        try FileManager.default.createDirectory(atPath: directory.file("d"), withIntermediateDirectories: false)
        let made = try fathom("record", "-q", "--history", "d", "-o", "s", "--", "./prog", "1")
        #expect(made.status == 125 && made.stderr.contains("d:"), "\(made.stderr)")
        #expect(!FileManager.default.fileExists(atPath: directory.file("s")))
    }

    /// A program whose start, allocations and mark are known.
    private func buildStart() throws {
        let source = """
            #include "fathom.h"
            #include <stdlib.h>
            #include <unistd.h>
            __attribute__((constructor)) static void slow_setup(void) { usleep(30000); }
            __attribute__((noinline)) void take(int n) { while (n-- > 0) { void *volatile block = malloc(100); free(block); } }
            int main(void) { fathom_mark("begun"); take(getenv("MORE") ? 4 : 3); return 0; }

            """
        _ = try directory.write(source, to: "start.c")
        let built = try fathom(
            "build", "--", "gcc", "-O1", "-g", "-I\(Binaries.repository)/Sources/CFathom/include", "-o", "start",
            "start.c")
        try #require(built.status == 0, "\(built.stderr)")
    }

    private func recordStart(_ option: String, into history: String) throws {
        let made = try fathom(
            "record", "-q", "--history", history, "-o", "s", "--force", option, "--", "./start")
        try #require(made.status == 0, "\(made.stderr)")
    }

    private func shown(_ run: Int, of history: String) throws -> [String: Any] {
        let output = try fathom("history", "show", "\(run)", "--history", history, "--format", "json")
        return try #require(try JSONSerialization.jsonObject(with: Data(output.stdout.utf8)) as? [String: Any])
    }

    /// A mark's moment counts from the program's start, and not from that of Fathom; what is known of a start and of a run as a whole
    /// is kept, and can be asked for.
    @Test func startsAndMeasures() throws {
        try buildStart()
        try recordStart("--startup", into: "h.db")
        let dump = try fathom("dump", "s").stdout.split(separator: "\n")
        func moment(_ words: String...) throws -> Int {
            let line = try #require(dump.first { line in words.allSatisfy { line.contains($0) } })
            return try #require(line.split(separator: " ").lazy.compactMap { Int($0) }.first)
        }
        let setup = try moment("enter", "slow_setup"), begun = try moment("mark", "begun")
        let run = try shown(1, of: "h.db")
        let marks = try #require(run["marks"] as? [String: [String: Int]])
        let first = try #require(marks["begun"]?["first_ns"])
        #expect(first < begun && first >= begun - setup, "\(first), \(begun), \(setup)")
        let measures = try #require(run["measures"] as? [String: Int])
        #expect(try #require(measures["cpu time"]) > 0)
        #expect(try #require(measures["initializer start slow_setup"]) >= 30_000_000, "\(measures)")
        #expect(measures.keys.contains { $0.hasPrefix("phase ") && $0.contains("initializers") }, "\(measures)")
        #expect(measures["allocations"] == nil)
        try recordStart("--startup", into: "h.db")
        let trend = try fathom("history", "trend", "initializer slow_setup", "--history", "h.db", "--format", "json")
        #expect(trend.status == 0 && trend.stdout.contains(#""subject":"initializer start slow_setup""#), "\(trend)")
        let misspelt = try fathom("history", "trend", "initializer start slow_setip", "--history", "h.db")
        #expect(misspelt.status != 0 && misspelt.stderr.contains("initializer start slow_setup"), "\(misspelt.stderr)")
        for subject in ["cpu time", "initializer slow_setup"] {
            let gate = try fathom(
                "gate", "--baseline-cmd", "./start", "--of", subject, "--max-regress", "900%", "--budget", "9s", "--",
                "./start")
            #expect(gate.status == 0 && gate.stdout.hasPrefix("**Passed**"), "\(gate)")
        }
        // A machine that cannot count instructions says so in one line, before it runs anything.
        let counted = try fathom(
            "gate", "--baseline-cmd", "./start", "--of", "instructions", "--budget", "2s", "--", "./start")
        if measures["instructions"] == nil {
            let lines = counted.stderr.split(separator: "\n")
            #expect(counted.status == 2 && lines.count == 1, "\(counted.stderr)")
            #expect(counted.stderr.contains("--of instructions: "), "\(counted.stderr)")
        } else {
            #expect(try #require(measures["instructions"]) > 1000 && counted.stdout.contains("p50 of instructions"))
        }
    }

    /// `gate --counts` compares allocations where the baseline was recorded with them.
    @Test func gateOfAllocations() throws {
        try buildStart()
        for _ in 0..<2 { try recordStart("--memory", into: "h.db") }
        #expect((try shown(1, of: "h.db")["measures"] as? [String: Int])?["allocations"] == 3)
        func gate(_ baseline: String, more: Bool) throws -> ProcessOutput {
            try fathom(
                "gate", "--counts", "--against", baseline, "--format", "json", "--", "./start",
                environment: more ? ["MORE": "1"] : [:])
        }
        for baseline in ["h.db", "s"] {
            let fine = try gate(baseline, more: false)
            #expect(fine.status == 0, "\(fine)")
            let worse = try gate(baseline, more: true)
            #expect(worse.status == 1, "\(worse)")
            #expect(worse.stdout.contains(#"{"name":"take","allocations":[3,4],"follows":false}"#), "\(worse.stdout)")
        }
        // Without them, there is nothing that differs.
        let plain = try fathom("record", "-q", "--force", "-o", "plain", "--", "./start")
        try #require(plain.status == 0)
        #expect(try gate("plain", more: true).status == 0)
    }

    /// The ending of the file's name says how a gate's summary is written, also where nothing could be judged.
    @Test func gatesByEnding() throws {
        try record("base.fathom")
        func text(_ name: String) throws -> String {
            String(decoding: try readFile(directory.file(name)), as: UTF8.self)
        }
        let beginnings = [
            ("g.xml", "<?xml"), ("g.JSON", "{\"verdict\""), ("g.md", "**Worse**"), ("g.txt", "Worse:"),
            ("g", "**Worse**"),
        ]
        for (name, beginning) in beginnings {
            let worse = try fathom(
                "gate", "--counts", "--against", "base.fathom", "-o", name, "--", "./prog", "1",
                environment: ["MORE": "1"])
            #expect(worse.status == 1, "\(worse)")
            #expect(try text(name).hasPrefix(beginning), "\(name)")
        }
        #expect(try text("g.xml").contains("failures=\"1\""))
        let asked = try fathom(
            "gate", "--counts", "--against", "base.fathom", "-o", "asked.xml", "--format", "json", "--", "./prog", "1")
        #expect(asked.status == 0)
        #expect(try text("asked.xml").hasPrefix("{"))
        for (name, word) in [("none.xml", "skipped=\"1\""), ("none.json", "\"verdict\":\"unknown\"")] {
            #expect(try fathom("gate", "--against", "none.db", "-o", name, "--", "./prog", "1").status == 2)
            #expect(try text(name).contains(word))
        }
    }
}
