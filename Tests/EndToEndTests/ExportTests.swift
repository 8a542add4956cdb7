import TestSupport
import Testing

/// Exports of real recordings, read by programs that are not Fathom: the same calls and times as `fathom report`.
@Suite struct ExportTests {
    /// What a function took, in ns.
    private struct Sums: Equatable {
        var calls: Int
        var total: Int
        var selfTime: Int
    }

    private struct Recording {
        let directory: TemporaryDirectory
        let session: String
        let functions: [String: Sums]

        /// Records a program and asks `fathom report` for the truth.
        init(_ source: String, _ arguments: [String]) throws {
            directory = try TemporaryDirectory("export")
            session = directory.file("session.fathom")
            _ = try Fathom.record([try Binaries.instrumented(source, .gccO0)] + arguments, into: session)
            var functions: [String: Sums] = [:]
            let report = try Fathom.run(["report", session, "--format", "csv"])
            #expect(report.status == 0, "\(report.stderr)")
            for line in report.stdout.split(separator: "\n").dropFirst() {
                let fields = line.split(separator: ",", omittingEmptySubsequences: false)
                functions[String(fields[0])] = Sums(
                    calls: try #require(Int(fields[4])), total: try #require(Int(fields[5])),
                    selfTime: try #require(Int(fields[6])))
            }
            #expect(functions.count > 5)
            self.functions = functions
        }

        func export(_ format: String) throws -> String {
            let file = directory.file("export.\(format)")
            let result = try Fathom.run(["export", session, "--format", format, "-o", file])
            #expect(result.status == 0, "\(result.stderr)")
            return file
        }
    }

    /// Recursion, less deep than any viewer's limit, and threads.
    static let programs = [("json.c", ["200"]), ("threads.c", [])]

    /// Fields of the lines that a program prints, without marks of thousands and units.
    private func table(_ output: ProcessOutput) -> [[String]] {
        output.stdout.split(separator: "\n").map { line in
            line.split(separator: " ").map { $0.filter { $0 != "," } }
        }
    }

    @Test(.enabled(if: Toolchain.isInstalled("callgrind_annotate")), arguments: programs)
    func callgrind(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let file = try recording.export("callgrind")
        for (inclusive, expected) in [("no", \Sums.selfTime), ("yes", \Sums.total)] as [(String, KeyPath<Sums, Int>)] {
            let output = try run(
                "callgrind_annotate",
                ["--auto=no", "--threshold=100", "--show-percs=no", "--inclusive=\(inclusive)", file],
                workingDirectory: "/")
            var found: [String: Int] = [:]
            for fields in table(output) where fields.count > 1 && fields[1].contains(".c:") {
                found[String(fields[1].split(separator: ":").last!)] = Int(fields[0])
            }
            #expect(found == recording.functions.mapValues { $0[keyPath: expected] })
        }
    }

    @Test(.enabled(if: Toolchain.isInstalled("pprof")), arguments: programs)
    func pprof(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let file = try recording.export("pprof")
        let options = ["-symbolize=none", "-top", "-trim=false", "-nodecount=1000000"]
        var found: [String: Sums] = [:]
        for fields in table(try run("pprof", options + ["-sample_index=calls", "-unit=count", file])) {
            if fields.count == 6, let calls = Int(fields[0]) {
                found[fields[5]] = Sums(calls: calls, total: 0, selfTime: 0)
            }
        }
        let times = table(try run("pprof", options + ["-sample_index=time", "-unit=ns", file]))
        for fields in times where fields.count == 6 {
            found[fields[5]]?.selfTime = Int(fields[0].filter(\.isNumber)) ?? -1
            found[fields[5]]?.total = Int(fields[3].filter(\.isNumber)) ?? -1
        }
        #expect(found == recording.functions)
    }

    @Test(.enabled(if: Toolchain.isInstalled("dot")), arguments: programs)
    func dot(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let plain = try run("dot", ["-Tplain", try recording.export("dot")])
        #expect(plain.status == 0, "\(plain.stderr)")
        var found: [String: Int] = [:]
        for line in plain.stdout.split(separator: "\n") where line.hasPrefix("node ") {
            let label = line.split(separator: "\"")[1].split(separator: "\\n")
            let words = label[label.count - 1].split(separator: " ")
            found[String(label[0])] = Int(words[0])
        }
        #expect(found == recording.functions.mapValues(\.calls))
    }

    /// Python reads the files and adds up: JSON by its own parser, tables by DuckDB.
    private func python(_ script: String, _ file: String) throws -> [String: Sums] {
        let output = try run("python3", ["-c", script, file])
        #expect(output.status == 0, "\(output.stderr)")
        var found: [String: Sums] = [:]
        for line in output.stdout.split(separator: "\n") {
            let fields = line.split(separator: "\t")
            found[String(fields[0])] = Sums(
                calls: try #require(Int(fields[1])), total: try #require(Int(fields[2])),
                selfTime: try #require(Int(fields[3])))
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

    @Test(.enabled(if: Toolchain.isInstalled("python3")), arguments: programs)
    func chrome(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let events = """
            import json, sys
            from decimal import Decimal
            data = json.load(open(sys.argv[1]), parse_float=Decimal)
            events = [(e['tid'], e['ph'] == 'B', e['name'], int(e['ts'] * 1000)) for e in data if e['ph'] in 'BE']

            """
        #expect(try python(events + ExportTests.replay, try recording.export("chrome")) == recording.functions)
    }

    @Test(.enabled(if: Toolchain.isInstalled("python3")), arguments: programs)
    func speedscope(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let events = """
            import json, sys
            data = json.load(open(sys.argv[1]))
            frames = data['shared']['frames']
            events = [(track, e['type'] == 'O', frames[e['frame']]['name'], e['at'])
                      for track, profile in enumerate(data['profiles']) for e in profile['events']]

            """
        #expect(try python(events + ExportTests.replay, try recording.export("speedscope")) == recording.functions)
    }

    @Test(.enabled(if: Toolchain.isInstalled("python3")), arguments: programs)
    func firefox(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        let script = """
            import json, sys
            from decimal import Decimal
            data = json.load(open(sys.argv[1]), parse_float=Decimal)
            tables, sums = data['shared'], {}
            names, stacks = tables['stringArray'], tables['stackTable']
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
        let found = try python(script, try recording.export("firefox"))
        #expect(found == recording.functions.mapValues { Sums(calls: 0, total: $0.total, selfTime: $0.selfTime) })
    }

    private static let hasDuckDB = (try? run("python3", ["-c", "import duckdb"]))?.status == 0

    @Test(.enabled(if: hasDuckDB), arguments: programs, ["csv", "parquet"])
    func tables(_ program: (String, [String]), _ format: String) throws {
        let recording = try Recording(program.0, program.1)
        let calls = format == "csv" ? "count(*)" : "sum(calls)"
        let script = """
            import duckdb, sys
            query = f"select name, \(calls), 0, sum(self_ns) from '{sys.argv[1]}' group by 1"
            for row in duckdb.sql(query).fetchall(): print(*row, sep='\\t')
            """
        let found = try python(script, try recording.export(format))
        #expect(found == recording.functions.mapValues { Sums(calls: $0.calls, total: 0, selfTime: $0.selfTime) })
    }

    @Test(arguments: programs) func folded(_ source: String, _ arguments: [String]) throws {
        let recording = try Recording(source, arguments)
        var found = recording.functions.mapValues { _ in 0 }
        let text = String(decoding: try readFile(try recording.export("folded")), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            found[String(words[0].split(separator: ";").last!), default: 0] += try #require(Int(words[1]))
        }
        #expect(found == recording.functions.mapValues(\.selfTime))
    }

    @Test func misuse() throws {
        let directory = try TemporaryDirectory("misuse")
        let recording = try Recording("threads.c", [])
        let wrongFormat = try Fathom.run(["export", recording.session, "--format", "gif", "-o", "-"])
        #expect(wrongFormat.status == 64)
        #expect(wrongFormat.stderr.contains("perfetto"))
        let noSession = try Fathom.run(["export", directory.file("none"), "--format", "csv", "-o", "-"])
        #expect(noSession.status == 2)
        let noDirectory = try Fathom.run(
            ["export", recording.session, "--format", "csv", "-o", directory.file("none/file")])
        #expect(noDirectory.status == 1)
        #expect(noDirectory.stderr.contains("No such file or directory"))
        let nothing = try Fathom.run(["export", recording.session, "--format", "csv", "-o", "-", "-F", "no_such_name"])
        #expect(nothing.status == 1)
        #expect(nothing.stdout.split(separator: "\n").count == 1)
        #expect(nothing.stderr.contains("no calls to export"))
        let full = try Fathom.run(["export", recording.session, "--format", "csv", "-o", "/dev/full"])
        #expect(full.status == 1)
    }
}
