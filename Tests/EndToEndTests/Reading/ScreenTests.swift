internal import Glibc
import TestSupport
import Testing

/// What every command shows on terminals of three sizes, against the files in `Golden`. `FATHOM_BLESS=1` writes
/// them anew.
@Suite struct ScreenTests {
    /// Help has no screens here, because it changes with every option; `TerminalTests` look at its lines' lengths.
    private static let commands = [
        "report a.fathom", "report a.fathom --limit 0", "report a.fathom --by path", "report a.fathom --by file",
        "report a.fathom --by module", "report a.fathom --by thread", "report a.fathom --by process",
        "report a.fathom --callers project::render --raw", "report a.fathom --sort p90 --limit 5",
        "graph a.fathom", "graph a.fathom project::parse_file",
        "tree a.fathom -D 2 --limit 20", "tree a.fathom --lines --call-sites --limit 8",
        "tree a.fathom --sort time --limit 5", "tree a.fathom -t 2ms", "tree a.fathom --watch '*parse_file*'",
        "tail a.fathom project::handle --slowest 5%",
        "diff a.fathom c.fathom", "diff a.fathom b.fathom -- c.fathom d.fathom",
        "diff a.fathom b.fathom -- c.fathom d.fathom --by path --all",
        "info a.fathom", "info a.fathom --modules", "info a.fathom --tree", "info a.fathom --check", "info small",
        "dump a.fathom --process 103 --chunks", "tune a.fathom", "tune a.fathom -o tune.list",
        "report waits.fathom --times all", "report waits.fathom --times blocked --by path",
        "tree waits.fathom --times all -t 6ms", "waits waits.fathom", "waits waits.fathom --limit 0 -t 100ms",
        "waits waits.fathom --longest 3 --limit 0", "chain waits.fathom --call main --without project::render",
        "chain waits.fathom --thread 101 --from 0ms --to 100ms --limit 0",
        "history add a.fathom c.fathom --history h.db --label version=1", "history list --history h.db",
        "history show 2 --history h.db", "history trend project::handle --history h.db",
        "history changes --history h.db", "history merge h.db --history i.db", "history remove 1 --history i.db",
        "flame a.fathom -o a.html", "export a.fathom --format chrome -o a.json",
        "record -o small.fathom -- ./small", "build -- gcc -o other small.c",
        "gate --against small.fathom --counts -- ./small", "gate --against a.fathom --counts -- ./small",
        "watch --timeout 60s -- ./small", "arm -- ./small", "collect --to tables a.fathom",
        "tune a.fathom --keep 0%",
        "tree none.fathom", "report a.fathom -F nothing", "report a.fathom --sort none", "tree a.fathom -t 10",
        "record -- ./none", "doctor none", "waits a.fathom", "chain waits.fathom --call none",
        "startup -- ./none", "arm -- ./none", "watch --list none", "watch none.fathom", "sample prog", "sample 4194304",
        "ctl a.fathom status", "top a.fathom", "browse none.fathom", "order none.fathom -o list", "unused none.fathom",
        "gate --against none.db -- ./small", "collect --to tables none.fathom", "history list --history none.db",
    ]

    @Test(arguments: [(80, 24), (120, 40), (200, 60)]) func everyCommand(_ columns: Int, _ rows: Int) throws {
        let sessions = try ScreenSessions()
        let lines = Self.commands.map { command in
            "printf '%s\\n' '== \(command.filter { $0 != "'" })'; fathom \(command)"
        }
        let terminal = try Terminal(
            columns: columns, rows: rows, environment: ["TZ": "UTC", "PAGER": "cat"],
            "cd '\(sessions.directory.path)'; fathom() { '\(Fathom.executable)' \"$@\"; }\n"
                + lines.joined(separator: "\n"))
        _ = try terminal.status()
        let shown = try terminal.all()
        #expect(try shown.count == terminal.unbroken().count)
        let place = sessions.directory.path
        try expect(shown.map { steady($0, place) }, "screen-\(columns)x\(rows).txt")
    }

    /// What tells of the machine, too: the words and their order, but no number.
    @Test(
        .enabled(if: Privilege.seesSwitches, "the kernel tells nobody like us of context switches"),
        arguments: [(80, 24), (120, 40), (200, 60)])
    func measured(_ columns: Int, _ rows: Int) throws {
        let sessions = try ScreenSessions()
        let steps = [
            ("startup --limit 1 -- ./idle", "fathom startup --limit 1 -- ./idle"),
            ("startup --runs 2 --limit 1 -- ./idle", "fathom startup --runs 2 --limit 1 -- ./idle"),
            ("record", "{ fathom record -q -o idle.fathom -- ./idle wait; } 2>errors & idle"),
            ("ctl idle.fathom status", "fathom ctl idle.fathom status"),
            ("ctl idle.fathom stop", "fathom ctl idle.fathom stop"),
            ("top idle.fathom -n 1", "fathom top idle.fathom -n 1"),
            ("sample PID --for 100ms", "fathom sample $program --for 100ms; kill $program; wait"),
            ("startup idle.fathom", "fathom startup idle.fathom"),
            ("record", "fathom record -q -o short.fathom -- ./idle"),
            ("unused short.fathom", "fathom unused short.fathom"),
            ("unused idle.fathom short.fathom --seldom", "fathom unused idle.fathom short.fathom --seldom 2"),
            ("unused short.fathom --by file", "fathom unused short.fathom --by file"),
            ("unused a.fathom", "fathom unused a.fathom"),
            ("order idle.fathom -o list", "fathom order idle.fathom -o list"),
            ("order a.fathom -o list --compat", "fathom order a.fathom -o list --linker bfd --compat"),
        ]
        let terminal = try Terminal(
            columns: columns, rows: rows, environment: ["TZ": "UTC", "PAGER": "cat"],
            """
            cd '\(sessions.directory.path)'; fathom() { '\(Fathom.executable)' "$@"; }
            idle() {
                until fathom top idle.fathom -n 1 2>&1 | grep -q wait_for_work; do sleep 0.1; done
                program=$(fathom ctl idle.fathom status | awk '/recording;/ { print $1 }')
            }
            """ + "\n" + steps.map { "printf '%s\\n' '== \($0.0)'; \($0.1)" }.joined(separator: "\n"))
        _ = try terminal.status()
        let shown = try terminal.all()
        #expect(try shown.count == terminal.unbroken().count)
        try expect(shown.map(withoutNumbers), "measured-\(columns)x\(rows).txt")
    }

    /// The screens of `browse`, which fills the terminal, behind the keys that lead to them.
    @Test(arguments: [(80, 24), (120, 40), (200, 60)]) func browse(_ columns: Int, _ rows: Int) throws {
        let sessions = try ScreenSessions()
        let terminal = try Terminal(
            columns: columns, rows: rows,
            "cd '\(sessions.directory.path)'; exec '\(Fathom.executable)' browse a.fathom")
        let name = "browse-\(columns)x\(rows).txt"
        let screens = try isBlessed ? [] : golden(name).split(whereSeparator: \.isHeading).map(Array.init)
        var shown: [String] = []
        for (index, (key, title)) in [
            ("", "call tree"), ("R", "report"), ("r", "callers and callees"), ("Escape", "report"), ("g", "graph of"),
            ("h", "help"),
        ].enumerated() {
            if !key.isEmpty { try terminal.type(key) }
            // A screen is drawn bit by bit: it is the one that is expected, or stays as it is.
            var screen: [String] = []
            var rest = 10
            _ = waitUntil {
                let now = (try? terminal.screen()) ?? []
                guard now.count == rows, now[0].contains(title) else { return false }
                rest = now == screen ? rest - 1 : 10
                screen = now
                return rest == 0 || index < screens.count && now.filter { !$0.isEmpty } == screens[index]
            }
            #expect(screen.count == rows && screen.allSatisfy { $0.count <= columns })
            shown += ["== \(key)"] + screen
        }
        try expect(shown, name)
    }

    private let isBlessed = getenv("FATHOM_BLESS") != nil

    private func file(_ name: String) -> String { "\(Binaries.repository)/Tests/EndToEndTests/Golden/\(name)" }

    /// The lines that are not empty.
    private func golden(_ name: String) throws -> [String] {
        String(decoding: try readFile(file(name)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func expect(_ lines: [String], _ name: String) throws {
        if isBlessed { return try writeFile(Array((lines.joined(separator: "\n") + "\n").utf8), to: file(name)) }
        let (found, expected) = (lines.filter { !$0.isEmpty }, try golden(name))
        let difference = zip(found, expected).first { $0 != $1 }
        let isSame = found == expected
        #expect(isSame, "\(difference.map { "\($0.0)\nis not\n\($0.1)" } ?? "one ends before the other")")
    }

    /// A line with a sign in the place of each number and its unit, and one blank in the place of several.
    private func withoutNumbers(_ line: String) -> String {
        line.replacing(/[0-9]+([.,][0-9]+)*( ?(ns|us|ms|s|bytes|B|KB|milliseconds|seconds)\b)?/, with: "#").replacing(
            #/ +/#, with: " ")
    }

    /// A line without what differs from machine to machine and from version to version: the directory, Fathom's version, and how
    /// large a recording is.
    private func steady(_ line: String, _ place: String) -> String {
        var line = line.replacing(place, with: "DIRECTORY")
        line.replace(/(fathom +)[0-9]+\.[0-9]+\.[0-9]+$/) { "\($0.output.1)VERSION" }
        line.replace(/process [0-9]+:/, with: "process PID:")
        line.replace(/--attach [0-9]+/, with: "--attach PID")
        if line.hasPrefix("fathom: recorded") { line.replace(/: [0-9.]+ [A-Za-z]+ in/, with: ": SIZE in") }
        return line
    }
}

extension String {
    /// Whether it is a line before a screen.
    fileprivate var isHeading: Bool { hasPrefix("== ") || self == "==" }
}
