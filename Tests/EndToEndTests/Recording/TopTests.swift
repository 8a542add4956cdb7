internal import Glibc
import TestSupport
import Testing

/// `fathom top` beside a program that runs until it is told to end.
@Suite struct TopTests {
    private static let source = """
        #include <pthread.h>
        #include <unistd.h>
        static volatile int sink;
        static const char *stop;
        static void leaf(void) { for (int i = 0; i < 300; i++) sink += i; }
        static void nap(void) { usleep(1000); }
        static void step(int n) { for (int i = 0; i < 3; i++) leaf(); if (n % 2 == 0) nap(); }
        static void *work(void *unused) { for (int n = 0; access(stop, F_OK) != 0; n++) step(n); return unused; }
        static void *briefly(void *unused) { leaf(); return unused; }
        int main(int argc, char **argv) {
            pthread_t other, brief;
            stop = argv[argc - 1];
            pthread_create(&other, 0, work, 0);
            for (int n = 0; access(stop, F_OK) != 0; n++) {
                if (n % 5 == 0) {
                    pthread_create(&brief, 0, briefly, 0);
                    pthread_join(brief, 0);
                }
                step(n);
            }
            pthread_join(other, 0);
        }
        """

    private let directory: TemporaryDirectory
    private let recorder: BackgroundProcess
    private var session: String { directory.file("x.fathom") }
    private var stop: String { directory.file("stop") }

    private static let program = Result {
        let path = "\(Fathom.made)/Top"
        try run("mkdir", ["-p", path])
        return try Toolchain.compile(
            sources: ["serve.c": source], compiler: .gcc,
            flags: ["-g", "-O1", "-pthread", "-finstrument-functions"], output: "\(path)/serve")
    }

    init() throws { (directory, recorder) = try TopTests.start([]) }

    private static func start(_ options: [String]) throws -> (TemporaryDirectory, BackgroundProcess) {
        let directory = try TemporaryDirectory("top")
        let recorder = try BackgroundProcess(
            [Fathom.executable, "record", "-q", "-o", directory.file("x.fathom")] + options
                + ["--", try program.get(), directory.file("stop")])
        return (directory, recorder)
    }

    private static func end(_ directory: TemporaryDirectory, _ recorder: BackgroundProcess) throws {
        try writeFile([], to: directory.file("stop"))
        #expect(recorder.wait() == 0)
    }

    /// The table of one look as text.
    private static func look(_ session: String, _ options: [String] = []) throws -> ProcessOutput {
        try Fathom.run(["top", session, "-n", "1"] + options)
    }

    /// Waits until the program has made calls that a look shows.
    private static func waitForCalls(_ session: String) {
        #expect(waitUntil(seconds: 60) { (try? look(session).stdout.contains("  leaf")) ?? false })
    }

    /// Function and calls of each row.
    private static func calls(_ table: some StringProtocol) -> [String: Int] {
        String(table).split(separator: "\n").reduce(into: [:]) { calls, line in
            let words = line.split(separator: " ")
            guard let count = words.first.flatMap({ Int($0.filter { $0 != "," }) }),
                let name = words.first(where: names.contains)
            else { return }
            calls[String(name)] = count
        }
    }

    private static let names: Set<Substring> = ["main", "work", "step", "leaf", "nap", "briefly"]

    @Test(arguments: [[], ["--mode", "profile"], ["--mode", "flight"]]) func looks(_ options: [String]) throws {
        let (directory, recorder) = try TopTests.start(options)
        let session = directory.file("x.fathom")
        TopTests.waitForCalls(session)
        let output = try Fathom.run(["top", session, "-n", "3", "-d", "100ms", "--limit", "0"])
        #expect(output.status == 0 && output.stderr.isEmpty)
        let looks = output.stdout.split(separator: "\n\n")
        #expect(looks.count == 3)
        #expect(looks.allSatisfy { $0.hasPrefix("x.fathom: for ") })
        let calls = looks.map { TopTests.calls($0) }
        #expect(calls.allSatisfy { Set($0.keys) == Set(TopTests.names.map(String.init)) }, "\(calls)")
        if options != ["--mode", "flight"] {
            for (before, after) in zip(calls, calls.dropFirst()) {
                #expect(try #require(before["leaf"]) < #require(after["leaf"]))
            }
            for calls in calls { #expect(calls["main"] == 1 && calls["work"] == 1) }
        }
        try TopTests.end(directory, recorder)
    }

    /// What top has counted when the program ends is what the recording holds.
    @Test func countsEverything() throws {
        TopTests.waitForCalls(session)
        let output = try { () throws -> String in
            let top = directory.file("top.txt")
            let command = "'\(Fathom.executable)' top '\(session)' -d 60ms --limit 0 >'\(top)'"
            let process = try BackgroundProcess(["sh", "-c", command])
            #expect(waitUntil(seconds: 60) { (try? readFile(top).count { $0 == 10 }) ?? 0 > 20 })
            try TopTests.end(directory, recorder)
            #expect(process.wait() == 0)
            return String(decoding: try readFile(top), as: UTF8.self)
        }()
        let last = try #require(output.split(separator: "\n\n").last)
        #expect(last.hasPrefix("x.fathom: has ended"))
        let report = try Fathom.run(["report", session, "--limit", "0"]).stdout
        #expect(TopTests.calls(last) == TopTests.calls(report))
        #expect(try #require(TopTests.calls(report)["briefly"]) > 0)
    }

    @Test func byProcess() throws {
        TopTests.waitForCalls(session)
        let pids = try run("pgrep", ["-f", stop]).stdout.split(separator: "\n").compactMap { Int32($0) }
        let program = try #require(pids.first { $0 != recorder.pid })
        let output = try TopTests.look("\(program)")
        #expect(output.status == 0 && output.stdout.hasPrefix("x.fathom: for "), "\(output)")
        let other = try BackgroundProcess(["sleep", "300"])
        defer { other.signal(SIGKILL) }
        let refused = try TopTests.look("\(other.pid)")
        #expect(refused.status == 2, "\(refused.stderr)")
        #expect(refused.stderr.hasPrefix("fathom: error: process \(other.pid) is not being recorded"))
        let none = try TopTests.look("4194305")
        #expect(none.status == 2 && none.stderr.contains("there is no process 4194305"))
        try TopTests.end(directory, recorder)
        let over = try TopTests.look(session)
        #expect(over.status == 1 && over.stderr.contains("is not being recorded any more; fathom browse shows"))
    }

    @Test(arguments: [(80, 24), (200, 60)]) func onATerminal(_ columns: Int, _ rows: Int) throws {
        TopTests.waitForCalls(session)
        let terminal = try Terminal(
            columns: columns, rows: rows, "'\(Fathom.executable)' top '\(session)' -d 100ms")
        try terminal.wait { $0.count == rows && $0[0].contains("x.fathom · report · for ") && $0[1].contains("▼total") }
        // Numbers change by themselves, and not while it is paused.
        let first = try terminal.screen()
        try terminal.wait { $0.count == rows && $0.first != first.first }
        try terminal.type("Space")
        try terminal.wait { try $0.at(0).hasSuffix("PAUSED") }
        let paused = try terminal.screen()
        try #require(paused.count == rows)
        usleep(400_000)
        #expect(try terminal.screen() == paused)
        try terminal.type("Space")
        try terminal.wait { try !$0.at(0).hasSuffix("PAUSED") && $0.at(2) != paused[2] }
        try terminal.type("s")
        try terminal.wait { try $0.at(1).contains("▼self") }
        for key in ["/", "leaf", "Enter", "r"] { try terminal.type(key) }
        try terminal.wait {
            try $0.at(0).contains("callers and callees of leaf") && $0.contains { $0.hasSuffix("  step") }
                && $0.contains { $0.hasSuffix("briefly") }
        }
        try terminal.type("o")
        try terminal.wait { lines in
            try lines.at(0).contains("open calls")
                && ["main", "work"].allSatisfy { name in
                    lines.contains { $0.hasSuffix(" s  \(name)") || $0.hasSuffix(" ms  \(name)") }
                }
        }
        for key in ["Escape", "Escape", "G", "E"] { try terminal.type(key) }
        try terminal.wait { try $0.at(0).contains("call tree") && $0.contains { $0.hasSuffix("▾ main") } }
        for key in ["F", "step", "Enter"] { try terminal.type(key) }
        try terminal.wait { try $0.at(0).contains("only step") && $0.at(2).hasSuffix("step") }
        for key in ["F", "C-u", "Enter", "S", "j", "j", "Enter"] { try terminal.type(key) }
        try terminal.wait {
            try $0.at(0).contains("thread ") && $0.contains { $0.hasSuffix("▾ work") || $0.hasSuffix("▾ main") }
        }
        try terminal.resize(columns: columns + 7, rows: rows - 3)
        try terminal.wait { $0.count == rows - 3 && $0[0].contains("call tree") }
        try TopTests.end(directory, recorder)
        try terminal.wait { try $0.at(0).contains("has ended") }
        try terminal.type("q")
        #expect(try terminal.status() == 0)
        #expect(try terminal.modes() == (false, true))
    }
}
