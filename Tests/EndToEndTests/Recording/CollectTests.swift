import Glibc
import TestSupport
import Testing

/// `fathom collect`: intervals of a running program add up to what it did, whoever is killed.
@Suite(.serialized) struct CollectTests {
    private static let python = "\(ExportRecording.built)/consumers/python/bin/python"

    private let directory: TemporaryDirectory
    private var session: String { directory.file("session.fathom") }
    private var tables: String { directory.file("fleet") }

    init() throws { directory = try TemporaryDirectory("collect") }

    /// Starts a program that runs until it is killed, and its recorder.
    private func start(_ mode: String) throws -> (recorder: BackgroundProcess, progress: SharedProgress) {
        let progress = try SharedProgress(directory.file("progress"))
        let binary = try Binaries.instrumented("progress.c", .gccO2)
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "--mode", mode, "-o", session, "--quiet", "--", binary,
            directory.file("progress"),
        ])
        #expect(waitUntil { progress.calls > 0 })
        return (recorder, progress)
    }

    private func collector(_ options: [String] = [], _ target: String? = nil) throws -> BackgroundProcess {
        try BackgroundProcess(
            [Fathom.executable, "collect", "--to", tables, "--every", "50ms", target ?? session] + options)
    }

    private func files(_ table: String) throws -> [String] {
        let found = try run("find", ["\(tables)/\(table)", "-name", "*.parquet"])
        return found.stdout.split(separator: "\n").map(String.init)
    }

    /// Waits until so many intervals are there.
    private func expectParts(_ count: Int) throws {
        #expect(waitUntil(seconds: 60) { ((try? files("run").count) ?? 0) >= count })
    }

    /// Of each call path: its calls, its times and its histogram's, summed over all intervals.
    private func sums(_ tables: String) throws -> [String: String] {
        let script = """
            import duckdb, sys
            database = duckdb.connect()
            database.execute("set enable_progress_bar = false")
            for table in ('run', 'stack', 'sample'):
                database.execute(f"create view {table} as from read_parquet('{sys.argv[1]}/{table}/*/*/*.parquet')")
            rows = lambda query: database.execute(query).fetchall()
            runs = rows('select count(*), count(distinct run_id) from run')
            assert runs[0][0] == runs[0][1], runs
            assert not rows('select 1 from sample where run_id not in (select run_id from run)')
            for row in rows('''with named as (select stack_id, min(array_to_string(names, ';')) as path from stack group by 1),
                    buckets as (select stack_id, one.ns as ns, sum(one.calls) as calls from sample, unnest(hist) as each(one)
                        group by all having sum(one.calls) <> 0),
                    texts as (select stack_id, string_agg(ns || ':' || calls, ' ' order by ns) as durations from buckets group by 1)
                    select path, sum(calls), coalesce(sum(total_ns), -1), coalesce(sum(self_ns), -1), any_value(durations)
                    from sample join named using(stack_id) left join texts using(stack_id) group by 1'''):
                print(*row, sep='\\t')
            """
        let output = try run(Self.python, ["-c", script, tables])
        try #require(output.status == 0, "\(output.stderr)")
        let paths = try output.stdout.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            return (String(try parts.at(0)), String(try parts.at(1)))
        }
        try #require(Set(paths.map(\.0)).count == paths.count, "\(output.stdout)")
        return Dictionary(uniqueKeysWithValues: paths)
    }

    /// What was collected is what the session holds now that it has ended.
    private func expectWhole() throws {
        let whole = directory.file("whole")
        let made = try Fathom.run(["export", session, "--format", "fleet", "-o", whole])
        try #require(made.status == 0, "\(made.stderr)")
        let (found, expected) = (try sums(tables), try sums(whole))
        #expect(found == expected && expected.count == 13)
        let aside = try run("ls", ["-A", "\(tables)/.fathom-collect"]).stdout.split(separator: "\n")
        #expect(aside.count == 2 && aside.allSatisfy { $0.hasSuffix(".lock") || $0.hasSuffix(".state") }, "\(aside)")
    }

    /// It ends when the recording does, and has all of it.
    @Test(arguments: ["profile", "trace", "counts"]) func addsUp(_ mode: String) throws {
        let (recorder, progress) = try start(mode)
        let collector = try collector()
        try expectParts(4)
        kill(progress.process, SIGKILL)
        recorder.wait()
        #expect(collector.wait() == 0)
        try expectWhole()
    }

    /// The collector is killed again and again, at any moment, and goes on; nothing is counted twice, nothing is left out.
    @Test func goesOnAfterKill() throws {
        let (recorder, progress) = try start("profile")
        for round in 0..<12 {
            let collector = try collector()
            usleep(UInt32(60_000 + round * 17_000))
            collector.signal(SIGKILL)
            collector.wait()
        }
        let last = try collector()
        try expectParts(3)
        kill(progress.process, SIGKILL)
        recorder.wait()
        #expect(last.wait() == 0)
        try expectWhole()
        // The whole session is there already.
        let again = try Fathom.run(["collect", "--to", tables, session])
        #expect(again.status == 0 && again.stderr.isEmpty, "\(again.stderr)")
        try expectWhole()
    }

    /// What counts but was not put into its place, because power failed in between, is put there by the next one.
    @Test func movesWhatCounts() throws {
        let (recorder, progress) = try start("profile")
        let collector = try collector()
        try expectParts(2)
        collector.signal(SIGTERM)
        #expect(collector.wait() == 0)
        // As it was before the last interval's files were moved; and a file that never counted.
        let last = try #require(files("run").max())
        let name = String(try #require(last.split(separator: "/").last).dropLast(".parquet".count))
        for table in ["stack", "sample", "run"] {
            let file = try #require(files(table).first { $0.hasSuffix("\(name).parquet") })
            #expect(rename(file, "\(tables)/.fathom-collect/\(name).\(table)") == 0)
        }
        let stem = try name.split(separator: "-").at(0)
        try writeFile([1, 2, 3], to: "\(tables)/.fathom-collect/\(stem)-999999.run")
        kill(progress.process, SIGKILL)
        recorder.wait()
        let next = try Fathom.run(["collect", "--to", tables, session])
        #expect(next.status == 0 && next.stderr.isEmpty, "\(next.stderr)")
        try expectWhole()
    }

    /// No more is kept than was asked for; what no collector has written stays.
    @Test func prunes() throws {
        let (recorder, progress) = try start("profile")
        let own = "\(tables)/run/date=2020-01-01/program=x"
        try #require(try run("mkdir", ["-p", own]).status == 0)
        for name in ["00000000000000ab.parquet", "notes.txt"] { try writeFile([1], to: "\(own)/\(name)") }
        let old = ["sample", "run"].map { "\(tables)/\($0)/date=2020-01-02/program=y/00000000000000ab-000001.parquet" }
        for file in old {
            try #require(
                try run("sh", ["-c", "mkdir -p $(dirname \(file)) && echo x >\(file) && touch -d 2020-01-02 \(file)"])
                    .status == 0)
        }
        let collector = try collector(["--keep", "1d", "--max-size", "40K"])
        #expect(waitUntil(seconds: 60) { ((try? newestPart()) ?? 0) >= 12 })
        collector.signal(SIGTERM)
        #expect(collector.wait() == 0)
        kill(progress.process, SIGKILL)
        recorder.wait()
        for file in old { #expect(access(file, F_OK) != 0) }
        #expect(access("\(tables)/run/date=2020-01-02", F_OK) != 0, "an empty partition goes")
        for name in ["00000000000000ab.parquet", "notes.txt"] { #expect(access("\(own)/\(name)", F_OK) == 0) }
        let parts = try files("run").filter { $0.contains("-0000") }
        #expect(parts.count >= 1 && parts.count < 12)
        var size = 0
        for table in ["run", "stack", "sample"] {
            for file in try files(table) { size += try readFile(file).count }
            #expect(try files(table).filter { $0.contains("-0000") }.count == parts.count)
        }
        #expect(size <= 40 << 10, "\(size)")
    }

    /// A tool takes the files elsewhere, and fails now and then, and is killed with the collector: nothing is lost, nothing stays behind.
    @Test func uploads() throws {
        let store = directory.file("store"), down = directory.file("down")
        let tool = """
            test ! -e \(down) || { echo down >&2; exit 3; }
            mkdir -p "\(store)/$(dirname "$2")" && cp "$1" "\(store)/$2.part" && mv "\(store)/$2.part" "\(store)/$2"
            """
        let (recorder, progress) = try start("profile")
        for round in 0..<6 {
            let collector = try collector(["--upload", tool])
            usleep(UInt32(150_000 + round * 31_000))
            collector.signal(SIGKILL)
            collector.wait()
        }
        // While the store is down, files wait, no more of them than are allowed.
        try writeFile([], to: down)
        let waiting = try collector(["--upload", tool, "--max-size", "1M"])
        try expectParts(3)
        waiting.signal(SIGTERM)
        #expect(waiting.wait() == 2 << 8)
        #expect(unlink(down) == 0)
        let last = try collector(["--upload", tool])
        kill(progress.process, SIGKILL)
        recorder.wait()
        #expect(last.wait() == 0)
        #expect(try files("run").isEmpty && files("sample").isEmpty && files("stack").isEmpty)
        let whole = directory.file("whole")
        try #require(try Fathom.run(["export", session, "--format", "fleet", "-o", whole]).status == 0)
        #expect(try sums(store) == sums(whole))
    }

    /// URLs of files are directories; of others, a tool is chosen by the scheme, which finds the file and where it belongs.
    @Test func urls() throws {
        let (recorder, progress) = try start("profile")
        kill(progress.process, SIGKILL)
        recorder.wait()
        #expect(try Fathom.run(["collect", "--to", "file://\(tables)", session]).status == 0)
        try expectWhole()
        let bin = directory.file("bin"), said = directory.file("said"), spool = directory.file("spool")
        let stand = "#!/bin/sh\ntest -s \"$4\" && echo \"$1 $2 $3 $5\" >>\(said)\n"
        try #require(try run("mkdir", [bin]).status == 0)
        try writeFile(Array(stand.utf8), to: "\(bin)/aws")
        chmod("\(bin)/aws", 0o755)
        let path = "\(bin):\(getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")"
        let made = try Fathom.run(
            ["collect", "--to", "s3://bucket/fleet/", "--spool", spool, session], environment: ["PATH": path])
        #expect(made.status == 0 && made.stderr.isEmpty, "\(made.stderr)")
        let lines = String(decoding: try readFile(said), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("s3 cp --only-show-errors s3://bucket/fleet/") })
        #expect(lines.last?.contains("/fleet/run/date=") == true, "that of run comes last: \(lines)")
        // Whoever started it may ignore the ends of children, and it still knows what became of its tool.
        let waiting = directory.file("waiting")
        let words = "collect --to s3://b/x --spool \(waiting) --upload 'exit 3' \(session)"
        let refused = try run("sh", ["-c", "trap '' CHLD; exec \(Fathom.executable) \(words)"])
        #expect(refused.status == 2 && refused.stderr.contains("ended with status 3"), "\(refused)")
        #expect(try !run("find", [waiting, "-name", "*.parquet"]).stdout.isEmpty)
        for (words, reason) in [
            (["--to", "s3://bucket/x"], "needs --spool"), (["--to", "ftp://x/y", "--spool", spool], "needs --upload"),
            (["--to", tables, "--spool", spool], "--spool is for --to URL"),
            (["--to", tables, "--upload", ""], "--upload names a command"),
        ] {
            let output = try Fathom.run(["collect"] + words + [session])
            #expect(output.status == 64 && output.stderr.contains(reason), "\(words): \(output.stderr)")
        }
    }

    private func newestPart() throws -> Int {
        try files("run").compactMap { Int($0.split(separator: "-").last?.dropLast(".parquet".count) ?? "") }.max() ?? 0
    }

    /// A process is as good as its session. Only one collector at a time has a session.
    @Test func targets() throws {
        let (recorder, progress) = try start("profile")
        let collector = try collector([], "\(progress.process)")
        try expectParts(1)
        let second = try Fathom.run(["collect", "--to", tables, session])
        #expect(second.status == 2 && second.stderr.contains("is being collected into"), "\(second.stderr)")
        kill(progress.process, SIGKILL)
        recorder.wait()
        #expect(collector.wait() == 0)
        try expectWhole()
        for (words, status, reason) in [
            (["--to", tables, directory.file("none")], 2, "No such file"), (["--to", tables], 64, "session|pid"),
            (["--to", tables, "--every", "1ms", session], 64, "--every is 10ms at least"),
            (["--to", "\(session)/session.json", session], 2, "Not a directory"),
            (["--to", tables, "\(getpid())"], 2, "is not being recorded"),
        ] as [([String], Int32, String)] {
            let output = try Fathom.run(["collect"] + words)
            #expect(output.status == status && output.stderr.contains(reason), "\(words): \(output.stderr)")
        }
        let state = try #require(
            try run("ls", ["\(tables)/.fathom-collect"]).stdout.split(separator: "\n").first { $0.hasSuffix(".state") })
        try writeFile([1, 2, 3], to: "\(tables)/.fathom-collect/\(state)")
        let damaged = try Fathom.run(["collect", "--to", tables, session])
        #expect(
            damaged.status == 2 && damaged.stderr.contains("is damaged; to begin anew, remove it"), "\(damaged.stderr)")
    }

    /// The shortest time is that of a call that has ended, and not how long one has been open.
    @Test(arguments: ["profile", "trace"]) func shortestTimes(_ mode: String) throws {
        _ = try directory.write(
            """
            #include <unistd.h>
            __attribute__((noinline)) void nap(void) { usleep(300000); }
            int main(void) { for (int i = 0; i < 5; i++) nap(); }

            """, to: "nap.c")
        let binary = directory.file("nap")
        let built = try run("gcc", ["-O0", "-finstrument-functions", "-o", binary, directory.file("nap.c")])
        try #require(built.status == 0, "\(built.stderr)")
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "--mode", mode, "-o", session, "--quiet", "--", binary,
        ])
        #expect(waitUntil { (try? Fathom.run(["info", session]).status) == 0 })
        let collector = try collector()
        #expect(recorder.wait() == 0 && collector.wait() == 0)
        let script = """
            import duckdb, sys
            for row in duckdb.sql(f'''select leaf, min(min_ns), sum(calls)
                    from read_parquet('{sys.argv[1]}/sample/*/*/*.parquet') join
                    (select distinct stack_id, leaf from read_parquet('{sys.argv[1]}/stack/*/*/*.parquet')) using (stack_id)
                    group by 1 order by 1''').fetchall(): print(*row)
            """
        let output = try run(Self.python, ["-c", script, tables])
        try #require(output.status == 0, "\(output.stderr)")
        let rows = output.stdout.split(separator: "\n").map { $0.split(separator: " ") }
        try #require(rows.count == 2, "\(output.stdout)")
        for (row, (name, least, calls)) in zip(rows, [("main", 1500, "1"), ("nap", 300, "5")]) {
            #expect(row[0] == name && row[2] == calls, "\(row)")
            #expect(try #require(Int(row[1])) >= least * 990_000, "\(row)")
        }
    }
}
