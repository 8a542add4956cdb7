internal import Glibc
import TestSupport
import Testing

/// Recordings of many processes can be read: each is known by what it was called, and what is too short is one line.
@Suite struct ManyProcessesTests {
    private let directory: TemporaryDirectory
    private var session: String { directory.file("session.fathom") }

    init() throws { directory = try TemporaryDirectory("many") }

    private func fathom(_ arguments: [String]) throws -> [Substring] {
        let output = try Fathom.run([arguments[0], session] + arguments.dropFirst())
        #expect(output.status == 0 && output.stderr.isEmpty, "\(output.stderr)")
        return output.stdout.split(separator: "\n")
    }

    /// 101 processes in which nothing takes long: one line, not a heading for each.
    @Test func quietThreadsAreOneLine() throws {
        let binary = try Binaries.instrumented("spawn.c", .gccO2)
        #expect(try Fathom.record([binary, "10"], into: session).status == 0)
        let all = try fathom(["tree", "-t", "100s"])
        try #require(all.count == 1)
        #expect(all[0].hasPrefix("… 101 threads of 101 processes, "))
        #expect(all[0].hasSuffix(" below 100s"))
        // The first one waits for all others.
        let first = try fathom(["tree", "--sort", "time", "--limit", "1"])
        let name = binary.split(separator: "/").last ?? ""
        try #require(first.count == 5)
        #expect(first[0].contains(" \(name) · \(name) 10 · thread "))
        #expect(first[1].hasPrefix("# depth      began      total       self ") && first[2].hasSuffix("  main"))
        #expect(first[4].hasPrefix("… 100 threads of 100 processes, "))
        #expect(first[4].hasSuffix(", not among the longest 1"))
    }

    /// Who started whom, whatever way; processes that are alike are one line.
    @Test func theTreeOfProcesses() throws {
        let binary = try Binaries.instrumented("spawn.c", .gccO2)
        #expect(try Fathom.record([binary, "5"], into: session).status == 0)
        let name = binary.split(separator: "/").last ?? ""
        let lines = try fathom(["info", "--tree"]).dropFirst().map { line in
            // Calls, two times with their units, and the process id go.
            line.split(separator: " ", omittingEmptySubsequences: false).drop {
                $0 != name
            }
            .joined(separator: " ")
        }
        let chain = (0...4).reversed().map { "\(name) · \(name) chain \($0) (by exec)" }
        let round = ["\(name) · \(name) 5 (forked)", "\(name) · \(name) leaf (by exec)"]
        #expect(lines.first == "\(name) · \(name) 5")
        #expect(lines.filter { $0 == "\(name) · \(name) leaf (10 processes)" }.count == 1)
        #expect(lines.filter { $0 == round[0] }.count == 5 && lines.filter { $0 == round[1] }.count == 5)
        #expect(lines.filter { $0 == "\(name) · \(name) chain 5" }.count == 5)
        #expect(lines.filter { chain.contains($0) }.count == 25)
        #expect(lines.count == 2 + 10 + 30)
        #expect(try fathom(["info", "--tree", "--no-fold"]).count == 1 + 1 + 10 + 10 + 30)
        #expect(try fathom(["info", "--tree", "--limit", "1"]).last == "… 50 more processes, --limit 0 shows all")
        let short = try fathom(["info", "--tree", "-t", "100s"])
        #expect(short.count == 2 && short[1].contains("… 51 processes, "))
        #expect(try Fathom.run(["info", session, "--limit", "3"]).status == 64)
    }

    /// What is inherited is in totals and counted nowhere else, so that sums can be checked by hand; processes are their threads.
    @Test func totalsSayWhatTheyHold() throws {
        let binary = try Binaries.instrumented("title.c", .gccO2)
        #expect(try Fathom.record([binary], into: session).status == 0)
        func rows(_ options: [String]) throws -> [[String: String]] {
            let lines = try fathom(["report", "--format", "csv"] + options).map(csvFields)
            let header = try lines.at(0)
            return lines.dropFirst().map { Dictionary(zip(header, $0)) { first, _ in first } }
        }
        func number(_ row: [String: String], _ key: String) -> Int { row[key].flatMap { Int($0) } ?? -1 }
        let main = try #require(try rows([]).first { $0["name"] == "main" })
        #expect(number(main, "calls") == 1 && number(main, "inherited_calls") == 5 && number(main, "inherited_ns") > 0)
        #expect(number(main, "total_ns") == number(main, "avg_ns") + number(main, "inherited_ns"))
        #expect(try fathom(["report"]).contains { $0.hasPrefix("inherited: ") })
        #expect(try fathom(["graph"]).contains { $0.contains("  main (") && $0.hasSuffix(" inherited)") })
        let (processes, threads) = (try rows(["--by", "process"]), try rows(["--by", "thread"]))
        #expect(processes.count == 6 && threads.count == 6)
        for key in ["calls", "total_ns", "self_ns", "inherited_ns", "p50_ns", "p99_ns"] {
            #expect(processes.map { number($0, key) } == threads.map { number($0, key) })
        }
        #expect(processes.filter { $0["name"]?.hasSuffix(" · early") == true }.count == 1)
    }

    /// A process is called what it calls itself, also when it says so late, and over its environment.
    @Test(arguments: Build.two)
    func titles(_ build: Build) throws {
        let binary = try Binaries.instrumented("title.c", build)
        let plain = try run(binary, ["one", "two words"])
        let recorded = try Fathom.record([binary, "one", "two words"], into: session)
        #expect(recorded.stdout == plain.stdout && recorded.status == plain.status)
        let name = binary.split(separator: "/").last ?? ""
        let long = "late: with a long title, longer than all of the arguments were that the program was started with"
        let headings = try fathom(["tree"]).filter { $0.hasPrefix("process ") }.map { heading in
            heading.split(separator: " ").dropFirst(2).joined(separator: " ").before("thread")
        }
        let own = "\(name) · \(name) one 'two words' · "
        #expect(
            headings == [
                own, "\(name) · early · ", "\(name) · \(long.prefix(71))… · ", own, "\(name) · title: parent · ", own,
            ])
        let info = try fathom(["info"]).filter { $0.hasPrefix("  title ") }.map { String($0.dropFirst(13)) }
        #expect(info == ["early", long, "title: parent"])
        let tree = try fathom(["tree"])
        #expect(tree.contains { $0.hasSuffix(" main (boss)") })
        #expect(try fathom(["tree", "--process", "late: *"]).filter { $0.hasPrefix("process ") }.count == 1)
        #expect(try fathom(["tree", "--process", "\(name) one *"]).filter { $0.hasPrefix("process ") }.count == 3)
    }
}

extension String {
    /// What stands before `separator`.
    fileprivate func before(_ separator: String) -> String {
        String(split(separator: separator, omittingEmptySubsequences: false)[0])
    }
}
