internal import Glibc
import TestSupport
import Testing

/// What is said of wrong uses, word for word, and how they end.
@Suite struct WrongUseTests {
    /// Each use stands above what is said of it, behind `fathom: error: `. Headings tell the exit status. The directory
    /// holds a program, sessions of it, and some that are not what they should be.
    private static let table = """
        64, and the command's usage: the arguments are not what it takes.

            fathom repot prog.fathom
                there is no command 'repot'; did you mean report?
            fathom help exprot
                there is no command 'exprot'; did you mean export?
            fathom prog.fathom
                there is no command 'prog.fathom'; a session is read by fathom tree prog.fathom
            fathom ./prog 5
                there is no command './prog'; a program is recorded by fathom record -- ./prog
            fathom statistics
                there is no command 'statistics'
            fathom report --sot calls prog.fathom
                unknown option --sot; did you mean --sort?
            fathom tree --depth 3 prog.fathom
                unknown option --depth; did you mean --max-depth or --relative-depth?
            fathom tree --bright prog.fathom
                unknown option --bright
            fathom record --max-dept 3 -- ./prog
                unknown option --max-dept; the program to record comes after --; did you mean --max-depth?
            fathom build --keep -- make
                unknown option --keep; the build command comes after --; did you mean --keep-going?
            fathom report --sort totl prog.fathom
                --sort: 'totl' is none of calls, total, self, running, blocked, runnable, inherited, inherited_calls, suspended, avg, min, max, p50, p90, p99, allocs, bytes, own_bytes, live, own_live, live_blocks, minor, own_minor, major, own_major, name, module, location; did you mean total?
            fathom report --by fucntion prog.fathom
                --by: 'fucntion' is none of function, path, file, line, module, thread, process; did you mean function?
            fathom report --format jsn prog.fathom
                --format: 'jsn' is none of text, json, csv; did you mean json?
            fathom export --format perfeto -o x prog.fathom
                --format: 'perfeto' is none of perfetto, speedscope, chrome, folded, pprof, callgrind, dot, firefox, csv, parquet, otlp, fleet; did you mean perfetto?
            fathom tree -t 10 prog.fathom
                -t 10: 10 of what? write 10us, 10ms or 10s
            fathom tree -t -5ms prog.fathom
                -t -5ms: the value cannot be negative
            fathom tree --min-cost=-5ms prog.fathom
                --min-cost -5ms: a time cannot be negative
            fathom report -t 10sec prog.fathom
                -t 10sec: 'sec' is no unit of time: ns, us, ms, s, min, h and d are
            fathom report --from soon prog.fathom
                --from soon: a time is a number and a unit, as 10us or 1.5ms
            fathom tree -D -1 prog.fathom
                -D -1: the value cannot be negative
            fathom tree -D deep prog.fathom
                -D deep: not a whole number
            fathom tree -D 99999999999 prog.fathom
                -D 99999999999: too large a number
            fathom sample prog
                'prog' is not the id of a process; a program to start comes after --: fathom sample -- prog
            fathom sample
                name what to sample: fathom sample -- CMD ARGS..., or the id of a process
            fathom flame prog.fathom --open -o -
                --open is for a file, not for standard output
            fathom history list h.db --history g.db
                the history is named twice: h.db, and --history g.db
            fathom history show one
                <run> one: not a whole number
            fathom tree --limit=-1 prog.fathom
                --limit is a number of lines
            fathom report prog.fathom --limit
                --limit needs a value: <rows>
            fathom tree -F --lines prog.fathom
                -F needs a value before --lines; a value that begins with - is joined to it: -F--lines
            fathom tree -F '/(/' prog.fathom
                '/(/' is not a regular expression
            fathom report --no-cache=1 prog.fathom
                --no-cache takes no value, but is given '1'
            fathom report --raw --corrected prog.fathom
                --raw and --corrected exclude each other
            fathom report --corrected --to 1ms prog.fathom
                --corrected is for the whole recording, without --from and --to
            fathom report --by path --callers main prog.fathom
                --by, --by-arg, --callers and --callees exclude each other
            fathom graph --threshold 200 prog.fathom
                --threshold 200: a percentage is a number from 0 to 100
            fathom info prog.fathom more
                unexpected argument 'more'
            fathom export --format csv prog.fathom
                --output <file> is missing
            fathom export -o x prog.fathom
                --format <format> is missing: perfetto, speedscope, chrome, folded, pprof, callgrind, dot, firefox, csv, parquet, otlp, fleet
            fathom record
                name the program to record: fathom record -- CMD ARGS...
            fathom record --max-size 500 -- ./prog
                --max-size 500: 500 of what? write 500K, 500M or 500G
            fathom record --buffer-size 100K -- ./prog
                --buffer-size is a power of two from 16K to 4M
            fathom diff prog.fathom
                give two sessions, A B, or several on each side, A1 A2 -- B1 B2
            fathom diff --fail-on 'totl>5%' prog.fathom prog.fathom
                --fail-on 'totl>5%': 'totl' is none of calls, total, self, avg
            fathom diff --fail-on 'total>5' prog.fathom prog.fathom
                --fail-on 'total>5': expected a part like 5% or a time like 10ms, not '5'
            fathom flame -o picture.png prog.fathom
                -o picture.png: flame graphs are pages or SVG pictures: end the name in .html or .svg, not .png
            fathom tail prog.fathom fib -o picture.png
                -o picture.png: flame graphs are pages or SVG pictures: end the name in .html or .svg, not .png
            fathom diff prog.fathom prog.fathom -o picture.png
                -o picture.png: flame graphs are pages or SVG pictures: end the name in .html or .svg, not .png
            fathom tree ''
                the name of a file or session is empty

        64: what an argument names will not do.

            fathom diff prog.fathom prog.fathom -- prog.fathom
                prog.fathom is given twice, which is no evidence of noise: record it again
            fathom export --format folded -o prog.fathom/trace prog.fathom
                prog.fathom/trace is part of a recording; write to another file
            fathom tune -o prog.fathom/session.json prog.fathom
                prog.fathom/session.json is part of a recording; write to another file

        1: there is nothing to show.

            fathom tree -F fbi prog.fathom
                no function matches 'fbi'; did you mean fib?
            fathom report -C mian prog.fathom
                no function matches 'mian'; did you mean main?
            fathom report --callers FIB prog.fathom
                no function matches 'FIB'; did you mean fib?
            fathom graph prog.fathom fi
                no function matches 'fi'; did you mean fib?
            fathom tree --from 10min prog.fathom
                no calls are left by the filters
            fathom tree -D 0 -F fibb prog.fathom
                no calls are left by the filters; did you mean fib?
            fathom tree --thread mian prog.fathom
                no thread is selected by mian; did you mean main?
            fathom dump --process pro prog.fathom
                no process is selected by pro; did you mean prog or prog 5?
            fathom report --corrected prog.fathom
                prog.fathom: has no baseline to correct by: fathom record --baseline
            fathom tree empty.fathom
                the recording has no calls
            fathom dump empty.fathom
                the recording has no calls

        2: something cannot be read or written.

            fathom tree none.fathom
                none.fathom: No such file or directory
            fathom graph none.fathom
                none.fathom: No such file or directory
            fathom graph prog.c
                prog.c: not a Fathom session
            fathom tree prog.c
                prog.c: not a Fathom session
            fathom tree other
                other: a program, and no recording of it: there is no other.fathom
            fathom report --symbols none prog.fathom
                --symbols none: No such file or directory
            fathom build --exclude-list none -- make
                cannot read none: No such file or directory
            fathom doctor none
                none: No such file or directory
            fathom report newer.fathom
                newer.fathom/session.json: recorded by a newer Fathom, in format 99; this one reads formats up to 3
            fathom export --format csv -o none/x prog.fathom
                none/x: No such file or directory
            fathom report prog.fathom >/dev/full
                standard output: No space left on device
            fathom tree --help >/dev/full
                standard output: No space left on device
            fathom diff --fail-on 'calls(fibb)>0' prog.fathom prog.fathom
                --fail-on 'calls(fibb)>0': no function on either side matches; did you mean fib?
            fathom diff -F fibb prog.fathom prog.fathom
                no function matches 'fibb'; did you mean fib?

        125: nothing was recorded.

            fathom record -o prog.c -- ./prog 5
                prog.c: exists and is not a Fathom session, so it is left alone; choose another place with -o

        126: the program cannot be recorded.

            fathom record -- ./prog.c
                ./prog.c: not executable; chmod +x it, or name the program that runs it

        127: the program is not there.

            fathom record -- ./none
                ./none: no such file

        1: the build cannot be run.

            fathom build -- no-such-command
                cannot run no-such-command: No such file or directory
        """

    private struct Use {
        var command: String
        var message: String
        var status: Int32
        var tellsUsage: Bool
    }

    private static let uses: [Use] = {
        var uses: [Use] = []
        var heading: Substring = ""
        for line in table.split(separator: "\n") {
            let text = String(line.drop { $0 == " " })
            switch line.count - text.count {
            case 0: heading = line
            case 4:
                let status = Int32(heading.prefix { $0.isNumber }) ?? -1
                uses.append(
                    Use(command: text, message: "", status: status, tellsUsage: heading.contains("command's usage")))
            default: uses[uses.count - 1].message = text
            }
        }
        return uses
    }()

    @Test func whatIsSaid() throws {
        let directory = try TemporaryDirectory("wrong")
        let program = try Binaries.instrumented("fib.c", .gccO2)
        let script = """
            cp "$1" prog && cp "$1" other && echo 'int main;' >prog.c
            "$0" record -q -- ./prog 5
            "$0" record -q --paused -o empty.fathom -- ./prog 5
            cp -r prog.fathom newer.fathom && sed -i 's/"format": [0-9]*/"format": 99/' newer.fathom/session.json
            """
        try #require(
            run("sh", ["-c", script, Fathom.executable, program], workingDirectory: directory.path).status == 0)
        #expect(Self.uses.count >= 60)
        for use in Self.uses {
            let script = "fathom() { \"$0\" \"$@\"; }; \(use.command)"
            let output = try run("sh", ["-c", script, Fathom.executable], workingDirectory: directory.path)
            let name = Comment(rawValue: use.command)
            #expect(output.status == use.status, name)
            let lines = output.stderr.split(separator: "\n").map(String.init)
            #expect(lines.first == "fathom: error: \(use.message)", name)
            guard use.tellsUsage else {
                #expect(lines.count == 1, name)
                continue
            }
            let words = use.command.split(separator: " ")
            // History consists of commands.
            let named = words.prefix(words.dropFirst().first == "history" ? 3 : 2).joined(separator: " ")
            let command = use.message.hasPrefix("there is no command") ? "fathom" : named
            #expect(lines.dropFirst().first?.hasPrefix("Usage: \(command) ") == true, name)
            #expect(lines.last == "  See '\(command) --help' for more.", name)
            #expect(output.stdout.isEmpty, name)
        }
    }

    /// Each command's help ends with its exit statuses.
    @Test(arguments: [
        "build", "cc", "c++", "record", "tree", "report", "graph", "tail", "flame", "diff", "export", "tune", "unused",
        "order",
        "info", "dump", "doctor",
    ])
    func helpEndsWithExitStatuses(_ command: String) throws {
        // The compilers take every option for the compiler's.
        let ways = command.hasPrefix("c") ? [["help", command]] : [[command, "--help"], ["help", command]]
        for way in ways {
            let help = try Fathom.run(way)
            #expect(help.status == 0 && help.stderr.isEmpty)
            let parts = help.stdout.split(separator: "EXIT STATUS:\n")
            #expect(parts.count == 2 && parts[0].contains("USAGE: fathom \(command)"))
            let lines = try #require(parts.last).split(separator: "\n")
            #expect(lines.allSatisfy { $0.hasPrefix("  ") && $0.count <= 80 }, "\(lines)")
            let record = ["*", "64", "125", "126", "127"]
            let statuses = lines.map { $0.prefix(26).filter { $0 != " " } }.filter { !$0.isEmpty }
            switch command {
            case "record": #expect(statuses == record)
            case "build": #expect(statuses == ["*", "1", "2", "64"])
            case "cc", "c++": #expect(statuses == ["*", "1"])
            default: #expect(statuses == ["0", "1", "2", "64"])
            }
        }
    }
}
