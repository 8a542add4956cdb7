import CTraceFormat
import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFile

/// Critical paths of random programs, which know their own.
@Suite struct ChainTests {
    /// A part of a thread's time, and the part that it had to wait for, on whichever thread.
    private struct Part {
        var thread: Int
        var begin: UInt64
        var end: UInt64
        var before: Int?
        var isRun: Bool
    }

    private static let mainFunction: UInt64 = 0x1000, waitFunction: UInt64 = 0x2000

    /// Threads that run, post and wait for each other. Fills a writer of records for each, and tells the parts.
    private func simulate(
        _ random: inout SeededGenerator, threads: Int
    ) -> (records: [RecordWriter], parts: [Part], last: Int) {
        var records = (0..<threads).map { _ in RecordWriter(time: 0) }
        var times = [UInt64](repeating: 0, count: threads)
        var parts: [Part] = []
        var lasts = [Int?](repeating: nil, count: threads)
        for thread in 0..<threads { records[thread].enter(Self.mainFunction, at: 0) }
        func run(_ thread: Int) {
            let end = times[thread] + .random(in: 1...500, using: &random)
            parts.append(
                Part(thread: thread, begin: times[thread], end: end, before: lasts[thread], isRun: true))
            (times[thread], lasts[thread]) = (end, parts.count - 1)
        }
        func wait(_ thread: Int, for other: Int, object: UInt64) {
            let posted = times[other], begin = times[thread]
            records[other].wake(FATHOM_WAIT_SEMAPHORE, for: object, at: posted)
            guard posted > begin else { return }
            let end = posted + .random(in: 1...20, using: &random)
            records[thread].enter(Self.waitFunction, at: begin)
            records[thread].wait(FATHOM_WAIT_SEMAPHORE, for: object, ran: 0)
            records[thread].exit(at: end)
            parts.append(Part(thread: thread, begin: posted, end: end, before: lasts[other], isRun: false))
            (times[thread], lasts[thread]) = (end, parts.count - 1)
        }
        for thread in 0..<threads { run(thread) }
        for step in 0..<40 {
            let one = Int.random(in: 0..<threads, using: &random)
            run(one)
            let other = Int.random(in: 0..<threads, using: &random)
            if one != other {
                wait(one, for: other, object: UInt64(0x9000 + 16 * step))
                run(one)
                run(other)
            }
        }
        for other in 1..<threads { wait(0, for: other, object: UInt64(0x100 * other)) }
        run(0)
        for thread in 0..<threads { records[thread].exit(at: times[thread]) }
        return (records, parts, lasts[0]!)
    }

    @Test(arguments: 0..<100) func criticalPath(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        let threads = Int.random(in: 2...5, using: &random)
        let (records, parts, last) = simulate(&random, threads: threads)
        let writer = TraceWriter()
        for thread in 0..<threads {
            var options = TraceWriter.ChunkOptions()
            options.thread = UInt32(thread + 1)
            options.tid = UInt32(1000 + thread)
            writer.add(options, records: records[thread].bytes)
        }
        let directory = try TemporaryDirectory("chain")
        try writer.write(to: directory.file("x.fathom"))
        let session = try Session(path: directory.file("x.fathom"))
        let resolver = FunctionResolver(
            FunctionTable(resolve: { _, address in
                ResolvedFunction(name: "\(address)", module: nil, file: nil, line: 0, isKnown: true)
            }))
        let all = session.processes[0].threads
        let waits = Waits(of: all, session: session, resolver: resolver, isAsked: { _ in true })
        let chain = Chain(
            waits, thread: 0, from: 0, to: parts[last].end, firsts: [UInt64](repeating: 0, count: threads))
        // What the program knows, from the end back; neighbours that one thread ran are one.
        var expected: [(thread: Int, begin: UInt64, end: UInt64, isRun: Bool)] = []
        var next: Int? = last
        while let index = next {
            let part = parts[index]
            if let later = expected.last, later.isRun, part.isRun, later.thread == part.thread {
                expected[expected.count - 1].begin = part.begin
            } else {
                expected.append((part.thread, part.begin, part.end, part.isRun))
            }
            next = part.before
        }
        let found = chain.links.reversed().map { link in
            if case .ran = link.kind {
                (link.thread, link.begin, link.end, true)
            } else {
                (link.thread, link.begin, link.end, false)
            }
        }
        #expect(found.count == expected.count)
        for (one, other) in zip(found, expected) { #expect(one == other) }
        // By function, it adds up to the whole.
        let times = ChainTimes(of: chain, waits, session: session, resolver: resolver, isAsked: { _ in false })
        #expect(times.shares.reduce(0) { $0 + $1.time } == chain.end - chain.begin)
    }
}
