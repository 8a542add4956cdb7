internal import Glibc
import TestSupport
import Testing

/// What is shown on a terminal fits it, and is paged; what goes elsewhere is whole.
@Suite struct TerminalTests {
    private static let sizes = [(80, 24), (120, 40), (200, 60)]

    /// Long names in a deep directory.
    private static let source = """
        #include <map>
        #include <string>
        #include <vector>
        namespace project::parsing {
        struct Token { std::string text; std::map<int, std::vector<std::string>> alternatives; };
        template <class Element, class Allocator> struct Parser {
            __attribute__((noinline)) int parse_expression(Element const &element, std::map<int, std::vector<std::string>> const &names, int depth) {
                return depth == 0 ? int(element.text.size() + names.size()) : parse_expression(element, names, depth - 1) + 1;
            }
        };
        }
        template <int N> __attribute__((noinline)) int step(int i) { return i + N; }
        template <int N> __attribute__((noinline)) int steps(int i) {
            if constexpr (N > 0) return step<N>(i) + steps<N - 1>(i + 1); else return i;
        }
        int main(int argc, char **argv) {
            project::parsing::Parser<project::parsing::Token, std::vector<project::parsing::Token>> parser;
            int sum = steps<40>(argc);
            for (int i = 0; i < 60; i++) sum += parser.parse_expression({argv[0], {}}, {}, i % 30);
            return sum == 0;
        }
        """

    /// Threads that wait for each other, and a constructor that takes its time.
    private static let waitingSource = """
        #include <mutex>
        #include <semaphore.h>
        #include <thread>
        #include <unistd.h>
        namespace project::storage {
        std::mutex index_mutex;
        sem_t ready;
        template <class Key, class Value> struct Table {
            int look_up(Key const &key, Value const &) {
                std::lock_guard<std::mutex> guard(index_mutex);
                usleep(key);
                return 1;
            }
        };
        void serve(int count) {
            Table<int, std::thread> table;
            for (int i = 0; i < count; i++) table.look_up(500, {});
            sem_post(&ready);
        }
        }
        __attribute__((constructor)) static void read_all_settings_of_the_user_and_the_machine() { usleep(5000); }
        void never_called_by_anybody_in_any_run(int depth) { if (depth > 0) never_called_by_anybody_in_any_run(depth - 1); }
        int main() {
            sem_init(&project::storage::ready, 0, 0);
            std::thread first(project::storage::serve, 20), second(project::storage::serve, 20);
            sem_wait(&project::storage::ready);
            first.join();
            second.join();
        }
        """

    /// A directory with the programs and their recordings, made once a test run.
    private struct Recordings {
        /// Among what the tests make, because nobody would remove a temporary directory that all tests share.
        let path = "\(Fathom.made)/Screens"

        func file(_ name: String) -> String { "\(path)/\(name)" }

        private init() throws {
            try run("rm", ["-rf", path])
            try run("mkdir", ["-p", path])
            let program = try Toolchain.compile(
                sources: ["a_rather_long_file_name.cpp": TerminalTests.source], compiler: .clangxx,
                flags: ["-std=c++20", "-g", "-O1", "-finstrument-functions"], output: file("program"))
            for name in ["a", "b", "c", "d"] {
                #expect(try Fathom.record([program], into: file("\(name).fathom")).status == 0)
            }
            let waiting = try Toolchain.compile(
                sources: ["another_rather_long_file_name.cpp": TerminalTests.waitingSource], compiler: .gxx,
                flags: ["-std=c++17", "-g", "-pthread", "-finstrument-functions"], output: file("waiting"))
            let blocked = try Fathom.record([waiting], into: file("w.fathom"), options: ["--blocked", "--quiet"])
            #expect(blocked.status == 0)
            let everything = ["--blocked", "--memory", "--faults", "--quiet"]
            #expect(try Fathom.record([waiting], into: file("m.fathom"), options: everything).status == 0)
        }

        static let shared = Result { try Recordings() }
    }

    private let directory: Recordings
    private var program: String { directory.file("program") }
    private var session: String { directory.file("a.fathom") }

    init() throws { directory = try Recordings.shared.get() }

    /// Runs a command line of `fathom`, in the directory of the sessions.
    private func terminal(
        _ command: String, _ size: (columns: Int, rows: Int) = (80, 24), environment: [String: String] = [:]
    ) throws -> Terminal {
        try Terminal(
            columns: size.columns, rows: size.rows, environment: environment,
            "cd '\(directory.path)'; fathom() { '\(Fathom.executable)' \"$@\"; }; \(command)")
    }

    @Test(arguments: sizes) func nothingWraps(_ columns: Int, _ rows: Int) throws {
        let paged = [
            "report a.fathom", "report a.fathom --limit 0", "report m.fathom --limit 0",
            "report m.fathom --times all --limit 0", "tree m.fathom --times all --memory all --faults all --limit 30",
            "report a.fathom --by path", "report a.fathom --by file",
            "report a.fathom --by module", "report a.fathom --by thread", "report a.fathom --by process",
            "report a.fathom --callers 'step*' --sort p90", "graph a.fathom", "graph a.fathom 'step<4>'",
            "tree a.fathom", "tree a.fathom --lines --call-sites", "tree a.fathom --sort time --limit 9",
            "tree a.fathom -t 1s", "tree a.fathom --watch 'step<4>'", "tail a.fathom '*parse_expression*'",
            "diff a.fathom b.fathom", "diff a.fathom b.fathom --all",
            "diff a.fathom b.fathom -- c.fathom d.fathom --all",
            "diff a.fathom b.fathom -- c.fathom d.fathom --by path --all", "info a.fathom --modules",
            "info a.fathom --tree",
            "info program", "info a.fathom --check", "dump a.fathom", "tune a.fathom", "doctor", "doctor ./program",
            "tree none.fathom", "report a.fathom -F nothing", "report a.fathom --sort none",
            "report w.fathom --times all", "tree w.fathom --times all --limit 20", "waits w.fathom",
            "waits w.fathom --limit 0", "waits w.fathom --longest 5", "chain w.fathom --call main",
            "chain w.fathom --call main --limit 0", "startup w.fathom", "startup -- ./waiting",
            "startup --runs 2 -- ./program", "unused w.fathom", "unused w.fathom --by file",
            "unused a.fathom --limit 0",
            "gate --against w.fathom --counts -- ./program", "gate --against a.fathom --counts -- ./program",
        ]
        let other = [
            "tune a.fathom -o e\(columns).list", "diff a.fathom b.fathom -o e\(columns).html",
            "flame a.fathom -o e\(columns).html", "export a.fathom --format chrome -o e\(columns).json",
            "record -o e\(columns).fathom -- ./program", "record -- ./none", "build -- true", "--help",
            "record --blocked --memory --faults -o f\(columns).fathom -- ./waiting", "arm -- ./waiting",
            "order w.fathom -o e\(columns).order --linker lld", "watch --timeout 20s -- ./waiting",
            "history add a.fathom b.fathom w.fathom --label version=1 --history e\(columns).db",
            "history list --history e\(columns).db", "history show 3 --history e\(columns).db",
            "history trend main --history e\(columns).db --program program",
            "history changes --history e\(columns).db --program program",
            "history compact --history e\(columns).db", "collect --to e\(columns).tables w.fathom",
            "ctl w.fathom status", "top w.fathom", "sample 4194304", "sample program",
        ]
        // What follows cc and c++ is the compiler's, --help, too.
        let helps =
            try Fathom.commands().filter { !["cc", "c++"].contains($0) }
            + ["add", "list", "show", "trend", "changes"].map { "history \($0)" }
        let commands =
            paged.map { "\($0) --no-pager" } + other + helps.map { "\($0) --help" } + ["help cc", "help c++"]
        let script = commands.map { "echo \"== \($0)\"; fathom \($0)" }.joined(separator: "\n")
        let terminal = try terminal(script, (columns, rows), environment: ["PAGER": "cat"])
        _ = try terminal.status()
        let (all, unbroken) = (try terminal.all(), try terminal.unbroken())
        #expect(all.count { $0.hasPrefix("== ") } == commands.count)
        if all.count != unbroken.count {
            let wrapped = unbroken.filter { line in !all.contains { $0 == line.dropLast { $0 == " " } } }
            Issue.record("\(wrapped)")
        }
        #expect(all.count > 200)
        // A table is no longer than the screen, unless all of it is asked for.
        let parts = all.split { $0.hasPrefix("== ") }
        try #require(parts.count > 1)
        #expect(parts[0].count < rows && parts[0].contains { $0.hasSuffix("more, --limit 0 shows all") })
        // Names have room, whatever is told besides.
        for part in parts[2...4] { #expect(part.contains { $0.contains("main") }, "\(part.prefix(3))") }
        #expect(parts[1].count > 80 && !parts[1].contains { $0.hasSuffix("shows all") })
    }

    @Test func pathsAreAsTheReaderNamesThem() throws {
        let terminal = try terminal("fathom report a.fathom --by file --no-pager", (120, 24))
        #expect(try terminal.status() == 0)
        #expect(try terminal.screen().contains { $0.hasSuffix("  a_rather_long_file_name.cpp") })
        #expect(try Fathom.run(["report", session, "--by", "file"]).stdout.contains("  \(directory.path)/a_rather"))
    }

    /// Lists are to be copied: nothing of a pattern is cut, and what is said of it has a line of its own where it takes one.
    @Test func listsAreWhole() throws {
        let command = "tune a.fathom --system-headers --keep 0%"
        let terminal = try terminal("fathom \(command) --no-pager", (30, 60))
        #expect(try terminal.status() == 0)
        let lines = try terminal.unbroken()
        #expect(!lines.contains { $0.contains("…") }, "\(lines)")
        let words = command.split(separator: " ").map(String.init)
        let whole = try Fathom.run(words, workingDirectory: directory.path).stdout
        let patterns = whole.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            String(line.firstRange(of: "  # ").map { line[..<$0.lowerBound] } ?? line).dropLast { $0 == " " }
        }
        #expect(patterns.count > 3)
        #expect(lines.filter { !$0.hasPrefix("#") }.map { $0.dropLast { $0 == " " } } == patterns)
        #expect(lines.filter { $0.hasPrefix("#") }.allSatisfy { $0.count <= 30 }, "\(lines)")
    }

    // MARK: Pager

    @Test func longOutputIsPaged() throws {
        let terminal = try terminal("fathom tree a.fathom")
        try terminal.wait { $0.count == 24 && $0.last == ":" }
        #expect(try terminal.screen().at(0).hasPrefix("process "))
        // Ctrl-C is for the pager.
        try terminal.type("C-c")
        try terminal.type("Space")
        try terminal.wait { $0.last == ":" && !$0[0].hasPrefix("process ") }
        try terminal.type("q")
        #expect(try terminal.status() == 0)
        #expect(!(try terminal.all().contains { $0.hasPrefix("fathom:") }))
    }

    /// Colours are shown as such, whatever people have less do besides.
    @Test(arguments: [[:], ["PAGER": "less"]]) func colouredOutputIsPaged(_ environment: [String: String]) throws {
        let terminal = try terminal(
            "fathom report a.fathom --limit 0", environment: environment.merging(["LESS": "-S"]) { $1 })
        try terminal.wait { $0.count == 24 && $0.last == ":" }
        #expect(try terminal.screen()[0].hasPrefix("   "))
        #expect(try terminal.coloured().hasPrefix("\u{1b}[1m"))
        try terminal.type("q")
    }

    @Test func shortOutputStays() throws {
        let terminal = try terminal("fathom report a.fathom")
        #expect(try terminal.status() == 0)
        #expect(try terminal.screen().at(0).contains("calls"))
    }

    /// A reader who leaves ends what is written, without a word.
    @Test func leavingThePagerEndsIt() throws {
        let terminal = try terminal(
            "for i in 1 2 3 4 5 6 7 8; do fathom dump a.fathom; done 2>errors; cat errors", (80, 24),
            environment: ["PAGER": "head -n 1"])
        #expect(try terminal.status() == 0)
        let lines = try terminal.screen()
        #expect(lines.count == 8 && lines.allSatisfy { $0.hasPrefix("process ") }, "\(lines)")
    }

    @Test(arguments: [
        (["PAGER": "sed s/^/paged:/"], "", true), (["PAGER": "false", "FATHOM_PAGER": "sed s/^/paged:/"], "", true),
        (["FATHOM_PAGER": "sed s/^/paged:/"], "--no-pager", false), (["PAGER": "sed s/^/paged:/"], "| cat", false),
        (["PAGER": "sed s/^/paged:/", "FATHOM_PAGER": ""], "", false), (["PAGER": "cat"], "", false),
        (["PAGER": "sed s/^/paged:/"], "--format json", true),
    ])
    func pagerOfChoice(_ environment: [String: String], _ options: String, _ isPaged: Bool) throws {
        let terminal = try terminal("fathom report a.fathom \(options)", environment: environment)
        #expect(try terminal.status() == 0)
        let lines = try terminal.unbroken()
        #expect(lines.count > 5 && lines.allSatisfy { $0.hasPrefix("paged:") == isPaged }, "\(lines)")
    }

    /// A pager that is not there hides nothing.
    @Test(arguments: ["nosuchpager", "nosuchpager -R", "/none/pager"]) func missingPager(_ pager: String) throws {
        let terminal = try terminal("fathom report a.fathom", environment: ["PAGER": pager])
        #expect(try terminal.status() == 0)
        let lines = try terminal.unbroken()
        let program = pager.split(separator: " ")[0]
        #expect(lines.contains { $0.hasPrefix("fathom: warning: there is no pager '\(program)'") }, "\(lines)")
        #expect(lines.count > 5 && lines.contains { $0.contains("calls") }, "\(lines)")
    }

    /// What is wrong is said on the terminal itself, before a pager or after it.
    @Test func errorsAreNotPaged() throws {
        let terminal = try terminal(
            "fathom tree none.fathom; fathom tree a.fathom -F nothing; fathom diff a.fathom b.fathom --fail-on 'calls>0'",
            environment: ["PAGER": "sed s/^/paged:/"])
        _ = try terminal.status()
        let lines = try terminal.all()
        let errors = lines.prefix { !$0.hasPrefix("paged:") }
        #expect(errors.first?.hasPrefix("fathom: error: none.fathom: No such file or directory") == true, "\(lines)")
        #expect(errors.contains { $0.hasPrefix("fathom: error: no function matches 'nothing'") }, "\(lines)")
        #expect(lines.dropFirst(errors.count).first?.hasPrefix("paged:all: ") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("fathom: warning: compared one run with one") == true, "\(lines)")
    }

    // MARK: Colours

    @Test func coloursAreForTerminals() throws {
        func isColoured(_ options: String, _ environment: [String: String] = [:]) throws -> Bool {
            let terminal = try terminal(
                "fathom report a.fathom --limit 5 --no-pager \(options)", environment: environment)
            #expect(try terminal.status() == 0)
            return try terminal.coloured().contains("\u{1b}[1m")
        }
        #expect(try isColoured(""))
        #expect(try !isColoured("", ["NO_COLOR": "1"]))
        #expect(try isColoured("", ["NO_COLOR": ""]))
        #expect(try isColoured("--color always", ["NO_COLOR": "1"]))
        #expect(try !isColoured("--color never"))
        #expect(try !isColoured("--colour never"))
        #expect(try !isColoured("| cat"))
        #expect(try isColoured("--color always | cat"))
    }

    @Test func dataIsNeverColoured() throws {
        for command in [
            ["report", "--format", "json"], ["report", "--format", "csv"], ["tree", "--format", "json"],
            ["graph", "--format", "json"], ["info", "--format", "json"],
        ] {
            let output = try Fathom.run([command[0], session] + command[1...] + ["--color", "always"])
            #expect(output.status == 0 && !output.stdout.contains("\u{1b}"), "\(command)")
        }
    }

    // MARK: Sessions

    @Test func theNewestSessionIsTaken() throws {
        let others = self.directory
        let directory = try TemporaryDirectory("newest")
        for name in ["d", "a", "c"] {
            try run("cp", ["-a", others.file("\(name).fathom"), directory.path])
        }
        for command in [["tree"], ["report"], ["graph"], ["info"], ["dump"]] {
            let output = try Fathom.run(command, workingDirectory: directory.path)
            #expect(output.status == 0)
            #expect(output.stderr == "fathom: reading d.fathom, the newest session here\n")
            #expect(output.stdout == (try Fathom.run(command + ["d.fathom"], workingDirectory: directory.path)).stdout)
        }
        // A session that is read, or whose sums are kept, is none the newer for it; what has a session's name only is none.
        try writeFile([], to: directory.file("a.fathom/aggregate"))
        try run("mkdir", [directory.file("z.fathom")])
        #expect(try Fathom.run(["tree"], workingDirectory: directory.path).stderr.contains("reading d.fathom"))
        let none = try Fathom.run(["tree"], workingDirectory: try directory.makeDirectory("empty"))
        #expect(none.status == 64 && none.stderr.contains("there is none in this directory"), "\(none.stderr)")
    }

    @Test func aGrowingRecordingIsSaidToBeOne() throws {
        let binary = try Binaries.instrumented("busy.c", .gccO2)
        let directory = try TemporaryDirectory("growing")
        let growing = directory.file("growing.fathom")
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", growing, "--quiet", "--max-size", "1M", "--", binary, "1", "100000",
        ])
        defer {
            recorder.signal(SIGTERM)
            recorder.wait()
        }
        #expect(waitUntil { (try? Fathom.run(["report", growing]).status) == 0 })
        for command in [
            ["report", "--limit", "3"], ["graph", "--limit", "3"], ["tree", "--limit", "3"], ["info"], ["tune"],
            ["unused"], ["diff", session], ["export", "--format", "folded", "-o", directory.file("folded")],
        ] {
            let said = try Fathom.run(command + [growing]).stderr
            let expected = "fathom: \(growing) is still being recorded: this is what it holds so far\n"
            #expect(said.hasSuffix(expected), "\(command): \(said)")
        }
        #expect(!(try Fathom.run(["report", session]).stderr.contains("still")))
    }

    @Test func nothingIsNextAfterNoCalls() throws {
        let directory = try TemporaryDirectory("calls")
        let empty = try Toolchain.compile(
            sources: [
                "empty.c": """
                int never(void) { return 1; }
                __attribute__((no_instrument_function)) int main(int count, char **arguments) {
                    return count > 1 && arguments ? never() : 0;
                }
                """
            ], compiler: .gcc, flags: ["-finstrument-functions"], output: directory.file("empty-program"))
        let none = try Fathom.record([empty], into: directory.file("empty.fathom"), options: [])
        #expect(none.stderr.contains("no function with hooks was called") && !none.stderr.contains("next:"))
        let some = try Fathom.record([program], into: directory.file("some.fathom"), options: [])
        #expect(some.stderr.hasSuffix("next: fathom graph \(directory.file("some.fathom"))\n"))
    }
}

extension String {
    fileprivate func dropLast(_ isDropped: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
