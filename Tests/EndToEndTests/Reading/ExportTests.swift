import TestSupport
import Testing

/// Exports of real programs' recordings, read by programs that are not Fathom: the same calls and times of every function
/// as in `fathom report`, exactly. `Tools/setup --for-tests` installs those readers; without them the tests fail.
@Suite struct ExportTests {
    typealias Program = ExportRecording.Program

    private static let consumers = "\(ExportRecording.built)/consumers"

    /// Runs a reader; what it says is in the failure when it fails.
    private func read(_ command: String, _ arguments: [String]) throws -> String {
        // In the root directory callgrind_annotate finds no sources to quote.
        let output = try run(command, arguments, workingDirectory: "/", seconds: 300)
        try #require(output.status == 0, "\(command): \(output.stderr.prefix(500))")
        return output.stdout
    }

    /// Fails unless both are the same, naming the functions that are not.
    private func expect(_ found: [String: FunctionSums], _ expected: [String: FunctionSums]) {
        let names = Set(found.keys).union(expected.keys).filter { name in
            var found = found[name]
            if expected[name]?.total == -1 { found?.total = -1 }
            return found != expected[name]
        }
        let sample = names.sorted().prefix(5).map {
            "\($0): \(String(describing: found[$0])), not \(String(describing: expected[$0]))"
        }.joined(separator: "; ")
        #expect(names.isEmpty, "\(names.count) of \(expected.count) differ: \(sample)")
    }

    private func number(_ text: some StringProtocol) -> Int { Int(String(text).filter(\.isNumber)) ?? -1 }

    // MARK: Call paths

    @Test(arguments: Program.allCases) func callgrind(_ program: Program) throws {
        let recording = try ExportRecording.of(program)
        let file = try recording.export("callgrind")
        let expected = recording.sums { "\($0.file.isEmpty ? "???" : $0.file):\($0.name)" }
        var found: [String: FunctionSums] = [:]
        let options = ["--auto=no", "--threshold=100", "--show-percs=no"]
        /// "1,234  file:function [object]", after `mark` in trees.
        func parse(_ line: Substring, mark: Character? = nil) -> (number: Int, name: String)? {
            let words = line.split(separator: " ", maxSplits: mark == nil ? 1 : 2)
            guard words.count == (mark == nil ? 2 : 3), line.hasSuffix("]"), words[0].first?.isNumber == true,
                mark == nil || words[1] == String(mark!), let end = words.last?.lastIndex(of: "[")
            else { return nil }
            let name = words.last![..<end].drop { $0 == " " }
            return (number(words[0]), String(name.dropLast()))
        }
        for (inclusive, field) in [("no", \.selfTime), ("yes", \.total)]
            as [(String, WritableKeyPath<FunctionSums, Int>)]
        {
            let text = try read("callgrind_annotate", options + ["--inclusive=\(inclusive)", file])
            for line in text.split(separator: "\n") {
                if let (number, name) = parse(line) { found[name, default: FunctionSums()][keyPath: field] = number }
            }
        }
        let tree = try read("callgrind_annotate", options + ["--tree=calling", file])
        for line in tree.split(separator: "\n") {
            guard let (_, edge) = parse(line, mark: ">"), let (name, calls) = edge[...].halves(at: " (") else {
                continue
            }
            found[String(name), default: FunctionSums()].calls += number(calls)
        }
        found = found.filter { !$0.key.hasSuffix("(no caller)") && !$0.key.hasSuffix("(not recorded)") }
        // The format has no calls of what nobody calls.
        let paths = try Fathom.run(["report", recording.session, "--by", "path", "--format", "csv"])
        for line in paths.stdout.split(separator: "\n").dropFirst() {
            let fields = csvFields(line)
            let (name, file) = (try fields.at(0), try fields.at(2))
            let key = "\(file.isEmpty ? "???" : file):\(name)"
            if !name.contains(";"), found[key]?.calls == 0 { found[key]?.calls = expected[key]?.calls ?? -1 }
        }
        expect(found, expected)
    }

    /// - Parameter granularity: an option; pprof's own choice is to tell functions apart by their names alone.
    @Test(arguments: Program.allCases, ["-functions", "-filefunctions"])
    func pprof(_ program: Program, _ granularity: String) throws {
        let recording = try ExportRecording.of(program)
        let file = try recording.export("pprof")
        var found: [String: FunctionSums] = [:]
        for (index, unit) in [("calls", "count"), ("time", "ns")] {
            let text = try read(
                "\(ExportTests.consumers)/pprof",
                [
                    "-top", "-trim=false", "-nodecount=1000000", granularity,
                    "-sample_index=\(index)", "-unit=\(unit)", file,
                ])
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 5)
                guard words.count == 6, words[1].hasSuffix("%"), words[2].hasSuffix("%") else { continue }
                let name = String(words[5].drop { $0 == " " })
                if index == "calls" {
                    found[name, default: FunctionSums()].calls = number(words[0])
                } else {
                    found[name, default: FunctionSums()].selfTime = number(words[0])
                    found[name, default: FunctionSums()].total = number(words[3])
                }
            }
        }
        // pprof takes a/../b for b, both in what it reads and, so, in what it tells apart.
        expect(
            found,
            recording.sums { row in
                let file = row.file.replacing(/[^\/]+\/\.\.\//, with: "")
                return file.isEmpty || granularity == "-functions" ? row.name : "\(row.name) \(file)"
            })
    }

    @Test(arguments: Program.allCases) func dot(_ program: Program) throws {
        let recording = try ExportRecording.of(program)
        let file = try recording.export("dot")
        let text = try read("gvpr", [#"N { print($.tooltip, "\t", $.label) }"#, file])
        var found: [String] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t")
            let calls = try fields.at(1).split(separator: " ").dropLast().last.map {
                $0.split(separator: "n").last ?? $0
            }
            found.append("\(try fields.at(0)) \(number(calls ?? ""))")
        }
        let all = recording.sums { "\($0.file)\t\($0.name)" }
        let expected = all.map { "\($0.key.split(separator: "\t").last ?? "") \($0.value.calls)" }
        #expect(found.count == min(all.count, 300))
        #expect(Set(found).subtracting(expected) == [])
        #expect(try read("dot", ["-Tcanon", file]).contains("digraph"))
    }

    /// The drawing has a frame for every path. Its inclusive times are in the titles, and where it lies tells what it is
    /// part of.
    @Test(arguments: Program.allCases) func flamegraph(_ program: Program) throws {
        struct Frame {
            var name: String
            var time: Int
            var start: Double
            var end: Double
            var top: Double
        }
        let recording = try ExportRecording.of(program)
        let drawing = try read(
            "perl",
            [
                "/usr/share/perl5/Devel/NYTProf/flamegraph.pl", "--countname=ns", "--minwidth=0",
                "--width=100000000000", try recording.export("folded"),
            ])
        var frames: [Frame] = []
        var title: (name: String, time: Int) = ("", 0)
        for line in drawing.split(separator: "\n") {
            if let (_, text) = line.halves(at: "<title>"), let (name, time) = text.halves(at: " (") {
                title = (unescape(name), number(time.prefix { $0 != "n" }))
            }
            guard let (_, rectangle) = line.halves(at: "<rect ") else { continue }
            let values = rectangle.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }
                .compactMap { Double($0.element) }
            guard values.count > 3, !title.name.isEmpty, title.name != "all" else { continue }
            frames.append(
                Frame(
                    name: title.name, time: title.time, start: values[0], end: values[0] + values[2], top: values[1]))
            title.name = ""
        }
        var found: [String: FunctionSums] = [:]
        // Callers lie below their callees; a frame above another of its name is part of that.
        var ends: [String: Double] = [:]
        for frame in frames.sorted(by: { ($0.start, -$0.top) < ($1.start, -$1.top) }) {
            let middle = (frame.start + frame.end) / 2
            if middle > ends[frame.name, default: 0] {
                found[frame.name, default: FunctionSums()].total += frame.time
                ends[frame.name] = frame.end
            }
        }
        let expected = recording.sums { $0.name.map { $0 == "<" ? "(" : $0 == ">" ? ")" : "\($0)" }.joined() }
        expect(
            found,
            expected.filter { $0.value.total != 0 }.mapValues { FunctionSums(calls: 0, total: $0.total, selfTime: 0) })
    }

    private func unescape(_ text: Substring) -> String {
        var result = String(text)
        for (escape, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
            result = result.replacing(escape, with: character)
        }
        return result
    }

    // MARK: Timelines

    /// Calls, total and self time of each name: a call within one of its name adds nothing to the total. The names are made
    /// anew for the grouping, because the trace processor's own order of names does not keep equal ones together.
    private static let slices = """
        with parts as (
            select name, dur, ts,
                coalesce((select sum(dur) from slice callee where callee.parent_id = slice.id), 0) as callees,
                max(ts + dur) over (
                    partition by track_id, name order by ts, depth, id rows between unbounded preceding and 1 preceding
                ) as covered
            from slice)
        select name || '', count(*), sum(case when ts < covered then 0 else dur end), sum(dur - callees) from parts group by 1
        """

    @Test(arguments: Program.allCases, ["perfetto", "chrome"])
    func traceProcessor(_ program: Program, _ format: String) throws {
        let recording = try ExportRecording.of(program)
        let text = try read(
            "\(Binaries.repository)/Tools/perfetto-query",
            ["\(ExportTests.consumers)/perfetto", try recording.export(format), ExportTests.slices])
        var found: [String: FunctionSums] = [:]
        for line in text.split(separator: "\n") {
            let (start, sums) = try #require(line.halves(at: "\","))
            let name = start.dropFirst(2).split(separator: "\\").joined()
            let numbers = sums.split(separator: ",").map { number($0) }
            found[name] = try FunctionSums(calls: numbers.at(0), total: numbers.at(1), selfTime: numbers.at(2))
        }
        expect(found, recording.sums())
    }

    /// No thread has a task's id: tasks are tracks of the process, by their names.
    @Test func tasksInPerfetto() throws {
        let recording = try ExportRecording.of(.tasks)
        let text = try read(
            "\(Binaries.repository)/Tools/perfetto-query",
            [
                "\(ExportTests.consumers)/perfetto", try recording.export("perfetto"),
                "select count(distinct track.id), min(track.name) from slice join track on slice.track_id = track.id "
                    + "where track.name glob 'task [0-9]*'",
                "select count(*) from thread where tid >= 1073741824",
            ])
        let lines = text.split(separator: "\n")
        #expect(number(try lines.at(0).split(separator: ",").at(0)) >= 100, "\(text)")
        #expect(lines.last == "[0]")
    }

    /// Where filters leave nothing, that is said, and the file that was there stays.
    @Test(arguments: ["folded", "pprof", "csv", "parquet", "callgrind", "dot", "otlp", "chrome", "speedscope"])
    func nothingLeft(_ format: String) throws {
        let directory = try TemporaryDirectory("nothing")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let session = directory.file("fib.fathom"), file = try directory.write("old", to: "file.json")
        #expect(try Fathom.record([binary, "10"], into: session, options: []).status == 0)
        let made = try Fathom.run(["export", "--format", format, "--min-cost", "100s", "-o", file, session])
        #expect(made.status == 1 && made.stderr == "fathom: error: no calls are left by the filters\n", "\(made)")
        #expect(try readFile(file) == Array("old".utf8))
    }

    /// Threads are parts, labels and columns, and add up to what the report says of each.
    @Test func threads() throws {
        let recording = try ExportRecording.of(.names)
        let script = """
            import duckdb, sys
            for row in duckdb.sql(f"select thread, sum(calls), 0, sum(self_ns) from '{sys.argv[1]}' group by 1").fetchall():
                print(*row, sep='\\t')
            """
        let report = try Fathom.run(["report", recording.session, "--by", "thread", "--format", "csv"])
        var expected: [String: FunctionSums] = [:]
        let lines = report.stdout.split(separator: "\n")
        let columns = csvFields(try lines.at(0))
        for line in lines.dropFirst() {
            let row = Dictionary(zip(columns, csvFields(line)), uniquingKeysWith: { first, _ in first })
            // "18714 names · 18716 second 2": the process, and the thread's id and name.
            let thread = (row["name"] ?? "").split(separator: "· ").last?.split(separator: " ", maxSplits: 1).last ?? ""
            expected[String(thread)] = FunctionSums(
                calls: Int(row["calls"] ?? "") ?? -1, total: 0, selfTime: Int(row["self_ns"] ?? "") ?? -1)
        }
        #expect(expected.count == 3)
        expect(try python(script, try recording.export("parquet")), expected)
        let tags = try read("\(ExportTests.consumers)/pprof", ["-tags", try recording.export("pprof")])
        for thread in expected.keys { #expect(tags.contains(": \(thread)\n"), "\(tags)") }
        let parts = String(decoding: try readFile(try recording.export("callgrind")), as: UTF8.self)
        #expect(parts.split(separator: "\n").count { $0.hasPrefix("part: ") } == 3)
        #expect(parts.contains("\ndesc: Trigger: größer\n"))
    }

    /// What is deeper than Perfetto can nest is left out and told of; the rest is not spoiled by it.
    @Test func depthBeyondPerfetto() throws {
        let directory = try TemporaryDirectory("deep")
        let session = directory.file("session.fathom")
        let file = directory.file("trace")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO0), "3"], into: session)
        _ = try Fathom.record(
            [try Binaries.instrumented("deep.c", .gccO0)], into: session, options: ["--quiet", "--force"])
        let exported = try Fathom.run(["export", session, "--format", "perfetto", "-o", file])
        #expect(exported.status == 0)
        #expect(exported.stderr.contains("nests 512 calls at most"), "\(exported.stderr)")
        let text = try read(
            "\(Binaries.repository)/Tools/perfetto-query",
            ["\(ExportTests.consumers)/perfetto", file, "select max(depth), min(dur) >= 0 from slice"])
        #expect(text == "[511,1]\n")
    }

    /// Python reads a file and adds up: JSON by its own parser, tables by DuckDB.
    private func python(_ script: String, _ file: String) throws -> [String: FunctionSums] {
        let text = try read("\(ExportTests.consumers)/python/bin/python", ["-c", script, file])
        var found: [String: FunctionSums] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t")
            found[String(try fields.at(0))] = try FunctionSums(
                calls: number(fields.at(1)), total: number(fields.at(2)), selfTime: number(fields.at(3)))
        }
        return found
    }

    /// Adds up begin and end events: `events` yields (track, is a begin, name, ns).
    private static let replay = """
        sums, stacks = {}, {}
        for track, begins, name, time in events:
            stack = stacks.setdefault(track, [])
            if begins:
                stack.append([name, time, 0])
                continue
            open_name, start, callees = stack.pop()
            assert open_name == name, (open_name, name)
            entry = sums.setdefault(name, [0, 0, 0])
            entry[0] += 1
            entry[1] += 0 if any(call[0] == name for call in stack) else time - start
            entry[2] += time - start - callees
            if stack: stack[-1][2] += time - start
        assert not any(stacks.values())
        for name, entry in sums.items(): print(name, *entry, sep='\\t')
        """

    @Test(arguments: Program.allCases) func speedscope(_ program: Program) throws {
        let recording = try ExportRecording.of(program)
        let events = """
            import json, sys
            data = json.load(open(sys.argv[1]))
            frames = data['shared']['frames']
            events = [(track, e['type'] == 'O', frames[e['frame']]['name'], e['at'])
                      for track, profile in enumerate(data['profiles']) for e in profile['events']]

            """
        expect(try python(events + ExportTests.replay, try recording.export("speedscope")), recording.sums())
    }

    @Test(arguments: Program.allCases) func firefox(_ program: Program) throws {
        let recording = try ExportRecording.of(program)
        let script = """
            import json, sys
            from decimal import Decimal
            data = json.load(open(sys.argv[1]), parse_float=Decimal)
            tables, sums = data['shared'], {}
            stacks, strings, functions = tables['stackTable'], tables['stringArray'], tables['funcTable']
            names = [strings[functions['name'][function]] for function in tables['frameTable']['func']]
            for thread in data['threads']:
                samples = thread['samples']
                assert samples['time'] == sorted(samples['time'])
                for stack, weight in zip(samples['stack'], samples['weight'], strict=True):
                    time = int(weight * 1000000)
                    sums.setdefault(names[stacks['frame'][stack]], [0, 0])[1] += time
                    path = set()
                    while stack is not None:
                        path.add(names[stacks['frame'][stack]])
                        stack = stacks['prefix'][stack]
                    for name in path: sums.setdefault(name, [0, 0])[0] += time
            for name, entry in sums.items(): print(name, 0, *entry, sep='\\t')
            """
        let expected = recording.sums().filter { $0.value.total != 0 }
        expect(
            try python(script, try recording.export("firefox")),
            expected.mapValues { FunctionSums(calls: 0, total: $0.total, selfTime: $0.selfTime) })
    }

    // MARK: Tables

    private static let queries = [
        "csv": """
        with parts as (select *, max(start_ns + total_ns) over (partition by pid, tid, lane, name order by call
            rows between unbounded preceding and 1 preceding) as covered from 'FILE')
        select name, count(*), sum(case when start_ns < covered then 0 else total_ns end), sum(self_ns)
        from parts group by 1
        """,
        "parquet": """
        select name, sum(calls), sum(case when list_contains(string_split(path, ';')[:-2], name) then 0
            else total_ns end), sum(self_ns)
        from 'FILE' group by 1
        """,
    ]

    @Test(arguments: Program.allCases, ["csv", "parquet", "calls"])
    func duckDB(_ program: Program, _ format: String) throws {
        let recording = try ExportRecording.of(program)
        let script = """
            import duckdb, sys
            duckdb.sql("set enable_progress_bar = false")  # it is shown where a query takes long
            query = \"\"\"\(ExportTests.queries[format == "calls" ? "csv" : format]!)\"\"\".replace('FILE', sys.argv[1])
            for row in duckdb.sql(query).fetchall(): print(*row, sep='\\t')
            """
        let file = format == "calls" ? try recording.export("parquet", ["--calls"]) : try recording.export(format)
        expect(try python(script, file), recording.sums())
    }

    // MARK: Another tracer

    /// uftrace, which records by the same hooks, sees the same calls of a program that does the same in every run.
    /// Not of Lua, in whose coroutines and longjmp it loses its way.
    @Test(arguments: [Program.sqlite, .jq, .zstd, .threads]) func uftrace(_ program: Program) throws {
        let recording = try ExportRecording.of(program)
        let directory = try TemporaryDirectory("uftrace")
        let data = directory.file("data")
        let recorded = try run(
            "uftrace", ["record", "--no-libcall", "--no-event", "-d", data] + ExportRecording.command(program),
            workingDirectory: ExportRecording.directory)
        try #require(recorded.status == 0, "\(recorded.stderr)")
        let report = try read("uftrace", ["report", "--no-pager", "-d", data, "-f", "call", "--demangle=no"])
        let demangled = try run("c++filt", ["-p"], input: report)
        var found: [String: FunctionSums] = [:]
        for line in demangled.stdout.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let calls = Int(words[0]) else { continue }
            found[String(words[1].drop { $0 == " " }), default: FunctionSums()].calls += calls
        }
        expect(found, try recording.callsByFullName().mapValues { FunctionSums(calls: $0, total: 0, selfTime: 0) })
    }
}

extension Substring {
    /// What lies before and after the last `text`.
    fileprivate func halves(at text: String) -> (Substring, Substring)? {
        guard let place = ranges(of: text).last else { return nil }
        return (self[..<place.lowerBound], self[place.upperBound...])
    }
}
