import TestSupport
import Testing

/// `action.yml` and `.gitlab/fathom.yml`, run as their services run them over a project that gets worse; and what editors get.
@Suite struct IntegrationTests {
    private static let checks = "\(Binaries.repository)/.build/consumers/checks/bin"

    private let directory: TemporaryDirectory
    private let project: String

    /// A project of two commits, of which the second calls `leaf` once more.
    init() throws {
        directory = try TemporaryDirectory("integration")
        project = try directory.makeDirectory("project")
        _ = try directory.write(Self.source("i < n"), to: "project/prog.c")
        _ = try directory.write("prog: prog.c\n\tgcc -O1 -g -o prog prog.c\n", to: "project/Makefile")
        _ = try directory.write("/*\n!/prog.c\n!/Makefile\n", to: "project/.gitignore")
        _ = try git(["init", "--quiet"])
        _ = try git(["add", "prog.c", "Makefile"])
        try commit("one")
        _ = try directory.write(Self.source("i <= n"), to: "project/prog.c")
        try commit("two")
    }

    private static func source(_ condition: String) -> String {
        """
        #include <stdlib.h>
        int sum;
        void leaf(int n) { sum += n; }
        void work(int n) { for (int i = 0; \(condition); i++) leaf(i); }
        int main(int count, char **words) { work(count > 1 ? atoi(words[1]) : 10); return 0; }

        """
    }

    private func git(_ arguments: [String]) throws -> String {
        let ran = try run(
            "git", ["-c", "user.name=a", "-c", "user.email=a@example.org"] + arguments, workingDirectory: project)
        try #require(ran.status == 0, "\(ran)")
        return ran.stdout.trimmingNewline
    }

    private func commit(_ message: String) throws { _ = try git(["commit", "--quiet", "--all", "-m", message]) }

    /// A release as `Tools/package` lays it down, of what is tested here.
    private func release() throws -> String {
        let name = "fathom-0.0.0-linux-\(try run("uname", ["-m"]).stdout.trimmingNewline)"
        let made = try run(
            "sh",
            [
                "-euc",
                """
                mkdir -p releases/latest
                "$0" --prefix "releases/$1" --products "$2"
                cd releases
                tar -c "$1" | xz -0 >"$1.tar.xz"
                sha256sum "$1.tar.xz" >SHA256SUMS
                ln -s .. latest/download
                """, "\(Binaries.repository)/Tools/install", name, Fathom.products,
            ], workingDirectory: directory.path, seconds: 600)
        try #require(made.status == 0, "\(made)")
        return "file://\(directory.file("releases"))"
    }

    private func steps(_ file: String, base: String?, _ values: [String]) throws -> ProcessOutput {
        try run(
            "env",
            (base.map { ["RUN_STEPS_BASE=\($0)"] } ?? []) + [
                "\(Self.checks)/python", "\(Binaries.repository)/Tools/run-steps", "\(Binaries.repository)/\(file)",
            ] + values, workingDirectory: project, seconds: 600)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try readFile("\(project)/\(name)"), as: UTF8.self)
    }

    private func comments() throws -> [String] {
        try run("jq", ["-r", ".[].body | @json", "comments.json"], workingDirectory: project).stdout
            .split(separator: "\n").map(String.init)
    }

    /// What calls more functions fails, with a comment that later runs change; other limits let it pass.
    @Test func action() throws {
        let releases = "releases=\(try release())"
        let base = try git(["rev-parse", "HEAD~"])
        let values = [releases, "command=./prog 10"]
        let worse = try steps("action.yml", base: base, values)
        #expect(worse.status == 1 && worse.stderr.contains("leaf: 10 → 11 calls"), "\(worse)")
        let told = try comments()
        try #require(told.count == 1, "\(worse)")
        #expect(told[0].contains(#"<!-- fathom: ./prog 10 -->\n### Fathom: `./prog 10`\n\n**Worse**"#), "\(told)")
        #expect(told[0].contains("| <code>leaf</code> | 10 | 11 | +1 |"), "\(told)")
        #expect(told[0].contains("compared with <code>before-1.fathom "), "\(told)")
        #expect(try text("step-summary.md").contains("| <code>leaf</code> | 10 | 11 | +1 |"))
        #expect(try text("outputs.json").contains(#""status": "1""#))
        #expect(try text("kept/gate.xml").contains("<failure"))
        #expect(try text("kept/change.html").contains("leaf"))
        // Nothing is left in the repository of the checkout of the commit before.
        #expect(try git(["worktree", "list"]).split(separator: "\n").count == 1)

        _ = try git(["clean", "-fdxq", "prog"])
        let allowed = try steps("action.yml", base: base, values + ["limits=calls>50%\ncalls(leaf)>1"])
        #expect(allowed.status == 0, "\(allowed)")
        let changed = try comments()
        #expect(changed.count == 1 && changed[0] != told[0] && changed[0].contains("12 → 13 calls"), "\(changed)")

        _ = try git(["clean", "-fdxq", "prog"])
        let other = try steps("action.yml", base: base, values + ["limits=calls(leaf)>0", "name=other", "token=none"])
        #expect(other.status == 1 && other.stderr.contains("nothing was written below the change: HTTP Error 403"))
        #expect(try comments().count == 1)

        let broken = try steps("action.yml", base: base, values + ["build=false"])
        #expect(broken.status == 2 && broken.stderr.contains("the change cannot be built with hooks"), "\(broken)")

        // A branch's first push has nothing before it.
        _ = try git(["clean", "-fdxq", "prog", "step-summary.md"])
        let alone = try steps("action.yml", base: nil, values)
        #expect(alone.status == 0, "\(alone)")
        #expect(try text("step-summary.md").contains("There is nothing to compare with."))
        #expect(try text("step-summary.md").contains("leaf  prog"))

        // What was fetched is not what the release says it is.
        let damaged = try run(
            "sh", ["-c", "for file in *.tar.xz; do echo >>\"$file\"; done"],
            workingDirectory: directory.file("releases"))
        #expect(damaged.status == 0)
        let refused = try steps("action.yml", base: base, values)
        #expect(refused.status == 1 && refused.stderr.contains("is not what SHA256SUMS says"), "\(refused)")
    }

    @Test func mergeRequest() throws {
        let values = ["FATHOM_RELEASES=\(try release())", "FATHOM_CI_COMMAND=./prog 10"]
        let worse = try steps(".gitlab/fathom.yml", base: try git(["rev-parse", "HEAD~"]), values)
        #expect(worse.status == 1, "\(worse)")
        #expect(try comments().contains { $0.contains("| <code>leaf</code> | 10 | 11 | +1 |") })
        #expect(try text("fathom-ci/gate.xml").contains("<failure"))
        let same = try steps(
            ".gitlab/fathom.yml", base: try git(["rev-parse", "HEAD"]), values + ["FATHOM_CI_BUILD=make -B"])
        #expect(same.status == 0, "\(same)")
        let told = try comments()
        #expect(told.count == 1 && told[0].contains("**Passed**"), "\(told)")
    }

    /// The files are what the services' schemas say, and the shells' scripts have no known mistakes.
    @Test func schemas() throws {
        for (schema, file) in [
            ("github-actions", "action.yml"), ("github-workflows", ".github/workflows/release.yml"),
            ("gitlab-ci", ".gitlab/fathom.yml"),
        ] {
            let checked = try run(
                "\(Self.checks)/check-jsonschema",
                ["--builtin-schema", "vendor.\(schema)", "\(Binaries.repository)/\(file)"])
            #expect(checked.status == 0, "\(file): \(checked.stdout)\(checked.stderr)")
        }
        let scripts = ["install", "check"].map { "\(Binaries.repository)/Integration/\($0)" }
        let checked = try run("shellcheck", ["--shell=sh"] + scripts)
        #expect(checked.status == 0, "\(checked.stdout)")
    }

    /// The editor's pattern finds the file and the line of every row of a report.
    @Test func editorTask() throws {
        let program = try Binaries.instrumented("fib.c", .gccO2)
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([program, "10"], into: session).status == 0)
        let report = try Fathom.run(["report", session, "--sort", "self", "--limit", "50"])
        let script = """
            const fs = require("fs");
            const matcher = JSON.parse(fs.readFileSync(process.argv[1])).tasks[0].problemMatcher.pattern;
            for (const line of fs.readFileSync(0, "utf8").split("\\n")) {
                const found = new RegExp(matcher.regexp).exec(line);
                if (found) console.log([matcher.message, matcher.file, matcher.line].map(n => found[n]).join("|"));
            }
            """
        let found = try run(
            "node", ["-e", script, "\(Binaries.repository)/Integration/vscode-tasks.json"], input: report.stdout)
        #expect(found.status == 0, "\(found)")
        let rows = found.stdout.split(separator: "\n").map { $0.split(separator: "|") }
        let source = String(decoding: try readFile("\(Binaries.sources)/fib.c"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(rows.count == report.stdout.split(separator: "\n").count - 1, "\(report.stdout)\(found.stdout)")
        let fib = try #require(rows.first { $0[0].hasPrefix("177 ") && $0[0].contains(" fib") }, "\(found.stdout)")
        #expect(fib[1].hasSuffix("Traces/programs/fib.c"))
        #expect(source[try #require(Int(fib[2])) - 1].contains("fib("))
    }
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
