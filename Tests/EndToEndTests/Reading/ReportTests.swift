import Glibc
import TestSupport
import Testing

/// `fathom report` says what `fathom dump` adds up to.
@Suite struct ReportTests {
    /// What one function's calls add up to, taken one by one.
    private struct Sums: Equatable {
        var calls = 0
        var total = 0
        var selfTime = 0
        var minimum = Int.max
        var maximum = 0
    }

    private struct OpenCall {
        var function: String
        var start: Int
        var callees = 0
    }

    @Test(arguments: ["fib.c", "torture.cpp", "jumps.c", "coroutines.c", "json.c"])
    func reportIsTheSumOfTheDump(_ source: String) throws {
        let directory = try TemporaryDirectory("report")
        let session = directory.file("session.fathom")
        let arguments = ["fib.c": ["12"], "torture.cpp": ["2000"], "jumps.c": ["2000"]][source] ?? []
        let binary = try Binaries.instrumented(source, .gccO2)
        _ = try Fathom.record([binary] + arguments, into: session)

        let (sums, durations) = try addUp(Dump(session))
        let report = try Fathom.run(["report", session, "--format", "csv"])
        #expect(report.status == 0)
        let rows = report.stdout.split(separator: "\n").map(csvFields)
        let header = try rows.at(0)
        #expect(rows.count == sums.count + 1)
        for row in rows.dropFirst() {
            func number(_ column: String) throws -> Int {
                try #require(header.firstIndex(of: column).flatMap { Int(row[$0]) }, "\(column): \(row)")
            }
            let name = try row.at(0)
            let found = try Sums(
                calls: number("calls"), total: number("total_ns"), selfTime: number("self_ns"),
                minimum: number("min_ns"), maximum: number("max_ns"))
            #expect(found == sums[name], "\(name)")
            let sorted = (durations[name] ?? []).sorted()
            for percent in [50, 90, 99] {
                let value = try number("p\(percent)_ns")
                let exact = try sorted.at((sorted.count * percent + 99) / 100 - 1)
                #expect(abs(value - exact) * 50 <= exact, "\(name) p\(percent)")
            }
        }
    }

    @Test func symbolsOfAStrippedProgram() throws {
        let directory = try TemporaryDirectory("symbols")
        let session = directory.file("session.fathom")
        let (program, kept) = (directory.file("program"), try directory.makeDirectory("kept"))
        try run("cp", [try Binaries.instrumented("fib.c", .gccO2), program])
        try run("cp", [program, kept])
        try run("strip", [program])
        _ = try Fathom.record([program, "5"], into: session)
        #expect(try Fathom.run(["report", session]).stdout.contains("fib") == false)
        for command in ["report", "tree", "dump"] {
            #expect(try Fathom.run([command, session, "--symbols", kept]).stdout.contains("fib"), "\(command)")
        }
        let misspelt = try Fathom.run(["report", session, "--symbols", directory.file("nowhere")])
        #expect(misspelt.status == 2)
        #expect(misspelt.stderr.contains("nowhere: No such file"))
    }

    @Test func whatIsNotThereIsSaidInOneLine() throws {
        let directory = try TemporaryDirectory("report")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("fib.c", .gccO2), "5"], into: session)
        for arguments in [
            ["report", "--filter", "nothing"], ["graph", "nothing"], ["report", "--callers", "nothing"],
        ] {
            let command = [arguments[0], session] + arguments.dropFirst()
            let output = try Fathom.run(command)
            #expect(output.status == 1)
            #expect(output.stdout.isEmpty)
            #expect(output.stderr.split(separator: "\n").count == 1)
        }
        for (options, reason) in [
            (["-t", "10s"], "no calls are left by the filters"),
            (["--callers", "main"], "nothing that was recorded called 'main'"),
        ] {
            let none = try Fathom.run(["report", session] + options)
            #expect(none.status == 1 && none.stderr == "fathom: error: \(reason)\n", "\(none)")
        }
        #expect(try Fathom.run(["report", session, "--sort", "colour"]).status == 64)
        #expect(try Fathom.run(["report", session, "--by", "path", "--callers", "main"]).status == 64)
        #expect(try Fathom.run(["graph", session, "--threshold", "101"]).status == 64)
    }

    /// What is kept beside a recording is used while it fits, and never after.
    @Test func keptSumsAreNeverStale() throws {
        let directory = try TemporaryDirectory("report")
        let session = directory.file("session.fathom")
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        func record(_ size: String) throws {
            _ = try Fathom.record([binary, size], into: session, options: ["--quiet", "--force"])
        }
        func report(_ options: [String] = []) throws -> String {
            let output = try Fathom.run(["report", session, "--format", "csv"] + options)
            #expect(output.status == 0)
            return output.stdout
        }
        func isKept() -> Bool { access(session + "/aggregate", F_OK) == 0 }

        try record("24")
        let first = try report(["--no-cache"])
        #expect(try report() == first)
        #expect(!isKept(), "a log that has just changed may change again")
        sleep(3)
        #expect(try report() == first)
        #expect(isKept())
        #expect(try report() == first)
        // What is kept is as it was recorded, and corrected as it is read.
        func usage(_ run: String, _ user: Int) -> String {
            "\"\(run)_user_ns\": \(user), \"\(run)_system_ns\": 0"
        }
        let baseline = "\"runs\": 1, \(usage("plain", 1_000_000)), \(usage("traced", 9_000_000))"
        let description = String(decoding: try readFile(session + "/session.json"), as: UTF8.self)
        try writeFile(
            Array("{\"baseline\": {\(baseline)},\(description.dropFirst())".utf8), to: session + "/session.json")
        let corrected = try report()
        #expect(corrected != first)
        #expect(try report(["--no-cache"]) == corrected)
        #expect(try report(["--raw"]) == first)

        try record("25")
        #expect(!isKept())
        let second = try report()
        #expect(second != first)
        sleep(3)
        #expect(try report() == second)
        // Kept sums that are damaged are not used.
        var kept = try readFile(session + "/aggregate")
        kept[kept.count / 2] ^= 4
        try writeFile(kept, to: session + "/aggregate")
        #expect(try report() == second)
        // Nor are those of another log.
        var log = try readFile(session + "/trace")
        log[log.count / 2] ^= 4
        try writeFile(log, to: session + "/trace")
        let damaged = try Fathom.run(["report", session, "--format", "csv"])
        #expect(damaged.stdout != second)
        #expect(damaged.stderr.contains("checksum"))
    }

    private func addUp(_ dump: Dump) throws -> ([String: Sums], [String: [Int]]) {
        var stacks: [String: [OpenCall]] = [:]
        var sums: [String: Sums] = [:]
        var durations: [String: [Int]] = [:]
        try dump.forEach { line in
            guard let function = line.text(.function), let time = line.number(.time) else { return }
            let lane = "\(line.number(.process) ?? 0) \(line.number(.lane) ?? 0)"
            if line.kind == "enter" {
                stacks[lane, default: []].append(OpenCall(function: function, start: time))
            } else if let call = stacks[lane]?.popLast() {
                let duration = time - call.start
                var sum = sums[function] ?? Sums()
                sum.calls += 1
                sum.selfTime += duration - call.callees
                sum.minimum = min(sum.minimum, duration)
                sum.maximum = max(sum.maximum, duration)
                let stack = stacks[lane] ?? []
                if !stack.contains(where: { $0.function == function }) { sum.total += duration }
                sums[function] = sum
                durations[function, default: []].append(duration)
                if !stack.isEmpty { stacks[lane]![stack.count - 1].callees += duration }
            }
        }
        return (sums, durations)
    }
}
