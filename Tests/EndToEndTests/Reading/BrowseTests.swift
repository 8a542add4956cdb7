internal import Glibc
import TestSupport
import Testing

/// `fathom browse` in a terminal.
@Suite struct BrowseTests {
    private static let source = """
        static volatile int sink;
        static void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
        static void branch(int n) { for (int i = 0; i < 3; i++) leaf(n); }
        static void descend(int n) { if (n > 0) descend(n - 1); else branch(10); }
        int main(void) { for (int i = 0; i < 7; i++) branch(2000000); descend(20); leaf(1); }
        """

    /// A directory with a program and its recording, made once a test run.
    private static let recording = Result {
        let path = try Fathom.sharedDirectory("Browse")
        let program = try Toolchain.compile(
            sources: ["tree.c": source], compiler: .gcc, flags: ["-g", "-O0", "-finstrument-functions"],
            output: "\(path)/tree")
        try #require(try Fathom.record([program], into: "\(path)/tree.fathom").status == 0)
        return path
    }

    private let directory: String

    init() throws { directory = try BrowseTests.recording.get() }

    /// - Parameter command: a command line of `sh`, for which `fathom` and `session` are set.
    private func terminal(
        _ command: String = "fathom browse tree.fathom", _ size: (columns: Int, rows: Int) = (80, 24),
        environment: [String: String] = [:]
    ) throws -> Terminal {
        try Terminal(
            columns: size.columns, rows: size.rows, environment: environment,
            "cd '\(directory)'; fathom() { '\(Fathom.executable)' \"$@\"; }; \(command)")
    }

    /// Types keys, and waits until the current line ends with a text.
    private func type(_ keys: String..., on terminal: Terminal, current: String) throws {
        for key in keys { try terminal.type(key) }
        let isSo = waitUntil(seconds: 60) { (try? terminal.highlighted().last?.hasSuffix(current)) ?? false }
        let (lines, screen) = (try terminal.highlighted(), try terminal.screen())
        try #require(isSo, "\(keys): not '\(current)' but \(lines)\n\(screen.joined(separator: "\n"))")
    }

    @Test(arguments: [(80, 24), (200, 60)]) func keys(_ columns: Int, _ rows: Int) throws {
        let terminal = try terminal("fathom browse tree.fathom", (columns, rows))
        try terminal.wait { $0.count == rows && $0[0].contains("tree.fathom · call tree") && $0[2].hasSuffix("▾ main") }
        #expect(try terminal.screen().last?.hasPrefix("Enter open") == true)
        #expect(try terminal.screen().at(rows - 2).hasPrefix("  tree.c:5  tree"))
        try type("l", on: terminal, current: "        7    ▾ branch")
        try type("Left", on: terminal, current: "        7    ▸ branch")
        try type("Enter", "Down", on: terminal, current: "       21        leaf")
        try type("u", "n", "E", on: terminal, current: "▾ descend")
        try type(
            "/", "leaf", "Enter", on: terminal, current: "   leaf")
        try type("N", on: terminal, current: "        1      leaf")
        try type("N", on: terminal, current: "       21        leaf")
        try type("g", on: terminal, current: "leaf")
        try terminal.wait { try $0.at(0).contains("graph of leaf") && $0.contains("what leaf leads to") }
        try type("Escape", "r", on: terminal, current: "branch")
        try terminal.wait { try $0.at(0).contains("callers and callees of leaf") }
        try type("Escape", "R", on: terminal, current: "main")
        try terminal.wait { try $0.at(0).contains("report") && $0.count { $0.hasSuffix("branch") } == 1 }
        for key in ["/", "branch", "Enter", "v"] { try terminal.type(key) }
        try terminal.wait { $0.contains { $0.contains("3  static void branch(int n)") } }
        try terminal.type("Escape")
        try terminal.type("I")
        try terminal.wait { $0.contains { $0.hasPrefix("calls        ") } }
        try terminal.type("Escape")
        try terminal.type("S")
        try type("End", on: terminal, current: " main tree")
        try terminal.type("Enter")
        try terminal.wait { try $0.at(0).contains(" main tree · call tree") && $0.at(2).hasSuffix("▾ main") }
        try terminal.type("h")
        try terminal.wait { $0.contains("Moving") }
        try terminal.type("q")
        try terminal.wait { try $0.at(0).contains(" main tree · call tree") }
        try terminal.type("q")
        #expect(try terminal.status() == 0)
    }

    @Test func anotherSize() throws {
        let terminal = try terminal()
        try terminal.wait { $0.count == 24 && $0[2].hasSuffix("▾ main") }
        for (columns, rows) in [(130, 40), (40, 10), (80, 24)] {
            try terminal.resize(columns: columns, rows: rows)
            try terminal.wait {
                $0.count == rows && $0[2].hasSuffix("▾ main") && $0[rows - 1].hasPrefix("Enter open")
                    && $0[rows - 2].hasPrefix("  tree.c:5")
            }
        }
        try terminal.type("q")
        #expect(try terminal.status() == 0)
    }

    /// Whatever ends the viewer, the terminal is afterwards as it was before.
    @Test(arguments: [nil, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGILL, SIGABRT]) func leaves(_ signal: Int32?) throws {
        let name = "\(directory)/\(signal ?? 0)"
        let terminal = try terminal(
            "stty -g >'\(name).before'; echo before; sh -c 'echo $$ >'\\''\(name).pid'\\''; exec \"$0\" browse tree.fathom' "
                + "'\(Fathom.executable)'; code=$?; stty -g >'\(name).after'; echo after; (exit $code)")
        try terminal.wait { $0.count == 24 && $0[2].hasSuffix("▾ main") }
        #expect(try terminal.modes() == (true, false))
        if let signal {
            let text = String(decoding: try readFile("\(name).pid"), as: UTF8.self)
            kill(try #require(Int32(text.filter(\.isNumber))), signal)
        } else {
            try terminal.type("q")
        }
        #expect(try terminal.status() == (signal.map { 128 + $0 } ?? 0))
        #expect(try terminal.modes() == (false, true))
        let screen = try terminal.screen()
        #expect(screen.first == "before" && screen.last == "after", "\(screen)")
        #expect(!screen.contains { $0.contains("main") })
        #expect(try readFile("\(name).before") == readFile("\(name).after"))
    }

    @Test func editor() throws {
        let script = "\(directory)/editor"
        try writeFile(Array("#!/bin/sh\necho \"$@\" >'\(directory)/edited'\n".utf8), to: script)
        chmod(script, 0o755)
        let terminal = try terminal(environment: ["EDITOR": script, "VISUAL": ""])
        try terminal.wait { $0.count == 24 && $0[2].hasSuffix("▾ main") }
        try type("l", "e", on: terminal, current: "▾ branch")
        let edited = "\(directory)/edited"
        #expect(waitUntil { (try? readFile(edited).count) ?? 0 > 0 })
        #expect(String(decoding: try readFile(edited), as: UTF8.self) == "+3 \(directory)/tree.c\n")
        try type("u", on: terminal, current: "▾ main")
        try terminal.type("q")
        #expect(try terminal.status() == 0)
    }

    @Test func savesTheTable() throws {
        let terminal = try terminal("fathom browse tree.fathom --report")
        try terminal.wait { $0.count == 24 && $0[0].contains("report") }
        for key in ["w", "C-u", "table.csv", "Enter"] { try terminal.type(key) }
        try terminal.wait { $0.last == "table.csv: 4 rows written" }
        for key in ["w", "C-u", "none/x.csv", "Enter"] { try terminal.type(key) }
        try terminal.wait { $0.last == "none/x.csv: No such file or directory" }
        try terminal.type("q")
        _ = try terminal.status()
        let report = try Fathom.run(["report", "tree.fathom", "--format", "csv"], workingDirectory: directory).stdout
        #expect(String(decoding: try readFile("\(directory)/table.csv"), as: UTF8.self) == report)
    }

    @Test func plainTerminals() throws {
        let ascii = try terminal(environment: ["LC_ALL": "C", "NO_COLOR": "1"])
        try ascii.wait { $0.count == 24 && $0[2].hasSuffix("- main") && $0[0].contains("tree.fathom - call tree") }
        #expect(try ascii.screen().allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
        #expect(try ascii.coloured().firstMatch(of: #/\x1b\[[0-9;]*3[0-7]/#) == nil)
        let coloured = try terminal()
        try coloured.wait { $0.count == 24 && $0[2].hasSuffix("▾ main") }
        #expect(try coloured.coloured().firstMatch(of: #/\x1b\[[0-9;]*31/#) != nil)
    }

    /// Where no screen can be shown, one line says so.
    @Test func noTerminal() throws {
        let piped = try Fathom.run(["browse", "tree.fathom"], workingDirectory: directory)
        #expect(piped.status == 64 && piped.stdout.isEmpty)
        #expect(
            piped.stderr
                == "fathom: error: fathom browse needs a terminal; fathom graph and fathom report show the same elsewhere\n"
        )
        for (kind, reason) in [("dumb", "TERM is 'dumb'"), ("nothing-known", "terminal 'nothing-known'")] {
            let terminal = try terminal("TERM=\(kind) fathom browse tree.fathom", (200, 24))
            #expect(try terminal.status() == 2)
            let lines = try terminal.unbroken()
            #expect(lines.count == 1 && lines[0].hasPrefix("fathom: error: ") && lines[0].contains(reason), "\(lines)")
        }
        let missing = try terminal("fathom browse none.fathom", (200, 24))
        #expect(try missing.status() == 2)
        #expect(try missing.unbroken().count == 1)
    }
}
