internal import Glibc
import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFile

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
        #expect(times.shares.reduce(0) { $0 + $1.time } == chain.end - chain.begin)
    }
}
