import TestSupport
import Testing

/// `fathom tail` finds what makes the slow requests of a server slow, as much as the server itself says of them.
@Suite struct TailTests {
    /// A request as the server timed it, in ns.
    private struct Request {
        var took: Double
        var waited: Double
        var parsed: Double
    }

    /// A path of the answer, times in ns.
    private struct Path {
        var names: String
        var difference: Double
    }

    private struct Answer {
        var difference: Double
        var slowCalls: Int
        var typicalCalls: Int
        var paths: [Path]
        /// The mark before each of the slowest calls, and its cause.
        var slowest: [(mark: String, cause: String)]

        init(_ json: String) throws {
            func number(_ key: String, in text: Substring) throws -> Double {
                let digits = try #require(text.split(separator: "\"\(key)\":").dropFirst().first)
                return try #require(Double(digits.prefix { !",}".contains($0) }))
            }
            func names(_ key: String, in text: Substring) throws -> String {
                let list = try #require(text.split(separator: "\"\(key)\":[").dropFirst().first)
                return list.prefix { $0 != "]" }.filter { $0 != "\"" }
            }
            let lines = json.split(separator: "\n")
            difference = try number("difference_ns", in: try lines.at(0))
            slowCalls = Int(try number("calls", in: try #require(lines.first { $0.hasPrefix("\"slow\":") })))
            typicalCalls = Int(try number("calls", in: try #require(lines.first { $0.hasPrefix("\"typical\":") })))
            paths = try lines.filter { $0.hasPrefix("{\"path\":") }.map {
                Path(names: try names("path", in: $0), difference: try number("difference_ns", in: $0))
            }
            slowest = try lines.filter { $0.hasPrefix("{\"name\":") }.map {
                let mark = try #require($0.split(separator: "\"mark\":\"").dropFirst().first)
                return (String(mark.prefix { $0 != "\"" }), try names("cause", in: $0))
            }
        }
    }

    /// The recording of the server, and what it said of its requests.
    ///
    /// On a busy machine, requests may have been slow because they waited for a processor. Then the server is asked again, until
    /// it says that each planted cause took longer than all else.
    private func record(
        _ build: Build, _ directory: TemporaryDirectory
    ) throws -> (session: String, requests: [Request]) {
        let (session, truth) = (directory.file("server.fathom"), directory.file("truth"))
        for _ in 0..<10 {
            let recorded = try Fathom.record(
                [try Binaries.instrumented("server.c", build), "2000"], into: session, environment: ["TRUTH": truth])
            try #require(recorded.status == 0, "\(recorded.stderr)")
            let requests = try Truth.lines(truth).map { words in
                let numbers = words.compactMap { Double($0) }
                return Request(took: try numbers.at(0), waited: try numbers.at(1), parsed: try numbers.at(2))
            }
            try #require(requests.count == 4000)
            let isPlanted = [1, 2].allSatisfy { percent in
                let (waiting, parsing) = shares(requests, percent: percent)
                return min(waiting, parsing) > 1.1 * (1 - waiting - parsing)
            }
            if isPlanted { return (session, requests) }
        }
        Issue.record("the server was kept from its processors in ten runs")
        return (session, [])
    }

    /// What parts of the difference between the slowest requests and the typical ones were waiting and parsing.
    private func shares(_ requests: [Request], percent: Int) -> (waiting: Double, parsing: Double) {
        let sorted = requests.sorted { $0.took < $1.took }
        let slow = sorted.suffix(sorted.count * percent / 100)
        let typical = sorted[(sorted.count / 4 - 1)..<(sorted.count * 3 / 4)]
        func difference(_ number: (Request) -> Double) -> Double {
            slow.map(number).reduce(0, +) / Double(slow.count)
                - typical.map(number).reduce(0, +) / Double(typical.count)
        }
        let took = difference(\.took)
        return (difference(\.waited) / took, difference(\.parsed) / took)
    }

    /// How many requests took as long as those from the 25th to the 75th percentile: more than half, because many take the same
    /// time to the nanosecond.
    private func typicalCalls(_ session: String) throws -> Int {
        let calls = try Fathom.run(["export", session, "--format", "csv", "-o", "-", "--filter", "handle", "-D", "2"])
        let lines = calls.stdout.split(separator: "\n")
        let columns = csvFields(try lines.at(0))
        let (name, total) = (
            try #require(columns.firstIndex(of: "name")), try #require(columns.firstIndex(of: "total_ns"))
        )
        let durations = try lines.dropFirst().map(csvFields).filter { try $0.at(name) == "handle" }
            .compactMap { Int(try $0.at(total)) }.sorted()
        try #require(durations.count == 4000)
        return durations.count { (durations[999]...durations[2999]).contains($0) }
    }

    @Test(arguments: Build.all) func bothCausesComeFirst(_ build: Build) throws {
        let directory = try TemporaryDirectory("tail")
        let (session, requests) = try record(build, directory)
        let typical = try typicalCalls(session)
        for percent in [1, 2] {
            let output = try Fathom.run(["tail", session, "handle", "--slowest", "\(percent)%", "--format", "json"])
            try #require(output.status == 0, "\(output.stderr)")
            let answer = try Answer(output.stdout)
            #expect(answer.slowCalls == 40 * percent && answer.typicalCalls == typical)
            let truth = shares(requests, percent: percent)
            let first = Set(answer.paths.prefix(2).map(\.names))
            #expect(first == ["handle,lock_wait", "handle,lookup,parse_file"])
            for (name, share) in [("handle,lock_wait", truth.waiting), ("handle,lookup,parse_file", truth.parsing)] {
                let found = try #require(answer.paths.first { $0.names == name }).difference / answer.difference
                #expect(abs(found - share) < 0.02, "\(name) has \(found), and the server says \(share)")
            }
            #expect(abs(answer.paths.reduce(0) { $0 + $1.difference } / answer.difference - 1) < 1e-9)
            #expect(answer.slowest.count == answer.slowCalls)
            // A thread that is kept from its processor is so in any function.
            let planted = answer.slowest.filter { $0.mark != "hits" }
            let found = planted.count {
                $0.cause == ($0.mark == "waits" ? "handle,lock_wait" : "handle,lookup,parse_file")
            }
            #expect(found * 4 > planted.count * 3)
            #expect(planted.count > answer.slowCalls / 2)
        }
    }

    @Test func textAndFlameGraph() throws {
        let directory = try TemporaryDirectory("tail")
        let (session, _) = try record(.gccO2, directory)
        let page = directory.file("tail.html")
        let output = try Fathom.run([
            "tail", session, "handle", "--slowest", "2%", "--limit", "7", "-o", page, "--threshold", "5",
        ])
        try #require(output.status == 0, "\(output.stderr)")
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("handle: 4,000 calls, the slowest 80 beside ") == true)
        let whole = try lines.at(try #require(lines.firstIndex { $0.hasSuffix("  function") }) + 1)
        #expect(whole.contains(" 100.0 % ") && whole.hasSuffix("  handle"))
        #expect(lines.contains { $0.hasSuffix("  lock_wait") })
        #expect(lines.last == "… 73 more, --limit 0 shows all")
        let drawn = try Browser.run(page, ["document.title"])
        #expect(drawn.first?.contains("the slowest 80 calls") == true)
        // A word that is no session is the function.
        let newest = try Fathom.run(["tail", "handle"], workingDirectory: directory.path)
        #expect(newest.status == 0 && newest.stdout.hasPrefix("handle: 4,000 calls, the slowest 40 beside "))
        #expect(newest.stderr == "fathom: reading server.fathom, the newest session here\n")
        let graph = try Fathom.run(["graph", "handle"], workingDirectory: directory.path)
        #expect(graph.status == 0 && graph.stdout.hasPrefix("to handle\n"), "\(graph)")
        #expect(graph.stderr == "fathom: reading server.fathom, the newest session here\n")
        let nothing = try Fathom.run(["tail", session, "handle", "-F", "pase_file"])
        #expect(nothing.status == 1 && nothing.stdout.isEmpty)
        #expect(nothing.stderr == "fathom: error: no function matches 'pase_file'; did you mean parse_file?\n")
    }

    /// The calls of Swift's tasks count as any others, and waiting is a callee.
    @Test func swiftTasks() throws {
        let recording = try ExportRecording.of(.tasks)
        let row = try #require(recording.rows.first { $0.name.hasPrefix("job(") })
        let output = try Fathom.run(["tail", recording.session, "job", "--format", "json"])
        try #require(output.status == 0, "\(output.stderr)")
        #expect(output.stdout.hasPrefix("{\"times\":\"raw\",\"function\":\"job\",\"calls\":\(row.calls),"))
        #expect(output.stdout.contains("\"(suspended)\"],\"slow_ns\":"))
        #expect(output.stdout.contains("\"task\":") && row.calls >= 50)
    }

    /// What cannot be compared is said in one line, with the status of nothing to show; wrong usage with its own.
    @Test func whatCannotBeCompared() throws {
        let directory = try TemporaryDirectory("tail")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "12"], into: session)
        for (arguments, status, reason) in [
            ([session, "fbi"], 1, "no function matches 'fbi'; did you mean fib?"),
            ([session, "main"], 1, "too few calls to compare the slowest with others: 'main' has 1"),
            ([session, "fib", "--slowest", "1"], 1, "'fib' has 1"),
            ([session, "fib", "--slowest", "0"], 64, "--slowest 0: a part of the calls is a number"),
            ([session, "fib", "--slowest", "101%"], 64, "--slowest 101%: a percentage is a number from 0 to 100"),
            ([session], 64, "name the function"),
            ([session, "fib", "-o", directory.file("x.pdf")], 64, "flame graphs are pages or SVG pictures"),
            ([directory.file("none"), "fib"], 2, "No such file or directory"),
        ] as [([String], Int32, String)] {
            let output = try Fathom.run(["tail"] + arguments)
            #expect(output.status == status, "\(arguments): \(output.stderr)")
            #expect(output.stderr.split(separator: "\n").first?.contains(reason) == true, "\(output.stderr)")
            #expect(output.stdout.isEmpty)
        }
    }
}
