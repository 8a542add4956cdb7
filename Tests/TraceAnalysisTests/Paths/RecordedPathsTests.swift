import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

/// Call paths that were added up while they were recorded give what the calls themselves give.
@Suite struct RecordedPathsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("recorded-paths") }

    private func tree(_ session: Session) -> CallPathTree {
        let functions = FunctionTable { _, address in
            ResolvedFunction(name: "f\(address)", module: nil, file: nil, line: 0)
        }
        let resolver = FunctionResolver(functions)
        return Aggregation(of: session, resolver: resolver, filter: TreeFilter())
            .tree(of: session.processes.flatMap(\.threads))
    }

    private func session(paths: PathWriter, end: UInt64 = 0, isLast: Bool = true, keepsTimes: Bool = true) throws
        -> Session
    {
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        (options.isPaths, options.end, options.isLast) = (true, end, isLast)
        writer.add(options, records: paths.bytes(keepsTimes: keepsTimes))
        let path = directory.file("paths.fathom")
        try writer.write(to: path)
        return try Session(path: path)
    }

    /// One line a path, without what a profile does not know to the ns.
    private func lines(_ tree: CallPathTree) -> [String] {
        tree.paths.map {
            let sums = $0.sums
            return
                "\($0.depth) \(tree.functions[$0.function].name) x\(sums.calls) \(sums.total)/\(sums.selfTime) "
                + "\(sums.minimum)...\(sums.maximum) +\(sums.dropped.calls) \(sums.inheritedCalls):\(sums.inherited)"
        }
    }

    /// Random calls, of which some are open at the end, written in both ways.
    @Test(arguments: 1...40)
    func sameAsCalls(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var records = RecordWriter(time: 0)
        var paths = PathWriter()
        var time: UInt64 = 0
        let functions = UInt64.random(in: 2...40, using: &random), deepest = Int.random(in: 1...30, using: &random)
        for _ in 0..<Int.random(in: 1...3000, using: &random) {
            time += UInt64.random(in: 0...9, using: &random) == 0 ? .random(in: 0...5_000_000, using: &random) : 13
            if paths.depth == 0 || paths.depth < deepest && Bool.random(using: &random) {
                let function = UInt64.random(in: 1...functions, using: &random)
                records.enter(function, at: time)
                paths.enter(function, at: time)
            } else {
                records.exit(at: time)
                paths.exit(at: time)
            }
        }
        let end = time + 50
        let calls = directory.file("calls.fathom")
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        (options.calls, options.end, options.isLast) = (records.calls, end, true)
        writer.add(options, records: records.bytes)
        try writer.write(to: calls)
        let expected = tree(try Session(path: calls)), found = tree(try session(paths: paths, end: end))
        #expect(lines(found) == lines(expected))
        // Durations are known within an eighth.
        var (reader, other) = (PercentileReader(), PercentileReader())
        for (path, same) in zip(found.paths, expected.paths) {
            reader.add(found.histograms, path.histogram, of: path.sums)
            other.add(expected.histograms, same.histogram, of: same.sums)
            let range = path.sums.minimum...path.sums.maximum
            let (p, q) = (reader.take(within: range), other.take(within: range))
            for (value, exact) in [(p.p50, q.p50), (p.p90, q.p90), (p.p99, q.p99)] {
                #expect(abs(Double(value) - Double(exact)) <= Double(exact) * 0.15 + 2, "\(value) for \(exact)")
            }
        }
    }

    @Test func foldedAndInherited() throws {
        var paths = PathWriter()
        paths.enter(1, at: 100, isInherited: true)
        paths.enter(2, at: 120)
        paths.fold(9)
        paths.exit(at: 150)
        #expect(
            lines(tree(try session(paths: paths, end: 200))) == [
                "0 f1 x0 100/70 18446744073709551615...0 +0 1:100", "1 f2 x1 30/30 30...30 +9 0:0",
            ])
    }

    /// A callee was read later than its caller, while both went on: the sums fit all the same.
    @Test func noCalleeTakesLonger() throws {
        var paths = PathWriter()
        paths.enter(1, at: 0)
        paths.enter(2, at: 10)
        paths.exit(at: 20)
        paths.exit(at: 30)
        paths.spoil(1, total: 500)
        #expect(
            lines(tree(try session(paths: paths, end: 40))) == [
                "0 f1 x1 500/0 30...30 +0 0:0", "1 f2 x1 500/500 10...10 +0 0:0",
            ])
    }

    @Test func callersThatCannotBe() throws {
        var paths = PathWriter()
        paths.enter(1, at: 0)
        paths.enter(2, at: 10)
        paths.enter(3, at: 11)
        for caller: UInt32 in [1, 2, 77, 1 << 31] {
            paths.spoil(1, caller: caller)
            #expect(lines(tree(try session(paths: paths, end: 40))) == ["0 f1 x1 40/40 40...40 +0 0:0"])
        }
    }

    @Test func counts() throws {
        var paths = PathWriter()
        for _ in 0..<4 {
            paths.enter(1, at: 0)
            paths.exit(at: 0)
        }
        let session = try session(paths: paths, keepsTimes: false)
        #expect(session.content == .counts)
        #expect(session.processes[0].threads[0].countCalls() == 4)
        #expect(lines(tree(session)) == ["0 f1 x4 0/0 0...0 +0 0:0"])
    }
}
