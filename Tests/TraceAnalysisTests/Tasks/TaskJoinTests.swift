import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// Traces whose functions are letters: capitals may suspend, small ones may not. Times are ns.
@Suite struct TaskJoinTests {
    private let directory: TemporaryDirectory
    private let writer = TraceWriter()

    init() throws { directory = try TemporaryDirectory("tasks") }

    private static func resolver() -> FunctionResolver {
        FunctionResolver(
            FunctionTable(
                resolve: { _, address in
                    ResolvedFunction(
                        name: String(UnicodeScalar(UInt8(truncatingIfNeeded: address))), module: nil, file: nil, line: 0
                    )
                },
                divide: { _, address in
                    let letter = UnicodeScalar(UInt8(truncatingIfNeeded: address))
                    guard letter.properties.isUppercase else { return AsyncPart() }
                    let kind: AsyncPart.Kind =
                        switch Part(rawValue: address & ~0xff)! {
                        case .start: .start
                        case .resumption: .resumption
                        case .continuation: .continuation
                        }
                    // T is a thunk that begins G.
                    return AsyncPart(kind, of: letter == "T" ? "G" : String(letter), isThunk: letter == "T")
                }))
    }

    /// The trees of threads and tasks, each after a line with its name; one line a call: depth, name, start+total/self.
    ///
    /// - Parameter faults: moments of page faults and the numbers of the threads that have them; where there are any, lines tell.
    func trees(
        _ threads: [Records], end: UInt64 = 0, budget: Int = 1 << 17, faults: [(time: UInt64, thread: UInt32)] = []
    ) throws -> [String] {
        var metadata = MetadataWriter()
        metadata.process(pid: 1000, path: "/program")
        metadata.module("/program", low: 0x10, high: 0x1000, bias: 0)
        metadata.mark(1, "here")
        if end > 0 { metadata.end(at: end) }
        var options = TraceWriter.ChunkOptions()
        options.isMetadata = true
        writer.add(options, records: metadata.bytes)
        for (index, var records) in threads.enumerated() {
            records.options.isLast = true
            records.end()
            for var chunk in records.chunks {
                chunk.options.thread = UInt32(index + 1)
                chunk.options.tid = 1000 + UInt32(index)
                chunk.options.name = "thread \(index)"
                writer.add(chunk.options, path: chunk.path, records: chunk.records)
            }
        }
        let path = directory.file("x.fathom")
        try writer.write(to: path)
        if !faults.isEmpty {
            try FaultFile.write([faults.map { FaultFile.fault($0.time, 1000 + $0.thread) }], to: path)
        }
        let session = try Session(path: path)
        let resolver = Self.resolver(), functions = resolver.functions
        var layout = TreeLayout()
        layout.folds = false
        layout.tellsMemory = true
        let tree = CallTree(of: session, resolver: resolver, filter: TreeFilter(), layout: layout, budget: budget)
        var visitor = TaskTreeLines(functions: functions)
        for process in session.processes {
            var parts: [Double] = []
            let joined = TaskJoin(of: session, resolver: resolver) { parts.append($0) }.threads(of: process)
            #expect(parts.last == 1 && parts == parts.sorted() && parts.count > 1 && parts[0] > 0)
            for thread in joined { tree.walk(thread, &visitor) }
            // Every nanosecond of a root is somebody's own.
            #expect(visitor.selfTime == visitor.rootTime)
            let paths = Aggregation(of: session, resolver: resolver, filter: TreeFilter()).tree(of: joined)
            #expect(paths.paths.reduce(0) { $0 + $1.sums.selfTime } == visitor.selfTime)
        }
        #expect(session.damage.entries.isEmpty)
        return visitor.lines
    }

    @Test func aTaskOnTwoThreads() throws {
        var first = Records()
        var second = Records()
        first.begin("F", .start, at: 100, [10])
        first.enter("w", at: 120)
        first.exit(at: 150)
        first.exit(at: 200)
        first.piece("G", .start, 210...300, [20, 10])
        second.piece("G", .resumption, 5000...5100, isResumed: true, resume: 1, [20, 10])
        second.piece("F", .continuation, 5110...5200, resume: 1, [20, 10])
        #expect(
            try trees([first, second]) == [
                "task 7", "0 F 100+5100/180", "1 w 120+30/30", "1 G 210+4890/190", "2 (suspended) 300+4700/4700",
            ])
    }

    /// A page fault is that of the task's call that ran on the thread at its moment; one between pieces is the thread's.
    @Test func faultsOfTasks() throws {
        var first = Records()
        var second = Records()
        first.enter("r", at: 50)
        first.begin("F", .start, at: 100, [10])
        first.enter("w", at: 120)
        first.exit(at: 150)
        first.exit(at: 200)
        first.piece("G", .start, 210...300, [20, 10])
        first.exit(at: 400)
        second.piece("G", .resumption, 5000...5100, isResumed: true, resume: 1, [20, 10])
        second.piece("F", .continuation, 5110...5200, resume: 1, [20, 10])
        let faults: [(UInt64, UInt32)] = [
            (60, 0), (110, 0), (130, 0), (131, 0), (250, 0), (350, 0), (3000, 0), (4000, 1), (5050, 1), (5150, 1),
        ]
        let lines = try trees([first, second], faults: faults)
        #expect(
            lines == [
                "thread 0", "0 r 50+350/160 faults 2", "1 (running tasks) 100+100/100",
                "1 (running tasks) 210+90/90", "task 7",
                "0 F 100+5100/180 faults 6", "1 w 120+30/30 faults 2", "1 G 210+4890/190 faults 2",
                "2 (suspended) 300+4700/4700",
            ], "\(lines)")
    }

    /// Addresses of contexts are used again at once; chains tell calls apart all the same.
    @Test func recursionAndCallsOneAfterTheOther() throws {
        var thread = Records()
        thread.piece("F", .start, 0...10, [1])
        thread.piece("F", .start, 10...20, [2, 1])
        thread.piece("F", .start, 20...30, [3, 2, 1])
        thread.piece("F", .continuation, 30...40, [3, 2, 1])
        thread.piece("F", .start, 40...50, [3, 2, 1])
        thread.piece("F", .continuation, 50...60, [3, 2, 1])
        thread.piece("F", .continuation, 60...70, [2, 1])
        thread.piece("G", .start, 70...80, [2, 1])
        thread.piece("F", .continuation, 80...90, [2, 1])
        #expect(
            try trees([thread]) == [
                "task 7", "0 F 0+90/30", "1 F 10+50/30", "2 F 20+10/10", "2 F 40+10/10", "1 G 70+10/10",
            ])
    }

    /// Deeper than chains are counted.
    @Test func deepRecursion() throws {
        var thread = Records()
        let levels: UInt64 = 150
        var time: UInt64 = 0
        func contexts(_ level: UInt64) -> [UInt64] { (1...level).reversed() }
        for level in 1...levels {
            thread.piece("F", .start, time...time + 5, contexts(level))
            // A callee that has the context of the next level.
            thread.piece("G", .start, time + 5...time + 8, contexts(level + 1))
            thread.piece("F", .continuation, time + 8...time + 10, contexts(level + 1))
            time += 10
        }
        for level in (1..<levels).reversed() {
            thread.piece("F", .continuation, time...time + 10, contexts(level + 1))
            time += 10
        }
        let lines = try trees([thread])
        try #require(lines.count == 2 * Int(levels) + 1)
        for level in 0..<Int(levels) {
            #expect(lines[2 * level + 1].hasPrefix("\(level) F \(level * 10)+"))
            #expect(lines[2 * level + 2] == "\(level + 1) G \(level * 10 + 5)+3/3")
        }
        #expect(lines[1] == "0 F 0+\(time)/17")
    }

    /// A piece of many calls is told in parts.
    @Test func longPieces() throws {
        var thread = Records()
        let calls: UInt64 = 200_000
        thread.begin("F", .start, at: 0, [1])
        for call in 0..<calls {
            thread.enter("w", at: call * 10 + 1)
            thread.exit(at: call * 10 + 5)
        }
        thread.exit(at: calls * 10)
        let lines = try trees([thread], budget: 100)
        try #require(lines.count == Int(calls) + 2)
        #expect(lines[1] == "0 F 0+\(calls * 10)/\(calls * 6)")
        #expect(lines.last == "1 w \(calls * 10 - 9)+4/4")
    }

    /// Between the calls that are known there are some of functions that are not instrumented, more than a piece tells of.
    @Test func gapsInTheChain() throws {
        var thread = Records()
        thread.piece("F", .start, 0...10, [1])
        thread.piece("G", .start, 20...30, [7, 6, 5, 4, 3, 2, 1])
        thread.piece("H", .start, 40...50, [8, 7, 6, 5, 4, 3, 2, 1])
        thread.piece("I", .start, 60...70, [9, 5, 4, 3, 2, 1])
        thread.piece("F", .continuation, 80...90, [2, 1])
        #expect(
            try trees([thread]) == [
                "task 7", "0 F 0+90/50", "1 G 20+30/20", "2 H 40+10/10", "1 I 60+10/10",
            ])
    }

    /// What shows that a task was suspended, and what only looks like it.
    @Test func suspensions() throws {
        var thread = Records()
        thread.piece("F", .start, 0...10, [1])
        // Called long after by the clock: the thread was busy elsewhere.
        thread.piece("G", .start, 1_000_000...1_000_010, [2, 1])
        thread.piece("F", .continuation, 2_000_000...2_000_010, [2, 1])
        // Hops to another executor without and with waiting.
        thread.piece("F", .resumption, 2_500_000...2_500_010, resume: 1, [1])
        thread.piece("F", .resumption, 3_000_000...3_000_010, isResumed: true, resume: 2, [1])
        // Back from a function that is not instrumented: not suspended, suspended as its state tells, and as its time does.
        thread.piece("F", .continuation, 3_050_000...3_050_010, resume: 2, [2, 1])
        thread.piece("F", .continuation, 3_060_000...3_060_010, resume: 3, [2, 1])
        thread.piece("F", .continuation, 3_500_000...3_500_010, resume: 3, [2, 1])
        // Another task ran.
        thread.piece("H", .start, 3_500_020...3_500_030, task: 8, [9])
        thread.piece("F", .continuation, 3_500_040...3_500_050, resume: 3, [2, 1])
        #expect(
            try trees([thread]) == [
                "task 7", "0 F 0+3500050/2550040", "1 G 1000000+10/10", "1 (suspended) 2500010+499990/499990",
                "1 (suspended) 3050010+9990/9990", "1 (suspended) 3060010+439990/439990",
                "1 (suspended) 3500010+30/30",
                "task 8", "0 H 3500020+10/10",
            ])
    }

    /// A task lasts from its first piece to its last one, and not as long as the process.
    @Test func spans() throws {
        var thread = Records()
        thread.piece("F", .start, 500...510, [1])
        thread.piece("F", .continuation, 2_000_000...2_000_010, isResumed: true, resume: 2, [2, 1])
        _ = try trees([thread], end: 9_000_000)
        let session = try Session(path: directory.file("x.fathom"))
        let joined = TaskJoin(of: session, resolver: Self.resolver()).threads(of: session.processes[0])
        #expect(joined.filter { $0.task == 7 }.map { $0.span(session.clock) } == [500..<2_000_010])
    }

    /// A closure that a function which is not instrumented calls for the task.
    @Test func callsThatCannotSuspend() throws {
        var thread = Records()
        thread.piece("F", .start, 0...10, [1])
        thread.begin("c", .start, at: 20, resume: 5, [])
        thread.enter("w", at: 25)
        thread.exit(at: 30)
        thread.exit(at: 40)
        thread.piece("F", .continuation, 2050...2060, isResumed: true, resume: 5, [2, 1])
        #expect(
            try trees([thread]) == [
                "task 7", "0 F 0+2060/30", "1 c 20+20/15", "2 w 25+5/5", "1 (suspended) 40+2010/2010",
            ])
    }

    /// A thunk with the beginning of a function in it, and what the function goes on with.
    @Test func thunksThatBeginFunctions() throws {
        var thread = Records()
        thread.piece("T", .start, 0...10, [1])
        thread.piece("G", .resumption, 2000...2010, isResumed: true, [2, 1])
        thread.piece("H", .start, 2020...2030, [3, 2, 1])
        thread.piece("G", .continuation, 2040...2050, [3, 2, 1])
        thread.piece("T", .continuation, 2060...2070, [2, 1])
        // Not of the thunk: it is called by something else.
        thread.piece("G", .continuation, 2080...2090, [7, 6, 5, 1])
        thread.piece("T", .continuation, 2100...2110, [5, 1])
        #expect(
            try trees([thread]) == [
                "task 7", "0 T 0+2110/100", "1 (suspended) 10+1990/1990", "1 H 2020+10/10", "1 G 2080+10/10",
            ])
    }

    /// A function that the library calls while the task runs.
    @Test func handlers() throws {
        var thread = Records()
        thread.begin("F", .start, at: 0, [1])
        thread.enter("w", at: 10)
        thread.piece("c", .start, 20...30, [])
        thread.exit(at: 40)
        thread.exit(at: 50)
        #expect(try trees([thread]) == ["task 7", "0 F 0+50/20", "1 w 10+30/20", "2 c 20+10/10"])
    }

    @Test func theThreadKeepsTheRest() throws {
        var main = Records()
        main.enter("m", at: 0)
        main.piece("F", .start, 10...20, [1])
        main.enter("w", at: 30)
        main.piece("G", .start, 40...50, task: 8, [1])
        main.exit(at: 60)
        main.exit(at: 70)
        var other = Records()
        other.enter("x", at: 5)
        other.exit(at: 6)
        #expect(
            try trees([main, other]) == [
                "thread 0", "0 m 0+70/30", "1 (running tasks) 10+10/10", "1 w 30+30/20", "2 (running tasks) 40+10/10",
                "thread 1", "0 x 5+1/1", "task 7", "0 F 10+10/10", "task 8", "0 G 40+10/10",
            ])
    }

    /// Whoever waits when the recording ends has waited until then.
    @Test func whatNeverReturned() throws {
        var waiting = Records()
        waiting.piece("F", .start, 0...10, [1])
        waiting.piece("G", .start, 10...20, [2, 1])
        var running = Records()
        running.piece("F", .start, 30...40, task: 8, [1])
        running.begin("F", .continuation, at: 40, task: 8, [2, 1])
        running.enter("w", at: 50)
        #expect(
            try trees([waiting, running], end: 100) == [
                "task 7", "0 F 0+100/10 open", "1 G 10+90/10 open", "2 (suspended) 20+80/80 open",
                "task 8", "0 F 30+20/20 open", "1 w 50+0/0 open",
            ])
    }

    /// What is open when recording is stopped has not gone on, as far as is known.
    @Test func stopsAndStarts() throws {
        var main = Records()
        main.enter("m", at: 0)
        main.piece("F", .start, 10...20, [1])
        main.begin("F", .resumption, at: 50, [1])
        main.enter("w", at: 60)
        main.pause(100...200, open: "mFw")
        main.exit(at: 210)
        main.exit(at: 220)
        main.piece("F", .resumption, 230...240, [1])
        main.exit(at: 300)
        #expect(
            try trees([main]) == [
                "thread 0", "0 m 0+100/40 open", "1 (running tasks) 10+10/10", "1 (running tasks) 50+50/50 open",
                "0 m 200+100/70 inherited", "1 F 200+20/10 inherited", "2 w 200+10/10 inherited",
                "1 (running tasks) 230+10/10",
                "task 7", "0 F 10+90/50 open", "1 w 60+40/40 open", "0 F 230+10/10",
            ])
    }

    /// A task that waited meanwhile.
    @Test func stopsWhileATaskWaits() throws {
        var main = Records()
        main.piece("F", .start, 0...10, task: 8, [1])
        main.piece("G", .start, 10...20, task: 8, [2, 1])
        main.enter("m", at: 30)
        main.pause(100...200, open: "m")
        main.exit(at: 210)
        var other = Records()
        other.piece("G", .resumption, 5000...5010, task: 8, isResumed: true, [2, 1])
        other.piece("F", .continuation, 5010...5020, task: 8, [2, 1])
        #expect(
            try trees([main, other]) == [
                "thread 0", "0 m 30+70/70 open", "0 m 200+10/10 inherited",
                "task 8", "0 F 0+20/10 open", "1 G 10+10/10 open", "0 G 5000+10/10", "0 F 5010+10/10",
            ])
    }

    @Test func marksAndCounters() throws {
        var main = Records()
        main.enter("m", at: 0)
        main.writer.mark(1, at: 5)
        main.begin("F", .start, at: 10, [1])
        main.writer.mark(1, at: 15)
        main.exit(at: 20)
        main.exit(at: 30)
        #expect(
            try trees([main]) == [
                "thread 0", "0 m 0+30/20", "1 -- here 5", "1 (running tasks) 10+10/10",
                "task 7", "0 F 10+10/10", "1 -- here 15",
            ])
    }

    /// The beginning of what goes on was not recorded.
    @Test func beginningsThatAreMissing() throws {
        var thread = Records()
        thread.piece("G", .resumption, 10...20, isResumed: true, [2, 1])
        thread.piece("F", .continuation, 30...40, [2, 1])
        thread.piece("F", .continuation, 50...60, [2, 1])
        #expect(try trees([thread]) == ["task 7", "0 G 10+10/10", "0 F 30+30/30"])
    }

    /// Calls, returns and suspensions in any order on any threads.
    @Test(arguments: 1...40) func randomTasks(_ seed: Int) throws {
        let tasks = RandomTasks(seed: UInt64(seed), tasks: 12)
        #expect(try trees(tasks.threads) == tasks.trees)
    }

    /// Pieces that do not fit together are somebody's all the same.
    @Test(arguments: 1...40) func anyPieces(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var time: UInt64 = 0
        let threads = (0..<2).map { _ in
            var thread = Records()
            var depth = 0
            for _ in 0..<200 {
                time += UInt64.random(in: 0...3000, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0..<3:
                    thread.begin(
                        "FGw".randomElement(using: &random)!,
                        [.start, .resumption, .continuation].randomElement(using: &random)!,
                        at: time, task: UInt32.random(in: 1...3, using: &random),
                        isResumed: Bool.random(using: &random),
                        resume: UInt16.random(in: 0...2, using: &random),
                        (0..<Int.random(in: 0...6, using: &random)).map { _ in UInt64.random(in: 1...4, using: &random)
                        })
                    depth += 1
                case 3:
                    thread.enter("w", at: time)
                    depth += 1
                default:
                    if depth == 0 { break }
                    depth -= 1
                    thread.exit(at: time)
                }
            }
            return thread
        }
        _ = try trees(threads, end: time)
    }

    /// More than one chunk, in both passes over it.
    @Test func manyPieces() throws {
        var thread = Records()
        thread.piece("F", .start, 0...10, [1])
        let count: UInt64 = 40_000
        for index in 1...count {
            let time = index * 100_000
            thread.begin("F", .resumption, at: time, isResumed: true, [1])
            thread.enter("w", at: time + 10)
            thread.exit(at: time + 30)
            thread.exit(at: time + 50)
        }
        let lines = try trees([thread], budget: 100)
        try #require(lines.count == Int(count) * 2 + 2)
        #expect(lines[1] == "0 F 0+\(count * 100_000 + 50)/\(10 + count * 30)")
        #expect(lines[2...3] == ["1 (suspended) 10+99990/99990", "1 w 100010+20/20"])
        #expect(lines.last == "1 w \(count * 100_000 + 10)+20/20")
    }
}
