import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct StackReplayTests {
    private func expect(_ script: String) throws {
        #expect(try ReplayScript(text: script).run() == script)
    }

    @Test func nesting() throws {
        try expect(
            """
            chunk 0 @0
            enter a @10
            -> 10 a0 begins
            enter b @12
            -> 12 b1 begins
            exit @20
            -> 20 b1 complete
            dropped 3 5
            -> 20 a0 dropped 3 5
            exit @100000
            -> 100000 a0 complete
            exit @100001
            -> damage exitWithoutCall
            end
            """)
    }

    @Test func contiguousChunksCarryTheStackOver() throws {
        try expect(
            """
            chunk 0 @0
            enter a @10
            -> 10 a0 begins
            chunk 1 @50 path=a:10
            enter b @60
            -> 60 b1 begins
            end
            -> 60 b1 open
            -> 60 a0 open
            """)
    }

    @Test func timeStandsStillWhileTheTracerSwitchesChunks() throws {
        try expect(
            """
            chunk 0 @0 end=100
            enter a @10
            -> 10 a0 begins
            enter b @40
            -> 40 b1 begins
            chunk 1 @150 switch=50 path=a:10,b:40 end=200
            exit @150
            -> 100 b1 complete
            enter c @160
            -> 110 c1 begins
            chunk 2 @230 switch=30 path=a:10,c:160 end=300
            exit @240
            -> 160 c1 complete
            exit @260
            -> 180 a0 complete
            end
            """)
    }

    /// What lies between two chunks is the program's time as well when calls were lost there, or when a header says
    /// something else than the moments do.
    @Test(arguments: ["lost=1 switch=50", "switch=60"])
    func aSwitchThatIsNotExactIsTheProgramsTime(_ header: String) throws {
        let outcome = try ReplayScript(
            text: """
                chunk 0 @0 end=100
                enter a @10
                chunk 1 @150 path=a:10 \(header)
                exit @160
                end
                """
        ).run()
        #expect(outcome.contains("-> 160 a0 complete"))
    }

    /// A thread that waited for a processor in the midst of a switch waited on the program's time.
    @Test func waitingInASwitchIsTheProgramsTime() throws {
        try expect(
            """
            chunk 0 @0 end=100
            enter a @10
            -> 10 a0 begins
            enter b @40
            -> 40 b1 begins
            chunk 1 @150 switch=20 path=a:10,b:40 end=200
            exit @160
            -> 140 b1 complete
            exit @190
            -> 170 a0 complete
            end
            """)
    }

    /// A path tells of calls by the session's clock; they begin in the thread's own time.
    @Test func callsAfterAGapBeginInTheThreadsOwnTime() throws {
        try expect(
            """
            chunk 0 @0 end=100
            enter a @10
            -> 10 a0 begins
            chunk 1 @150 switch=50 path=a:10 end=200
            chunk 3 @500 path=a:10,b:180,c:400
            -> 450 gap
            -> 130 b1 begins
            -> 350 c2 begins
            exit @510
            -> 460 c2 complete
            end
            -> 460 b1 open
            -> 460 a0 open
            """)
    }

    @Test func afterAGapTheOpenPathIsTheTruth() throws {
        try expect(
            """
            chunk 0 @0
            enter a @10
            -> 10 a0 begins
            enter b @20
            -> 20 b1 begins
            chunk 2 @500 path=a:10,c:300,d:400
            -> 500 gap
            -> 20 b1 unwound
            -> 300 c1 begins
            -> 400 d2 begins
            exit @510
            -> 510 d2 complete
            end
            -> 510 c1 open
            -> 510 a0 open
            """)
    }

    /// The same function, called again in the gap: another call.
    @Test func lostCallsAreAGapToo() throws {
        try expect(
            """
            chunk 0 @0
            enter a @10
            -> 10 a0 begins
            chunk 1 @500 path=a:200 lost=4
            -> 500 gap
            -> 10 a0 unwound
            -> 200 a0 begins
            end
            -> 500 a0 open
            """)
    }

    @Test func callsThePathDoesNotListAreTakenFromTheStack() throws {
        try expect(
            """
            chunk 0 @0
            enter a @1
            -> 1 a0 begins
            enter b @2
            -> 2 b1 begins
            enter c @3
            -> 3 c2 begins
            chunk 2 @50 path=c:3,d:40 depth=4
            -> 50 gap
            -> 40 d3 begins
            exit @60
            -> 60 d3 complete
            end
            -> 60 c2 open
            -> 60 b1 open
            -> 60 a0 open
            """)
    }

    @Test func whatNobodyKnowsIsShownAsUnknown() throws {
        try expect(
            """
            chunk 3 @50 path=b:40 depth=2
            -> 50 gap
            -> 50 ?0 begins
            -> 50 b1 begins
            exit @60
            -> 60 b1 complete
            end
            -> 60 ?0 open
            """)
    }

    @Test func aForksChildInheritsItsCallers() throws {
        try expect(
            """
            chunk 0 @100 path=a:90,b:90 inherited=2
            -> 90 a0 begins inherited
            -> 90 b1 begins inherited
            enter c @110
            -> 110 c2 begins
            unwind 3 @120
            -> 120 c2 unwound
            -> 120 b1 unwound
            -> 120 a0 unwound
            unwind 1 @120
            -> damage unwindTooDeep
            end
            """)
    }

    @Test func lanesKeepTheirStacks() throws {
        try expect(
            """
            chunk 0 @0
            enter a @1
            -> 1 a0 begins
            lane 1 depth 0 @2
            enter b @3
            -> 3 b0/1 begins
            lane 0 depth 1 @4
            exit @5
            -> 5 a0 complete
            chunk 1 @6
            lane 1 depth 1 @7
            exit @8
            -> 8 b0/1 complete
            lane 2 depth 1 @9
            -> 9 ?0/2 begins
            -> damage depthMismatch(expected: 0, found: 1)
            """)
    }

    /// Encode, decode, compare; and every cut of the log gives a prefix of the calls.
    @Test(arguments: 1...20)
    func randomTraces(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 400)
        let directory = try TemporaryDirectory("random")
        try trace.writer.write(to: directory.file("x.fathom"))
        #expect(try CollectingSink.calls(directory.file("x.fathom")) == trace.calls)
    }

    @Test func everyCutGivesAPrefix() throws {
        let trace = RandomTrace(seed: 7, count: 120, chunkCalls: 25)
        let directory = try TemporaryDirectory("cut")
        let path = directory.file("x.fathom")
        try trace.writer.write(to: path)
        for length in TraceWriter.headerSize...trace.writer.log.count {
            try writeFile(Array(trace.writer.log[..<length]), to: path + "/trace")
            let calls = try CollectingSink.calls(path)
            let whole = trace.calls.prefix(calls.count)
            #expect(calls.map(\.function) == whole.map(\.function))
            #expect(calls.map(\.start) == whole.map(\.start))
            #expect(zip(calls, whole).allSatisfy { $0.end <= $1.end })
        }
    }

    /// Damage is found, or changes nothing, and never traps.
    @Test func flippedBytes() throws {
        let trace = RandomTrace(seed: 3, count: 50, chunkCalls: 20)
        let directory = try TemporaryDirectory("flip")
        let path = directory.file("x.fathom")
        try trace.writer.write(to: path)
        var random = SeededGenerator(seed: 99)
        for _ in 0..<10_000 {
            var log = trace.writer.log
            let index = Int.random(in: log.indices, using: &random)
            log[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try writeFile(log, to: path + "/trace")
            guard let session = try? Session(path: path) else { continue }
            var calls: [RandomTrace.Call] = []
            for process in session.processes {
                for thread in process.threads { calls += CollectingSink.calls(thread, session.clock) }
            }
            let isHeader = index < 88
            #expect(isHeader || !session.damage.entries.isEmpty || calls == trace.calls, "byte \(index)")
        }
    }

    /// Slots have no checksums: anything may stand in them.
    @Test func flippedBytesInBuffers() throws {
        let trace = RandomTrace(seed: 5, count: 60, chunkCalls: 100)
        let directory = try TemporaryDirectory("slots")
        let path = directory.file("x.fathom")
        var open = Array(trace.writer.log[88...])
        open[5] = 0
        let buffers = TraceWriter.buffers(slots: [open, open])
        var random = SeededGenerator(seed: 98)
        for _ in 0..<2000 {
            var damaged = buffers
            for _ in 0..<3 {
                let index = [0..<160, 4096..<4800].randomElement(using: &random)!.randomElement(using: &random)!
                damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            try TraceWriter().write(to: path, buffers: damaged)
            guard let session = try? Session(path: path) else { continue }
            for process in session.processes {
                for thread in process.threads { _ = CollectingSink.calls(thread, session.clock) }
            }
        }
    }
}

/// Collects calls in the order of their enters.
private struct CollectingSink: CallSink {
    struct Payload: BitwiseCopyable {
        var depth = -1
        var index = 0
    }

    var calls: [RandomTrace.Call] = []

    static func calls(_ path: String) throws -> [RandomTrace.Call] {
        let session = try Session(path: path)
        guard let thread = session.processes.first?.threads.first else { return [] }
        return calls(thread, session.clock)
    }

    static func calls(_ thread: TracedThread, _ clock: Clock) -> [RandomTrace.Call] {
        var sink = CollectingSink()
        StackReplay.run(thread, clock: clock, into: &sink)
        return sink.calls
    }

    func base(ofLane lane: UInt32) -> Payload { Payload() }

    mutating func enter(_ call: UnsafeMutablePointer<OpenCall<Payload>>) {
        call.pointee.payload = Payload(depth: (call - 1).pointee.payload.depth + 1, index: calls.count)
        calls.append(
            RandomTrace.Call(
                function: call.pointee.function, depth: call.pointee.payload.depth, start: call.pointee.start, end: 0))
    }

    mutating func exit(_ call: UnsafeMutablePointer<OpenCall<Payload>>, end: UInt64, state: CallState) {
        calls[call.pointee.payload.index].end = end
    }

    mutating func drop(_ call: UnsafeMutablePointer<OpenCall<Payload>>, calls: UInt32, time: UInt64, at: UInt64) {}
    mutating func run(lane: UInt32, at moment: UInt64) {}
    mutating func begin(chunk index: Int, at moment: UInt64, afterGap: Bool) {}
    func end(chunk index: Int, main: LaneStack<Payload>) -> Bool { true }
}
