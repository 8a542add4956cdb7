import TestSupport
import Testing

/// What the runtime takes for a piece of a Swift task, and for its asynchronous context.
@Suite struct TaskPieceTests {
    private func record(
        _ build: Build, _ leaves: Int, _ options: [String], _ body: (_ session: String) throws -> Void
    ) throws {
        let program = try Binaries.make(
            "jobs-\(build.compiler.rawValue)-O\(build.level)", command: build.compiler.rawValue,
            ["-O\(build.level)", "-g"], ["\(Binaries.sources)/jobs.c", "\(Fathom.products)/libfathom-swift.o"])
        let directory = try TemporaryDirectory()
        let session = directory.file("s")
        let recorded = try Fathom.record([program, "\(leaves)"], into: session, options: ["--quiet"] + options)
        try #require(recorded.status == 0, Comment(rawValue: recorded.stderr))
        #expect(recorded.stdout == "\(leaves) leaves\n")
        #expect(try Fathom.run(["info", session]).stdout.contains("damage       none"))
        try body(session)
    }

    /// Memory that only begins like a context is followed neither then nor when the register holds something else.
    @Test(arguments: Build.all) func contextsLeadToCode(build: Build) throws {
        try record(build, 1, []) { session in
            let contexts = try Self.contexts(session)
            #expect(contexts == ["0", "0", "2"])
        }
    }

    /// How many contexts are known of each piece.
    static func contexts(_ session: String) throws -> [Substring] {
        let tasks = try Fathom.run(["dump", session]).stdout.split(separator: "\n")
            .map { $0.split(separator: " ") }.filter { $0.count > 1 && $0[1] == "task" }
        return tasks.map { words in words.firstIndex(of: "contexts").flatMap { words.dropFirst($0 + 1).first } ?? "0" }
    }

    /// The calls around a piece are left out, it is not; and its time is not theirs then.
    @Test(arguments: Build.all) func pieceStaysAlone(build: Build) throws {
        try record(build, 2, ["-D", "0"]) { session in
            let dump = try Fathom.run(["dump", session]).stdout
            let lines = dump.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count > 2 }
            let records = lines.filter { Int($0[0]) != nil && $0[1] != "task" }
            let told = records.map { $0[1...].prefix($0[1] == "dropped" ? 3 : 2).joined(separator: " ") }
            #expect(
                told == [
                    "enter main", "enter piece", "exit piece", "enter piece", "exit piece", "enter piece",
                    "dropped calls 2", "exit piece", "dropped calls 2", "exit main",
                ])
            try #require(records.count == 10)
            let times = records.map { Int($0[0]) ?? 0 }
            let pieces = times[2] - times[1] + times[4] - times[3] + times[7] - times[5]
            let around = try #require(Int(records[8].last ?? ""))
            #expect(pieces + around <= times[9] - times[0])
        }
    }

    /// Whatever is left out between them, the calls that are open where a buffer ends are those at the next one's start.
    @Test(arguments: Build.all) func buffersEndInPieces(build: Build) throws {
        try record(build, 20000, ["-D", "1", "--buffer-size", "16K"]) { session in
            let dump = try Dump(session)
            #expect(try dump.counts() == ["main": 1, "middle": 1, "piece": 3, "leaf": 20000])
            let depths = Dictionary(grouping: try dump.enters(), by: \.depth).mapValues(\.count)
            #expect(depths == [0: 1, 1: 1 + 2, 2: 1, 3: 20000])
        }
    }
}
