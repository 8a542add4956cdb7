import Glibc
import TestSupport
import Testing

/// Tables of many runs: what `export --format fleet` writes, as DuckDB and Spark read it.
@Suite struct FleetTests {
    private static let python = "\(ExportRecording.built)/consumers/python/bin/python"

    /// A Python that has Spark, and Java beside it; Spark takes 500 MB, so nothing installs it.
    static let sparkPython = getenv("FATHOM_SPARK_PYTHON").map { String(cString: $0) }

    private let directory: TemporaryDirectory
    private var tables: String { directory.file("fleet") }

    init() throws { directory = try TemporaryDirectory("fleet") }

    private static let open = """
        import duckdb, sys
        database = duckdb.connect()
        database.execute("set enable_progress_bar = false")
        for table in ('run', 'stack', 'sample'):
            database.execute(f"create view {table} as select * from read_parquet('{sys.argv[1]}/{table}/*/*/*.parquet', "
                             "hive_partitioning = true)")
        def rows(query): return database.execute(query).fetchall()

        """

    private func ask(_ script: String, _ arguments: String...) throws -> String {
        let output = try run(Self.python, ["-c", Self.open + script, tables] + arguments)
        try #require(output.status == 0, "\(output.stderr)")
        return output.stdout
    }

    private func export(_ session: String, _ options: String...) throws {
        let made = try Fathom.run(["export", session, "--format", "fleet", "-o", tables] + options)
        try #require(made.status == 0 && made.stderr.isEmpty, "\(made.stderr)")
    }

    /// Every function has the calls and times of the report, every path the number that follows from its names, and every histogram
    /// as many calls as its path.
    @Test(arguments: [ExportRecording.Program.lua, .threads, .names]) func sums(_ program: ExportRecording.Program)
        throws
    {
        let recording = try ExportRecording.of(program)
        try export(recording.session)
        let text = try ask(
            """
            def rotated(x, b): return (x << b | x >> 64 - b) & mask
            mask = (1 << 64) - 1
            def siphash(text):
                v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]
                def round():
                    v[0] = v[0] + v[1] & mask; v[2] = v[2] + v[3] & mask
                    v[1] = rotated(v[1], 13) ^ v[0]; v[3] = rotated(v[3], 16) ^ v[2]; v[0] = rotated(v[0], 32)
                    v[2] = v[2] + v[1] & mask; v[0] = v[0] + v[3] & mask
                    v[1] = rotated(v[1], 17) ^ v[2]; v[3] = rotated(v[3], 21) ^ v[0]; v[2] = rotated(v[2], 32)
                text += bytes(7 - len(text) % 8) + bytes([len(text) & 255])
                for place in range(0, len(text), 8):
                    word = int.from_bytes(text[place:place + 8], 'little')
                    v[3] ^= word; round(); round(); v[0] ^= word
                v[2] ^= 255
                for _ in range(4): round()
                return v[0] ^ v[1] ^ v[2] ^ v[3]
            known = {}
            for number, names, modules, leaf, depth in rows('select stack_id, names, modules, leaf, depth from stack order by depth'):
                assert depth == len(names) - 1 == len(modules) - 1 and leaf == names[-1], names
                caller = known[tuple(zip(modules[:-1], names[:-1]))] if depth else 0
                found = siphash(caller.to_bytes(8, 'little') + modules[-1].encode() + bytes(1) + leaf.encode())
                assert found == number & mask, names
                known[tuple(zip(modules, names))] = found
            assert rows('select count(*) from sample where stack_id not in (select stack_id from stack)') == [(0,)]
            assert rows('select count(*) from sample where calls <> coalesce(list_sum([one.calls for one in hist]), 0)') == [(0,)]
            assert rows('''select count(*) from sample, unnest(hist) as each(one)
                where one.ns > max_ns * 1.017 or one.ns < min_ns / 1.017 - 1''') == [(0,)]
            for row in rows('''select leaf, sum(calls), sum(case when list_contains(names[:-2], leaf) then 0 else total_ns end),
                sum(self_ns) from sample join stack using(stack_id) group by 1'''): print(*row, sep='\\t')
            """)
        var found: [String: FunctionSums] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t")
            found[String(try fields.at(0))] = FunctionSums(
                calls: Int(try fields.at(1)) ?? -1, total: Int(try fields.at(2)) ?? -1,
                selfTime: Int(try fields.at(3)) ?? -1)
        }
        let expected = recording.sums()
        for (name, sums) in expected {
            // Of several functions of one name, totals are not to be compared.
            if sums.total < 0 { found[name]?.total = -1 }
            #expect(found[name] == sums, "\(name)")
        }
        #expect(found.count == expected.count)
    }

    /// Labels, times, the machine; what was not recorded is NULL; and a recording that is exported again takes its own place.
    @Test func runs() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        for mode in ["trace", "profile", "counts"] {
            let session = directory.file("\(mode).fathom")
            let made = try Fathom.record([binary, "10"], into: session, options: ["--quiet", "--mode", mode])
            try #require(made.status == 0, "\(made.stderr)")
            for _ in 0..<2 {
                try export(session, "--label", "version=1.\(mode)", "--label", "commit=4f2a", "--label", "größe=a=b")
            }
        }
        let text = try ask(
            """
            for row in rows('''select version, "commit", labels['größe'], labels['fathom.mode'], "date" = "time"::date,
                program, abs(epoch(now()) - epoch("time")) < 600, len(host) > 0,
                (select sum(calls) || ' ' || count(total_ns) || ' ' || count(self_ns) || ' ' || count(running_ns) || ' ' ||
                    count(max_ns) || ' ' || sum(len(hist)) || ' ' || count(*) from sample where sample.run_id = run.run_id)
                from run order by version'''): print(*row[:-1], *row[-1].split())
            """)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.count == 3, "\(text)")
        for (line, mode) in zip(lines, ["counts", "profile", "trace"]) {
            try #require(line.count == 15, "\(line)")
            #expect(line[0..<4] == ["1.\(mode)", "4f2a", "a=b", Substring(mode)], "\(line)")
            #expect(line[4] == "True" && line[5].hasPrefix("fib") && line[6...7] == ["True", "True"], "\(line)")
            // Calls of fib(10) and main, then rows with times.
            #expect(line[8] == "178", "\(line)")
            let paths = line[14]
            #expect(line[11] == (mode == "trace" ? paths : "0"), "only this mode tells when threads wait: \(line)")
            let kept = mode == "counts" ? "0" : paths
            #expect(
                line[9...10] == [kept, kept] && line[12] == kept && (line[13] == "0") == (mode == "counts"), "\(line)")
        }
    }

    /// Two versions of a program: the second calls `more` from `work`, and `leaf` twice as often.
    private func makeVersions() throws {
        let source = """
            volatile int sum;
            void leaf(int n) { sum += n; }
            void more(int n) { for (int i = 0; i < n; i++) leaf(i); }
            void work(int n, int version) { for (int i = 0; i < n; i++) leaf(i); if (version > 1) more(n); }
            int main(int count, char **words) { for (int i = 0; i < 20; i++) work(50, count); }

            """
        _ = try directory.write(source, to: "prog.c")
        let binary = directory.file("prog")
        let built = try run(
            "gcc", ["-O0", "-g", "-finstrument-functions", "-o", binary, directory.file("prog.c")])
        try #require(built.status == 0, "\(built.stderr)")
        for (version, words) in [("1", []), ("1", []), ("2", ["x"]), ("2", ["x"]), ("2", ["x"])] {
            let session = directory.file("run.fathom")
            let made = try Fathom.record([binary] + words, into: session, options: ["--quiet", "--force"])
            try #require(made.status == 0, "\(made.stderr)")
            try export(session, "--label", "version=\(version)")
        }
    }

    private func query(_ words: [String], _ python: String = FleetTests.python) throws -> [[Substring]] {
        let output = try run(
            python, ["\(Binaries.repository)/Tools/fleet", tables] + words, environment: Fathom.inherited(adding: [:]),
            seconds: 300)
        try #require(output.status == 0, "\(output.stderr)")
        return output.stdout.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    }

    static let questions = [
        ["slowest-versions"], ["regressions"], ["p99-by-host", "--function", "leaf"], ["new-paths"],
    ]

    @Test func queries() throws {
        try makeVersions()
        let versions = try query(["slowest-versions"])
        #expect(versions.dropFirst().map { $0.prefix(3).joined(separator: " ") }.sorted() == ["prog 1 2", "prog 2 3"])
        let functions = try query(["regressions"]).dropFirst()
        let leaf = try #require(try functions.first { try $0.at(1) == "leaf" }),
            more = try #require(try functions.first { try $0.at(1) == "more" })
        #expect(
            leaf.dropFirst(5).joined(separator: " ") == "1000 2000"
                && more.dropFirst(5).joined(separator: " ") == "0 20",
            "\(functions)")
        // Asked the other way round, nothing is new; of other versions, there is nothing at all.
        #expect(
            try query(["regressions", "--old", "2", "--new", "1"]).dropFirst().contains {
                try $0.at(1) == "more" && $0.dropFirst(5).prefix(2) == ["20", "0"]
            })
        #expect(try query(["new-paths", "--old", "2", "--new", "1"]).count == 1)
        let paths = try query(["new-paths"])
        #expect(
            paths.dropFirst().map { $0.prefix(3).joined(separator: " ") } == [
                "main;work;more;leaf 3 3000", "main;work;more 3 60",
            ])
        let hosts = try query(["p99-by-host", "--function", "leaf"])
        #expect(try hosts.count == 2 && hosts.at(1).at(1) == "8000", "\(hosts)")
    }

    /// Times of a version are those of a run that has some, whatever other runs of it were recorded without.
    @Test func regressionsBesideRunsWithoutTimes() throws {
        try makeVersions()
        func leaf() throws -> [Substring] { try #require(try query(["regressions"]).first { try $0.at(1) == "leaf" }) }
        let before = try leaf()
        for _ in 0..<2 {
            let session = directory.file("counts.fathom")
            let made = try Fathom.record(
                [directory.file("prog"), "x"], into: session, options: ["--quiet", "--force", "--mode", "counts"])
            try #require(made.status == 0, "\(made.stderr)")
            try export(session, "--label", "version=2")
        }
        #expect(try leaf() == before)
    }

    @Test func queriesThatCannotBeAsked() throws {
        let fleet = "\(Binaries.repository)/Tools/fleet"
        let none = try run(Self.python, [fleet, directory.path, "regressions"])
        #expect(none.status == 2 && none.stderr.hasSuffix("has no table 'run'\n"), "\(none.stderr)")
        let unknown = try run(Self.python, [fleet, directory.path, "fastest"])
        #expect(unknown.status == 64 && unknown.stderr.contains("there are new-paths, p99-by-host, regressions"))
    }

    /// The same files on Spark, in its local mode, give the same rows.
    @Test(
        .enabled(if: FleetTests.sparkPython != nil, "FATHOM_SPARK_PYTHON names no Python with pyspark"),
        arguments: FleetTests.questions)
    func sparkAgrees(_ words: [String]) throws {
        try makeVersions()
        #expect(try query(words + ["--engine", "spark"], try #require(Self.sparkPython)) == query(words))
    }

    @Test func wrongUse() throws {
        let session = directory.file("a.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "3"], into: session)
        try writeFile([], to: directory.file("file"))
        let uses: [([String], Int32, String)] = [
            (["--format", "fleet", "-o", "-"], 64, "fleet is several files: name a directory"),
            (["--format", "csv", "-o", "x", "--label", "a=b"], 64, "--label is for --format fleet"),
            (["--format", "fleet", "-o", tables, "--label", "fathom.mode=x"], 64, "are Fathom's own"),
            (["--format", "fleet", "-o", directory.file("file")], 2, "file: Not a directory"),
            (["--format", "fleet", "-o", tables, "-F", "nothing"], 1, "nothing"),
        ]
        for (words, status, reason) in uses {
            let output = try Fathom.run(["export", session] + words)
            #expect(output.status == status && output.stderr.contains(reason), "\(words): \(output.stderr)")
        }
    }

    /// OpenTelemetry's own decoder finds the calls and self times of the report, and tables without anything twice.
    @Test(arguments: [ExportRecording.Program.lua, .threads, .names]) func otlp(_ program: ExportRecording.Program)
        throws
    {
        let recording = try ExportRecording.of(program)
        let script = """
            import sys
            from opentelemetry.proto.profiles.v1development import profiles_pb2
            data = profiles_pb2.ProfilesData()
            data.ParseFromString(open(sys.argv[1], 'rb').read())
            tables, sums, threads = data.dictionary, {}, set()
            strings = tables.string_table
            assert strings[0] == '' and len(set(strings)) == len(strings)
            for table in ('mapping', 'location', 'function', 'link', 'attribute', 'stack'):
                entries = [entry.SerializeToString() for entry in getattr(tables, table + '_table')]
                assert entries[0] == b'' and len(set(entries)) == len(entries), table
            for resource in data.resource_profiles:
                known = {one.key: one.value for one in resource.resource.attributes}
                assert known['process.pid'].int_value > 0 and known['service.name'].string_value
                for profile in resource.scope_profiles[0].profiles:
                    kind = strings[profile.sample_type.type_strindex], strings[profile.sample_type.unit_strindex]
                    place = {('time', 'nanoseconds'): 1, ('calls', 'count'): 0}[kind]
                    assert len(profile.profile_id) == 16 and profile.time_unix_nano > 1.7e18 and profile.duration_nano > 0
                    for sample in profile.samples:
                        stack = tables.stack_table[sample.stack_index].location_indices
                        functions = [tables.function_table[tables.location_table[place].lines[0].function_index] for place in stack]
                        assert strings[functions[-1].name_strindex] and sample.link_index == 0
                        sums.setdefault(strings[functions[0].name_strindex], [0, 0])[place] += sample.values[0]
                        for index in sample.attribute_indices:
                            attribute = tables.attribute_table[index]
                            if strings[attribute.key_strindex] == 'thread.id': threads.add(attribute.value.int_value)
            assert len(tables.mapping_table) > 1 and strings[tables.mapping_table[1].filename_strindex].startswith('/')
            print(len(threads))
            for name, (calls, time) in sums.items(): print(name, calls, time, sep='\\t')
            """
        let output = try run(Self.python, ["-c", script, try recording.export("otlp")])
        try #require(output.status == 0, "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n")
        #expect(try Int(lines.at(0)) == threads(of: recording))
        var found: [String: FunctionSums] = [:]
        for line in lines.dropFirst() {
            let fields = line.split(separator: "\t")
            found[String(try fields.at(0))] = FunctionSums(
                calls: Int(try fields.at(1)) ?? -1, total: 0, selfTime: Int(try fields.at(2)) ?? -1)
        }
        #expect(found == recording.sums().mapValues { FunctionSums(calls: $0.calls, total: 0, selfTime: $0.selfTime) })
    }

    /// What is called below a scope that names a span has a link to it, the innermost one; other calls have none.
    @Test func links() throws {
        let (trace, outer, inner) = (
            "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "b7ad6b7169203331"
        )
        let source = """
            #include "fathom.h"
            static volatile int sum;
            void leaf(void) { sum++; }
            void within(void) { FATHOM_SCOPE("traceparent 00-\(trace)-\(inner)-01"); leaf(); }
            void request(void) { FATHOM_SCOPE("traceparent 00-\(trace)-\(outer)-01"); leaf(); within(); }
            int main(void) { leaf(); request(); FATHOM_SCOPE("traceparent 00-\(trace)-x-01"); leaf(); }

            """
        _ = try directory.write(source, to: "spans.c")
        let session = directory.file("spans.fathom"), include = "\(Binaries.repository)/Sources/CFathom/include"
        let built = try Fathom.run(
            ["build", "--", "gcc", "-O1", "-I", include, "-o", "spans", "spans.c"], workingDirectory: directory.path)
        try #require(built.status == 0, "\(built.stderr)")
        let script = """
            import sys
            from opentelemetry.proto.profiles.v1development import profiles_pb2
            data = profiles_pb2.ProfilesData()
            data.ParseFromString(open(sys.argv[1], 'rb').read())
            tables = data.dictionary
            assert not tables.link_table[0].trace_id
            found = set()
            for sample in data.resource_profiles[0].scope_profiles[0].profiles[-1].samples:
                names = [tables.string_table[tables.function_table[tables.location_table[place].lines[0].function_index].name_strindex]
                         for place in tables.stack_table[sample.stack_index].location_indices]
                link = tables.link_table[sample.link_index]
                if names[0] == 'leaf': found.add((len(names), link.trace_id.hex() or '-', link.span_id.hex() or '-'))
            for one in sorted(found): print(*one)
            """
        for mode in ["trace", "profile"] {
            let made = try Fathom.run(
                ["record", "-q", "--force", "--mode", mode, "-o", session, "--", "./spans"],
                workingDirectory: directory.path)
            try #require(made.status == 0, "\(made.stderr)")
            let file = directory.file("spans.otlp")
            try #require(try Fathom.run(["export", session, "--format", "otlp", "-o", file]).status == 0)
            let output = try run(Self.python, ["-c", script, file])
            // By how many calls lie between main and leaf.
            #expect(output.stdout == "2 - -\n3 - -\n4 \(trace) \(outer)\n6 \(trace) \(inner)\n", "\(output)")
        }
    }

    private func threads(of recording: ExportRecording) throws -> Int {
        let report = try Fathom.run(["report", recording.session, "--by", "thread", "--format", "csv"])
        return report.stdout.split(separator: "\n").count - 1
    }

    /// Each run tells of its functions which build they are of, and where they are defined in that.
    @Test func builds() throws {
        let binary = directory.file("prog")
        for lines in ["", "\n\n"] {
            _ = try directory.write(
                "\(lines)volatile int sum;\nvoid leaf(int n) { sum += n; }\nint main(void) { leaf(1); }\n", to: "prog.c"
            )
            let built = try run(
                "gcc",
                ["-O0", "-g", "-finstrument-functions", "-Wl,--build-id=sha1", "-o", binary, directory.file("prog.c")])
            try #require(built.status == 0, "\(built.stderr)")
            let session = directory.file("run\(lines.count).fathom")
            let made = try Fathom.record([binary], into: session, options: ["--quiet"])
            try #require(made.status == 0, "\(made.stderr)")
            try export(session, "--label", "version=\(lines.count)")
        }
        let text = try ask(
            """
            for row in rows('''select version, leaf, line, len(build_id), file like '%/prog.c'
                from sample join run using (run_id) join (select distinct stack_id, leaf from stack) using (stack_id)
                order by all'''): print(*row)
            print(rows('select count(distinct build_id) from sample')[0][0])
            """)
        #expect(
            text.split(separator: "\n").map(String.init) == [
                "0 leaf 2 40 True", "0 main 3 40 True", "2 leaf 4 40 True", "2 main 5 40 True", "2",
            ], "\(text)")
    }
}
