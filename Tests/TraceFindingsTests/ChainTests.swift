internal import Glibc
import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFile
@testable import TraceFindings

/// Critical paths of random programs, which know their own.
@Suite struct ChainTests {
    /// `FATHOM_SEEDS` says how many there are.
    private static let seeds = 0..<(getenv("FATHOM_SEEDS").flatMap { Int(String(cString: $0)) } ?? 100)

    @Test(arguments: seeds) func criticalPath(_ seed: Int) throws {
        let graph = TaskGraph(seed: UInt64(seed) + 1)
        let directory = try TemporaryDirectory("chain")
        try graph.write(to: directory.file("x.fathom"))
        let session = try Session(path: directory.file("x.fathom"))
        let resolver = FunctionResolver(
            FunctionTable(resolve: { _, address in
                ResolvedFunction(name: "\(address)", module: nil, file: nil, line: 0, isKnown: true)
            }))
        // Threads are in the order of their processes here, and in that of their making there.
        let all = session.processes.flatMap(\.threads).sorted { $0.tid < $1.tid }
        let waits = Waits(of: all, session: session, resolver: resolver, isAsked: { _ in true })
        let chain = Chain(
            waits, thread: 0, from: 0, to: graph.threads[0].time, firsts: graph.threads.map(\.first))
        let found = chain.links.reversed().map { link in
            let isRun = if case .ran = link.kind { true } else { false }
            return TaskGraph.Part(thread: link.thread, begin: link.begin, end: link.end, before: nil, isRun: isRun)
        }
        #expect(found == graph.criticalPath)
        // By function, it adds up to the whole.
        let times = ChainTimes(of: chain, waits, session: session, resolver: resolver, isAsked: { _ in false })
        let whole = chain.end - chain.begin
        #expect(times.shares.reduce(0) { $0 + $1.own } == whole)
        #expect(times.shares.allSatisfy { $0.own <= $0.total && $0.total <= whole })
        // Told in fewer rows, it is the same time.
        let rows = ChainRows(chain, times, waits).rows
        #expect(rows.count <= chain.links.count && rows.first?.begin == chain.begin && rows.last?.end == chain.end)
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.end == $1.begin })
        #expect(rows.allSatisfy { row in row.sums.values.reduce(0) { $0 + $1.time } == row.end - row.begin })
        // A stretch that ends within a wait is spent on what was to end it.
        for wait in waits.waits where wait.thread == 0 {
            guard let wake = wait.wake.map({ waits.wakes[$0] }), wake.moment > wait.begin + 1 else { continue }
            let part = Chain(
                waits, thread: 0, from: 0, to: (wait.begin + wake.moment) / 2, firsts: graph.threads.map(\.first))
            #expect(part.links.last?.thread != 0)
            #expect(zip(part.links, part.links.dropFirst()).allSatisfy { $0.end == $1.begin })
        }
    }
}
