import Glibc
import TestSupport
import Testing

/// What newcomers typed in their first hour, and the line that helps them on.
@Suite struct FrictionTests {
    /// Each command stands above the status with which it ends and what it says, in whole lines; behind `!` stands what nowhere is
    /// said. The directory holds `app`, a program of C++ with hooks, `plain`, which has none, `sleds`, which is dormant, `threads`, and
    /// what the commands before have made.
    private static let table = """
        fathom record ./app 3
            0
            fathom: next: fathom tree app.fathom
            !.old
        fathom record ./app 18
            0
            fathom: the session that was there is now app.fathom.old
            fathom: next: fathom graph app.fathom
        fathom record ./app 3 -o x.fathom
            0
            fathom: ./app gets -o x.fathom, because that stands behind it; for Fathom: fathom record -o x.fathom -- ./app
        fathom record -o y.fathom ./app 3 --min-cost=1us
            0
            fathom: ./app gets --min-cost=1us, because that stands behind it; for Fathom: fathom record --min-cost=1us -- ./app
        fathom record -o y.fathom ./app 3 -o out --output=text -t 4
            0
            !stands behind
        fathom record -o y.fathom -- ./app 3 --max-depth 2
            0
            fathom: ./app gets --max-depth 2, because that stands behind it; for Fathom: fathom record --max-depth 2 -- ./app
        fathom record -- ./plain
            126
            fathom: error: ./plain: has no hooks; build it with fathom build -- make (or swift build), or with -finstrument-functions -g; as it is, fathom record --any records its functions and fathom record --libcalls its library calls, fathom sample, fathom record --first-calls and fathom startup can look at it, and --force runs it for the programs with hooks that it starts
        fathom record -o shell.fathom -- sh -c './app 3; ./app 4'
            0
            !no hooks
            !--force
            fathom: next: fathom tree shell.fathom
        fathom record -o shell.fathom -- sh -c true
            0
            fathom: no program with hooks was started; fathom build gives hooks, as in fathom build -- make
        printf 'test:\\n\\t./app 3\\n' >Makefile; fathom record -o shell.fathom -- make test
            0
            fathom: next: fathom tree shell.fathom
        fathom sample -q -o sampled.fathom --interval 1ms -- ./plain; fathom report sampled.fathom
            0
        fathom sample -- sh -c 'exit 7'
            7
        fathom sample -o killed.fathom -- sh -c 'kill -TERM $$'
            143
        fathom sample -- ./none
            127
            fathom: error: ./none: no such file
        fathom flame app.fathom && head -c 15 app.flame.html && echo
            0
            fathom: wrote app.flame.html
            <!doctype html>
        BROWSER=./browser fathom flame app.fathom --open && cat opened
            0
            fathom: wrote app.flame.html
            app.flame.html
            !warning
        BROWSER='./none:./browser %s' fathom flame app.fathom --open
            0
            !warning
        BROWSER=./none fathom flame app.fathom --open
            0
            fathom: warning: no browser was opened, because $BROWSER, which is './none', does not work; the page is app.flame.html
        env -u BROWSER -u DISPLAY -u WAYLAND_DISPLAY fathom flame app.fathom --open
            0
            fathom: warning: no browser was opened, because there is no desktop here, and no $BROWSER; the page is app.flame.html
        fathom history --history h.db add app.fathom && fathom history list h.db
            0
            !error
        fathom history --history=h.db trend total && fathom history trend total h.db && fathom history show 1 h.db
            0
            !error
        fathom record --budget 5 -o y.fathom -- ./app 3
            0
            fathom: warning: --budget closes sleds, and app has none: fathom build --dormant makes them
        fathom record --min-size 50 -o y.fathom -- ./app 3
            0
            fathom: warning: --min-size closes sleds, and app has none: fathom build --dormant makes them
        fathom record --budget 5 -o y.fathom -- ./sleds 3
            0
            fathom: 3 of 3 functions of sleds with sleds are open
            !has none
            !have hooks
        fathom record --watch app::handle -o watched.fathom -- ./app 3; fathom tree watched.fathom | grep -o '[*].*'
            0
            ***-|app::handle|***
        fathom record --mode profile --max-paths 1 -o y.fathom -- ./threads
            0
            fathom: 1 call path, the most that --max-paths allows
            !no room
        fathom record --args '*' -o y.fathom -- ./lines 3
            0
            fathom: warning: --args: the debug information of app::fib and 2 more has no arguments; compile with -g, not -g1
        fathom doctor ./runtime.so
            0
            !statically
            !can be recorded
        fathom record -q -o z.fathom -- "$(printf './pr\\377m')" 3; fathom report z.fathom
            0
            !error
        fathom record -- "$(printf './pr\\377m')" 3 && test -d 'pr\\xffm.fathom'
            0
        """

    private struct Row {
        var command: String
        var status: Int32 = 0
        var said: [String] = []
        var unsaid: [String] = []
    }

    private static let rows: [Row] = {
        var rows: [Row] = []
        for line in table.split(separator: "\n").map(String.init) {
            guard line.hasPrefix("    ") else {
                rows.append(Row(command: line))
                continue
            }
            let text = String(line.drop { $0 == " " })
            if let status = Int32(text) {
                rows[rows.count - 1].status = status
            } else if text.hasPrefix("!") {
                rows[rows.count - 1].unsaid.append(String(text.dropFirst()))
            } else {
                rows[rows.count - 1].said.append(text)
            }
        }
        return rows
    }()

    private static let preparation = """
        set -e
        cat >app.cc <<'END'
        #include <cstdlib>
        namespace app {
        int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        int handle(int n) { return fib(n); }
        }
        int main(int count, char **words) { return count < 2 || app::handle(atoi(words[1])) < 0; }
        END
        cat >plain.c <<'END'
        volatile long sum;
        int main(void) { for (long i = 0; i < 100000000; i++) sum += i; return 0; }
        END
        cat >threads.c <<'END'
        #include <pthread.h>
        int leaf(int n) { return n + 1; }
        void *work(void *n) { for (int i = 0; i < 100; i++) leaf(i); return n; }
        int main(void) {
            pthread_t threads[4];
            for (int i = 0; i < 4; i++) pthread_create(threads + i, 0, work, 0);
            for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
            return 0;
        }
        END
        printf '#!/bin/sh\\necho "${1##*/}" >opened\\n' >browser
        chmod +x browser
        "$0" build -- g++ -g -O1 app.cc -o app
        "$0" build -- g++ -g1 -O1 app.cc -o lines
        "$0" build --dormant -- g++ -g -O1 app.cc -o sleds
        "$0" build -- gcc -g -O0 threads.c -o threads -pthread
        gcc -O1 plain.c -o plain
        cp app "$(printf 'pr\\377m')"
        cp "$1/libfathom-runtime.so" runtime.so
        """

    @Test func eachEndsInWhatHelps() throws {
        let directory = try TemporaryDirectory("friction")
        let prepared = try run(
            "sh", ["-c", Self.preparation, Fathom.executable, Fathom.products], workingDirectory: directory.path)
        try #require(prepared.status == 0, Comment(rawValue: prepared.stderr))
        #expect(Self.rows.count >= 30)
        for row in Self.rows {
            // The function is called by name, behind which variables and env would not find it.
            let script = "PATH=\"${0%/*}:$PATH\"; \(row.command)"
            let output = try run("sh", ["-c", script, Fathom.executable], workingDirectory: directory.path)
            let text = output.stdout + output.stderr
            let lines = text.split(separator: "\n").map(String.init)
            let comment = Comment(rawValue: "\(row.command): \(output.status)\n\(text)")
            #expect(output.status == row.status || output.signal.map { 128 + $0 } == row.status, comment)
            for line in row.said { #expect(lines.contains(line), comment) }
            for part in row.unsaid { #expect(!text.contains(part), comment) }
        }
    }

    /// A session of another user is one, whatever of it may not be read.
    @Test(.enabled(if: Privilege.isRoot)) func sessionsOfOthers() throws {
        let directory = try TemporaryDirectory("friction-others")
        chmod(directory.path, 0o777)
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        #expect(try Fathom.record([binary, "3"], into: directory.file("s.fathom")).status == 0)
        #expect(try Fathom.run(["pack", directory.file("s.fathom"), "-o", directory.file("p.fathomz")]).status == 0)
        chmod(directory.file("p.fathomz"), 0o600)
        chmod(directory.file("s.fathom"), 0o755)
        func asNobody(_ arguments: [String]) throws -> String {
            let output = try run(
                "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", Fathom.executable] + arguments,
                workingDirectory: directory.path)
            #expect(output.status != 0)
            return output.stderr
        }
        #expect(
            try asNobody(["report", "p.fathomz"])
                == "fathom: error: p.fathomz: Permission denied; it belongs to user root\n")
        #expect(
            try asNobody(["report", "s.fathom"])
                == "fathom: error: s.fathom/trace: Permission denied; it belongs to user root\n")
        let refused = try asNobody(["record", "-o", "s.fathom", "--", binary, "3"])
        #expect(refused.contains("s.fathom: is a directory of another user"), "\(refused)")
    }

    /// Where there are few columns, names are shown before numbers; where the locale has no other characters, ASCII's.
    @Test func narrowAndPlainTerminals() throws {
        let directory = try TemporaryDirectory("friction-terminal")
        let session = directory.file("s.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "12"], into: session)
        let command =
            "'\(Fathom.executable)' report --no-pager '\(session)'; '\(Fathom.executable)' graph --no-pager '\(session)'"
        let narrow = try Terminal(columns: 30, rows: 60, command)
        #expect(try narrow.status() == 0)
        let lines = try narrow.all()
        #expect(lines.count { $0.hasSuffix(" main") || $0.hasSuffix(" fib") } >= 4, "\(lines)")
        let plain = try Terminal(columns: 100, rows: 60, environment: ["LC_ALL": "C"], command)
        #expect(try plain.status() == 0)
        let text = try plain.all().joined(separator: "\n")
        #expect(text.contains("##########") && text.utf8.allSatisfy { $0 < 0x80 }, "\(text)")
    }
}
