import Glibc
import TestSupport
import Testing

/// What helps people before they have read anything: help, the manual, completion, and the recipe for continuous
/// integration.
@Suite struct HelpTests {
    private let directory: TemporaryDirectory

    private static let program = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        static int sum;
        void leaf(int n) { sum += n; }
        void work(int n) { for (int i = 0; i < n; i++) leaf(i); }
        int main(int count, char **words) {
            for (int i = 0; i < 20; i++) work(count > 1 ? atoi(words[1]) : 10);
            printf("%d\\n", sum);
            if (count > 2) sleep(600);
            usleep(2000);
        }

        """

    init() throws { directory = try TemporaryDirectory("help") }

    /// Runs a line of a shell in the directory, with the `fathom` under test in PATH.
    private func shell(_ line: String, seconds: Double = 120) throws -> ProcessOutput {
        let path = "\(Fathom.products):\(Fathom.inherited(adding: [:])["PATH"] ?? "/usr/bin:/bin")"
        var environment = Fathom.inherited(adding: ["PATH": path, "XDG_CACHE_HOME": directory.file("cache")])
        environment["GITHUB_STEP_SUMMARY"] = nil
        return try run(
            "sh", ["-c", line], environment: environment, workingDirectory: directory.path, seconds: seconds)
    }

    private func writeProgram(into folder: String = "", _ text: String = HelpTests.program) throws {
        _ = try directory.write(text, to: "\(folder)prog.c")
        _ = try directory.write("prog: prog.c\n\t$(CC) -O1 -g -o prog prog.c\n", to: "\(folder)Makefile")
    }

    /// Every command has two examples, which fit a terminal and run as they are.
    @Test func examples() throws {
        try writeProgram()
        _ = try directory.write(Self.program, to: "prog.cpp")
        func makeSessions(_ options: String = "") throws {
            let line =
                "for name in prog before after; do fathom record -q \(options) -o $name.fathom -- ./prog 10; done"
            let made = try shell("fathom build -- make && \(line)")
            try #require(made.status == 0, "\(made.stderr)")
        }
        try makeSessions()
        // One that runs, to be steered.
        try #require(try shell("cp prog server && gcc -O1 -g -o shipped prog.c").status == 0)
        try #require(try shell("fathom order prog.fathom -o prog.order").status == 0)
        let server = try BackgroundProcess([
            Fathom.executable, "record", "-q", "-o", directory.file("server.fathom"), "--", directory.file("server"),
            "10", "wait",
        ])
        let isThere = waitUntil { (try? shell("fathom ctl server.fathom status"))?.status == 0 }
        try #require(isThere)
        defer { server.signal(SIGTERM) }
        let parts = try Fathom.commands(of: "history").map { "history \($0)" }
        #expect(parts.count > 6)
        for command in try [""] + Fathom.commands() + parts {
            // The examples of the compilers have made another program.
            if command == "record" { try makeSessions() }
            if ["waits", "chain"].contains(command) { try makeSessions("--blocked") }
            let help = try shell("fathom help \(command)").stdout
            let examples = help.split(separator: "\n").filter { $0.hasPrefix("  fathom ") && !$0.contains("[") }
            #expect(examples.count >= 2, "\(help)")
            for example in examples {
                #expect(example.count <= 80 && example.hasPrefix("  fathom \(command)"))
                // What fills a terminal is left by a key.
                if ["browse", "top"].contains(command), !example.contains(" -n ") {
                    let terminal = try Terminal(
                        columns: 80, rows: 24,
                        "cd '\(directory.path)'; fathom() { '\(Fathom.executable)' \"$@\"; }; \(example)")
                    try terminal.wait { $0.count == 24 && $0[0].contains(" · ") }
                    try terminal.type("q")
                    #expect(try terminal.status() == 0, "\(example)")
                    continue
                }
                // A server goes on until a signal ends it, with its port or, as that may be taken, with any.
                if command == "view", !example.contains("--save") {
                    let words = example.replacing("--port 8087", with: "--port 0").split(separator: " ").dropFirst(2)
                        .map {
                            $0.hasSuffix(".fathom") ? directory.file(String($0)) : String($0)
                        }
                    let server = try ViewServer(
                        words[0], in: directory, Array(words.dropFirst()), environment: ["BROWSER": "true"])
                    server.process.signal(SIGINT)
                    #expect(server.process.wait() == 0, "\(example)")
                    continue
                }
                let result = try shell(String(example))
                #expect(result.status == 0, "\(example): \(result.stderr)")
            }
        }
    }

    /// A page for each command, with all that its help has.
    @Test func manual() throws {
        let made = try run(
            "\(Binaries.repository)/Tools/make-manual", [Fathom.executable, directory.path, "2026-01-31"])
        try #require(made.status == 0, "\(made.stderr)")
        for name in try ["fathom"] + Fathom.commands().map({ "fathom-\($0)" }) {
            let page = try run("cat", [directory.file("\(name).1")]).stdout
            #expect(page.hasPrefix(".TH \(name.uppercased().replacing("-", with: "\\-")) 1 2026-01-31"), "\(name)")
            for heading in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
                #expect(page.contains("\n.SH \(heading)\n"), "\(name) has no \(heading)")
            }
        }
        // How a command ends is told once, by the command itself.
        let record = try run("cat", [directory.file("fathom-record.1")]).stdout
        let ends =
            "\n.SH EXIT STATUS\n.TP\n.B *\nThe program\\(aqs own status. If a signal ended the program, the same signal ends fathom.\n"
        #expect(record.contains(ends) && record.contains("\n.TP\n.B 127\nThe program is not there.\n"), "\(record)")
        let tree = try run("cat", [directory.file("fathom-tree.1")]).stdout
        for words in ["\\fB\\-F\\fR, \\fB\\-\\-filter\\fR", ".SH FILTERS", "\\fBfathom\\-report\\fR(1)"] {
            #expect(tree.contains(words))
        }
    }

    /// The page of options has each command, and what its help has, in Markdown. `FATHOM_BLESS=1` writes it anew.
    @Test func optionsPage() throws {
        let kept = "\(Binaries.repository)/Documentation/reference/options.md"
        let file = getenv("FATHOM_BLESS") == nil ? directory.file("options.md") : kept
        let made = try run("\(Binaries.repository)/Tools/make-options", [Fathom.executable, file])
        try #require(made.status == 0, "\(made.stderr)")
        let page = try run("cat", [file]).stdout
        #expect(try page == run("cat", [kept]).stdout, "FATHOM_BLESS=1 writes it anew")
        for name in try Fathom.commands() where name != "help" {
            #expect(page.contains("\n## fathom \(name)\n"), "\(name)")
        }
        for words in [
            "\n## fathom history trend\n",
            "\n- `-F`, `--filter` `<glob|/regex/>`: Only these functions and what they call.\n",
            "\n**Flight recorder**\n", "\n- `127`: The program is not there.\n",
            "\n- `fathom build -- make`: Builds as make does",
        ] {
            #expect(page.contains(words), "\(words)")
        }
    }

    /// Bash offers sessions where they are wanted, and of the session named its functions and threads.
    @Test func completion() throws {
        try writeProgram()
        let made = try shell(
            "fathom build -- make && fathom record -q -- ./prog 10 && mkdir 'two words' && cp -r prog.fathom 'two words/a.fathom'"
        )
        try #require(made.status == 0, "\(made.stderr)")
        #expect(
            try run("\(Binaries.repository)/Tools/make-completion", [Fathom.executable, directory.path]).status == 0)
        _ = try directory.write(
            """
            # As in a shell with the package bash-completion.
            shopt -s extglob
            . ./fathom.bash
            COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _fathom fathom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}" | sort
            """, to: "complete")
        func complete(_ words: String) throws -> [String] {
            let result = try shell("bash ./complete fathom \(words)")
            #expect(result.stderr.isEmpty, "\(result.stderr)")
            return result.stdout.split(separator: "\n").map(String.init)
        }
        #expect(try complete("exp") == ["export"])
        #expect(try complete("c++ -") == complete("cc -"))
        #expect(try complete("tree p") == ["prog.fathom"])
        #expect(try complete("tree prog.fathom -F ''") == ["leaf", "main", "work"])
        #expect(try complete("report prog.fathom --callers l") == ["leaf"])
        #expect(try complete("tree prog.fathom --thread m") == ["main"])
        #expect(try complete("tree prog.fathom --process p") == ["prog"])
        #expect(try complete("report prog.fathom --by-arg w") == ["work"])
        #expect(try complete("startup prog.fathom --until w") == ["work"])
        #expect(try complete("gate --against prog.fathom --of ''") == ["leaf", "main", "total", "work"])
        let added = try shell("fathom history add prog.fathom --history runs.db")
        #expect(added.status == 0, "\(added.stderr)")
        #expect(try complete("history trend --history runs.db w") == ["work"])
        #expect(try complete("gate --against runs.db --of t") == ["total"])
        // Without a session they are of the newest here, as those that the command reads.
        #expect(try complete("tree -F l") == ["leaf"])
        // Where there is no session there are no functions, and nothing is said of it.
        #expect(try complete("tree missing.fathom -F ''") == [])
        for script in ["_fathom", "fathom.fish"] {
            #expect(try run("grep", ["-qe", "---completion", directory.file(script)]).status == 0, "\(script)")
        }
    }

    /// Bash takes colons and equals signs for words of their own; the line is completed all the same.
    @Test func completionAcrossColons() throws {
        let source = """
            #include <cstdio>
            namespace worker { void done(int n) { std::printf("%d\\n", n); }
            __attribute__((noinline)) void run(int n) { [](int m) { done(m); }(n); } }
            namespace größe { void tief(int n) { worker::run(n); } }
            int main() { größe::tief(1); }

            """
        _ = try directory.write(source, to: "prog.cpp")
        let made = try shell("fathom build -- g++ -g -O0 -o prog prog.cpp && fathom record -q -- ./prog")
        try #require(made.status == 0, "\(made.stderr)")
        #expect(
            try run("\(Binaries.repository)/Tools/make-completion", [Fathom.executable, directory.path]).status == 0)
        _ = try directory.write(
            """
            . ./fathom.bash
            COMP_LINE="$1"; COMP_POINT=${#1}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _fathom_words fathom
            printf '%s\\n' "${COMPREPLY[@]}" | sort
            """, to: "complete")
        /// The line, and the words that bash makes of it.
        func complete(_ words: [String], _ line: String) throws -> [String] {
            let quoted = ([line] + words).map { "'\($0)'" }.joined(separator: " ")
            let result = try shell("bash ./complete \(quoted)")
            #expect(result.stderr.isEmpty, "\(result.stderr)")
            return result.stdout.split(separator: "\n").map(String.init)
        }
        let start = ["fathom", "tree", "prog.fathom"]
        let line = start.joined(separator: " ")
        let inner = try complete(start + ["-F", "worker", "::"], "\(line) -F worker::")
        #expect(inner.contains("done") && inner.contains("run") && !inner.contains { $0.hasPrefix("worker") })
        #expect(inner.allSatisfy { $0.count { $0 == "{" } == $0.count { $0 == "}" } }, "\(inner)")
        #expect(try complete(start + ["-F", "worker", "::", "d"], "\(line) -F worker::d") == ["done"])
        #expect(try complete(start + ["-F", "größe", "::", "t"], "\(line) -F größe::t") == ["tief"])
        // Behind the first Tab, bash has escaped the colons, which end no word then.
        let escaped = #"worker\:\:d"#
        #expect(try complete(start + ["-F", escaped], "\(line) -F \(escaped)") == ["worker::done"])
        #expect(try complete(start + ["--filter", "=", "worker", "::", "d"], "\(line) --filter=worker::d") == ["done"])
        #expect(try complete(["fathom", "report", "--callers", "=", "ma"], "fathom report --callers=ma") == ["main"])
        #expect(try complete(["fathom", "help", "re"], "fathom help re") == ["record", "report"])
    }

    /// The recipe for continuous integration, as the page has it: quiet while calls stay, and a failure when they grow.
    @Test func continuousIntegration() throws {
        let page = try run("cat", ["\(Binaries.repository)/Documentation/continuous-integration.md"]).stdout
        let recipe = try #require(page.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first)
        _ = try directory.write(String(recipe), to: "recipe")
        #expect(try shell("mkdir before after").status == 0)
        try writeProgram(into: "before/")
        try writeProgram(into: "after/")
        let same = try shell("sh ./recipe", seconds: 300)
        #expect(same.status == 0, "\(same.stderr)")
        #expect(same.stdout.contains("\nall: "))

        try writeProgram(into: "after/", Self.program.replacing("leaf(i)", with: "leaf(i), leaf(1)"))
        let grown = try shell("touch -d '1 hour' after/prog.c && sh ./recipe", seconds: 300)
        #expect(grown.status == 1)
        #expect(grown.stderr.contains("over the limit 'calls>10%'"), "\(grown.stderr)")
        #expect(grown.stdout.contains("\n| function | verdict | calls | change | self |"))
        let row = try #require(grown.stdout.split(separator: "\n").first { $0.contains("<code>leaf</code>") })
        let cells = row.split(separator: "|").map { $0.filter { $0 != " " } }
        #expect(cells.count == 10 && Int(cells[2]).map { "+\($0)" } == cells[3])
    }
}
