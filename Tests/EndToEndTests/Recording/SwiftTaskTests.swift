import Foundation
import TestSupport
import Testing

/// Swift's tasks: 1,000 of them and children of theirs, over several threads, with every way to wait.
@Suite struct SwiftTaskTests {
    private static let package = Binaries.sources + "/../packages/tasks"
    private static let count = 1000

    /// A call as the program or Fathom tells of it. Times are ns.
    private struct Call {
        var depth: Int
        var name: String
        var total: UInt64
        var waited: UInt64 = 0
    }

    /// Of each task, in pre-order, by the number that its first calls spell.
    private typealias Trees = [Int: [Call]]

    /// Each task's tree equals the one that the program tells, and so does the time that it did not run.
    @Test(arguments: SwiftBuildKind.all) func treesAreTheProgramsOwn(kind: SwiftBuildKind) throws {
        let program = try kind.build(package: Self.package, product: "tasks") + "/tasks"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "\(Self.count)", "200"], into: session)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let truth = Self.truth(recorded.stdout)
        // The tasks that have children have six.
        try #require(truth.count == Self.count + Self.count / 50 * 6)

        let shown = try Self.shown(session)
        #expect(shown.count == truth.count)
        var waits: (truth: UInt64, shown: UInt64) = (0, 0)
        var wrong = 0
        for (number, calls) in truth {
            let tree = shown[number] ?? []
            if tree.map(\.depth) != calls.map(\.depth) || tree.map(\.name) != calls.map(\.name) {
                wrong += 1
                continue
            }
            for (call, told) in zip(tree, calls) {
                // The hooks are around what the program measures; 0.1 % for the rates of two clocks.
                #expect(call.total >= told.total - told.total / 1000, Comment(rawValue: call.name))
            }
            waits.truth += calls.reduce(0) { $0 + $1.waited }
            waits.shown += tree.reduce(0) { $0 + $1.waited }
        }
        #expect(wrong == 0)
        let difference = max(waits.truth, waits.shown) - min(waits.truth, waits.shown)
        #expect(difference <= waits.truth / 100, "\(waits)")
        // Joined, a function is one, whichever of its parts has its first hook.
        let functions = try Listing.rows(["report", session, "--format", "csv"])
        #expect(functions["job(_:_:_:_:)"] != nil && !functions.keys.contains { $0.hasSuffix("(resumed)") })
    }

    /// A task that is suspended is blocked, and its times are split as those of threads are.
    @Test func timesAreSplit() throws {
        let program = try SwiftBuildKind.all[0].build(package: Self.package, product: "tasks") + "/tasks"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "20", "200"], into: session, options: ["--blocked"])
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let report = try Fathom.run(["report", session, "--format", "json", "--thread", "task *"])
        try #require(report.status == 0, Comment(rawValue: report.stderr))
        let answer = try JSONSerialization.jsonObject(with: Data(report.stdout.utf8)) as? [String: Any]
        let rows = try #require(answer?["functions"] as? [[String: Any]])
        #expect(!rows.isEmpty)
        func sum(_ row: [String: Any], _ keys: [String]) -> Double { keys.reduce(0) { $0 + (row[$1] as? Double ?? 0) } }
        for row in rows {
            #expect(abs(sum(row, ["running_ns", "blocked_ns", "runnable_ns"]) - sum(row, ["total_ns"])) <= 2)
        }
        let suspended = try #require(rows.first { $0["name"] as? String == "(suspended)" })
        #expect(sum(suspended, ["blocked_ns"]) > 0 && sum(suspended, ["running_ns"]) == 0)
        // What threads wait is not what tasks wait, and a piece is not the whole call.
        let chain = try Fathom.run(["chain", session, "--call", "job(_:_:_:_:)"]).stderr
        #expect(chain.contains("this is the longest piece"), "\(chain)")
        let waits = try Fathom.run(["waits", session]).stderr
        #expect(waits.contains("what the tasks themselves wait is (suspended)"), "\(waits)")
    }

    /// A task is a thread to every command; threads by themselves are as they were.
    @Test func tasksAndThreads() throws {
        let kind = SwiftBuildKind.all[0]
        let program = try kind.build(package: Self.package, product: "tasks") + "/tasks"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        _ = try Fathom.record([program, "10", "5"], into: session)
        let one = try Fathom.run(["tree", session, "--thread", "task 1"]).stdout
        #expect(one.contains("· task 1\n") && one.contains("static Main.main()"))
        #expect(one.split(separator: "\n").filter { $0.hasPrefix("process ") }.count == 1)
        let main = try Fathom.run(["tree", session, "--thread", "main"]).stdout
        #expect(main.contains("static Main.main()") && !main.contains("(running tasks)"))
        let all = try Fathom.run(["tree", session]).stdout
        #expect(all.contains("(running tasks)") && all.contains("(suspended)") && !all.contains("(resumed)"))
        // A task alone is joined, too; where threads are asked for, their pieces are what they are.
        let tasks = try Listing.rows(["report", session, "--format", "csv", "--thread", "task *"])
        #expect(tasks["pause(_:_:)"] != nil && tasks["pause(_:_:) (resumed)"] == nil)
        let pieces = try Listing.rows(["report", session, "--format", "csv", "--thread", "*"])
        #expect(pieces["pause(_:_:) (resumed)"] != nil)
        let threads = try Fathom.run(["report", session, "--by", "thread"]).stdout
        #expect(threads.contains("· task 1\n"))
        let waiting = try Fathom.run(["report", session, "--callers", "(suspended)"]).stdout
        #expect(waiting.contains("callback(_:_:)") && waiting.contains("job(_:_:_:_:)"))
        let raw = try Fathom.run(["dump", session]).stdout
        #expect(raw.contains("  task       task 1  resumed 0"))
    }

    /// Options that leave calls out leave the pieces of a task in, which are its asynchronous calls' own: those are nested
    /// as they were, and what is left out below them is counted.
    @Test(arguments: SwiftBuildKind.all, [["-t", "200us"], ["-D", "0"]])
    func optionsKeepTheTrees(kind: SwiftBuildKind, options: [String]) throws {
        let program = try kind.build(package: Self.package, product: "tasks") + "/tasks"
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "100", "5"], into: session, options: ["--quiet"] + options)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        let truth = Self.truth(recorded.stdout).values.map(Self.asynchronous)
        let shown = try Self.trees(session)
        #expect(shown.map(Self.asynchronous).filter { !$0.isEmpty }.sorted() == truth.sorted())
        #expect(!(try Fathom.run(["tree", session]).stdout.contains("(resumed)")))
        let told = Self.truth(recorded.stdout).values.joined().count { Self.synchronous.contains($0.name) }
        let kept = shown.joined().count { Self.synchronous.contains($0.name) }
        #expect(options[0] == "-t" ? kept < told : kept == 0)
        let info = try Fathom.run(["info", session]).stdout
        // "left out   N calls, by the options".
        let line = info.split(separator: "\n").first { $0.hasPrefix("left out ") }
        let leftOut = try line.flatMap { Int(try $0.split(separator: " ").at(2).filter { $0 != "," }) } ?? 0
        #expect(leftOut >= told - kept, Comment(rawValue: info))
    }

    // MARK: Reading

    private static let synchronous: Set<String> = [
        "Counter.add(_:_:)", "report(_:_:)", "work(_:_:)", "zero(_:)", "one(_:)", "tag(_:_:)",
    ]

    /// The asynchronous calls of a tree, a line each.
    private static func asynchronous(_ calls: [Call]) -> String {
        calls.filter { !synchronous.contains($0.name) }.map { "\($0.depth) \($0.name)\n" }.joined()
    }

    /// What the program printed: a line a call, a blank line after each task.
    private static func truth(_ output: String) -> Trees {
        var trees: Trees = [:]
        var calls: [Call] = []
        for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ", maxSplits: 3)
            if words.count == 4, let depth = Int(words[0]), let total = UInt64(words[1]), let waited = UInt64(words[2])
            {
                calls.append(Call(depth: depth, name: String(words[3]), total: total, waited: waited))
            } else if !calls.isEmpty {
                trees[number(of: calls)] = calls
                calls = []
            }
        }
        return trees
    }

    private static func shown(_ session: String) throws -> Trees {
        Trees(try trees(session).map { (number(of: $0), $0) }, uniquingKeysWith: { $1 })
    }

    /// The trees of the tasks, cut down to the functions that the program tells of.
    private static func trees(_ session: String) throws -> [[Call]] {
        let export = try Fathom.run(["export", session, "--format", "csv", "-o", "-"])
        try #require(export.status == 0, Comment(rawValue: export.stderr))
        var trees: [[Call]] = []
        var task = ""
        var calls: [Call] = []
        // By depth as recorded: the call there that is told of, or its caller that is.
        var path: [Int] = []
        func finish() {
            if !calls.isEmpty { trees.append(calls) }
            calls = []
        }
        for line in export.stdout.split(separator: "\n").dropFirst() {
            // call,caller,pid,tid,lane,depth,name,module,start,total,self,state
            let fields = csvFields(line)
            try #require(fields.count == 12, Comment(rawValue: String(line)))
            if fields[3] != task {
                finish()
                task = fields[3]
            }
            guard let tid = UInt32(task), tid > 1 << 30, let depth = Int(fields[5]), let total = UInt64(fields[9])
            else { continue }
            path.removeLast(max(path.count - depth, 0))
            var told = path.last ?? -1
            if fields[6] == "(suspended)" {
                if told >= 0 { calls[told].waited += total }
            } else if names.contains(fields[6]) {
                calls.append(Call(depth: told < 0 ? 0 : calls[told].depth + 1, name: fields[6], total: total))
                told = calls.count - 1
            }
            path.append(told)
        }
        finish()
        return trees
    }

    private static let names: Set<String> = [
        "Counter.add(_:_:)", "report(_:_:)", "work(_:_:)", "zero(_:)", "one(_:)", "tag(_:_:)", "pause(_:_:)",
        "callback(_:_:)", "fail(_:_:_:)", "recurse(_:_:_:)", "child(_:_:_:)", "job(_:_:_:_:)", "family(_:_:_:)",
    ]

    private static func number(of calls: [Call]) -> Int {
        let digits = calls.filter { $0.name == "zero(_:)" || $0.name == "one(_:)" }
        return digits.reversed().reduce(0) { $0 * 2 + ($1.name == "one(_:)" ? 1 : 0) }
    }
}
