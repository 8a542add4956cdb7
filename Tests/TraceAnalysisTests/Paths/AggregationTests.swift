import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct AggregationTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("aggregation") }

    private func aggregate(
        _ filter: TreeFilter = TreeFilter(), workers: Int = 0, partSize: Int = 4 << 20
    ) throws -> CallPathTree {
        try aggregate(try Session(path: path), filter, workers: workers, partSize: partSize)
    }

    private func aggregate(
        _ session: Session, _ filter: TreeFilter, workers: Int, partSize: Int
    ) throws -> CallPathTree {
        let functions = FunctionTable { _, address in
            var function = ResolvedFunction(
                name: String(UnicodeScalar(UInt8(truncatingIfNeeded: address))), module: nil, file: nil, line: 0)
            function.isCompilerMade = function.name == "b"
            return function
        }
        let resolver = FunctionResolver(functions)
        return Aggregation(of: session, resolver: resolver, filter: filter, workers: workers, partSize: partSize)
            .tree(of: session.processes.flatMap(\.threads))
    }

    /// One line a path: depth, name, calls, total/self.
    private func lines(_ tree: CallPathTree) -> [String] {
        tree.paths.map {
            "\($0.depth) \(tree.functions[$0.function].name) x\($0.sums.calls) \($0.sums.total)/\($0.sums.selfTime)"
        }
    }

    /// Writes threads of one chunk each: letters enter a call, `.` leaves one; each takes 10 ns.
    private func write(_ threads: String...) throws {
        let writer = TraceWriter()
        for (number, calls) in threads.enumerated() {
            var records = RecordWriter(time: 0)
            for (index, letter) in calls.utf8.enumerated() {
                let time = UInt64(index) * 10
                if letter == UInt8(ascii: ".") {
                    records.exit(at: time)
                } else {
                    records.enter(UInt64(letter), at: time)
                }
            }
            var options = TraceWriter.ChunkOptions()
            options.thread = UInt32(number + 1)
            options.tid = 1000 + UInt32(number)
            writer.add(options, records: records.bytes)
        }
        try writer.write(to: path)
    }

    private func filter(_ change: (inout TreeFilter) throws -> Void) rethrows -> TreeFilter {
        var filter = TreeFilter()
        try change(&filter)
        return filter
    }

    @Test func pathsOfThreadsAddUp() throws {
        try write("abc.c..b..", "ab..d.")
        #expect(
            try lines(aggregate()) == ["0 a x2 120/50", "1 b x3 70/50", "2 c x2 20/20", "0 d x1 10/10"])
    }

    @Test func filters() throws {
        try write("abc.d..bc..e..")
        #expect(
            try lines(aggregate()) == ["0 a x1 130/40", "1 b x2 80/50", "2 c x2 20/20", "2 d x1 10/10", "1 e x1 10/10"])
        #expect(
            try lines(aggregate(filter { $0.only = [try Pattern("b")] })) == [
                "0 b x2 80/50", "1 c x2 20/20", "1 d x1 10/10",
            ])
        #expect(try lines(aggregate(filter { $0.without = [try Pattern("b")] })) == ["0 a x1 130/40", "1 e x1 10/10"])
        #expect(
            try lines(aggregate(filter { $0.leadingTo = [try Pattern("d")] })) == [
                "0 a x1 130/40", "1 b x2 80/50", "2 d x1 10/10",
            ])
        #expect(
            try lines(aggregate(filter { $0.hidden = [try Pattern("b")] })) == [
                "0 a x1 130/90", "1 c x2 20/20", "1 d x1 10/10", "1 e x1 10/10",
            ])
        #expect(
            try lines(aggregate(filter { $0.hidesCompilerMade = true })) == [
                "0 a x1 130/90", "1 c x2 20/20", "1 d x1 10/10", "1 e x1 10/10",
            ])
        #expect(try lines(aggregate(filter { $0.maxDepth = 0 })) == ["0 a x1 130/40"])
        #expect(
            try lines(aggregate(filter { ($0.from, $0.to) = (75, 95) })) == [
                "0 a x1 130/40", "1 b x1 30/20", "2 c x1 10/10",
            ])
        #expect(try lines(aggregate(filter { $0.only = [try Pattern("x")] })) == [])
    }

    @Test func callersOfAFunction() throws {
        try write("abc..dc..bbc....")
        let callers = try aggregate().inverted(at: [Pattern("c")])
        #expect(lines(callers) == ["0 c x3 30/30", "1 b x2 20/20", "2 a x2 20/20", "1 d x1 10/10", "2 a x1 10/10"])
        let recursive = try aggregate().inverted(at: [Pattern("b")])
        #expect(lines(recursive) == ["0 b x3 80/60", "1 a x3 80/60"])
    }

    @Test func whatARecordLeavesOutIsKeptApart() throws {
        let writer = TraceWriter()
        var records = RecordWriter(time: 0)
        records.enter(97, at: 0)
        records.dropped(5, ticks: 30)
        records.exit(at: 100)
        var options = TraceWriter.ChunkOptions()
        options.inherited = 1
        writer.add(options, path: [TraceWriter.PathCall(function: 98, enter: 0)], records: records.bytes)
        try writer.write(to: path)
        let tree = try aggregate()
        #expect(lines(tree) == ["0 b x0 100/0", "1 a x1 100/70"])
        #expect(tree.paths[1].sums.dropped == CallSum(calls: 5, time: 30))
        #expect(tree.paths[0].sums.inherited == 100)
    }

    /// Sums of a random trace are those of its calls taken one by one.
    @Test(arguments: 1...20)
    func sumsAreExact(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 3000)
        try trace.writer.write(to: path)
        let tree = try aggregate()

        var stack: [UInt64] = []
        var expected: [[UInt64]: (sums: CallPathSums, durations: [UInt64])] = [:]
        for call in trace.calls {
            stack.removeLast(stack.count - call.depth)
            let duration = call.end - call.start
            if !stack.isEmpty { expected[stack]!.sums.selfTime &-= duration }
            stack.append(call.function)
            var entry = expected[stack] ?? (CallPathSums(), [])
            entry.sums.calls += 1
            entry.sums.total += duration
            entry.sums.selfTime &+= duration
            entry.sums.minimum = min(entry.sums.minimum, duration)
            entry.sums.maximum = max(entry.sums.maximum, duration)
            entry.sums.firstStart = min(entry.sums.firstStart, call.start)
            entry.sums.lastEnd = max(entry.sums.lastEnd, call.end)
            entry.durations.append(duration)
            expected[stack] = entry
        }

        #expect(tree.paths.count == expected.count)
        var names: [UInt64] = []
        var reader = PercentileReader()
        for path in tree.paths {
            names.removeLast(names.count - Int(path.depth))
            names.append(tree.functions.functions[Int(path.function)].address)
            let (sums, durations) = try #require(expected[names])
            #expect(path.sums == sums)
            reader.add(tree.histograms, path.histogram, of: sums)
            let percentiles = reader.take(within: sums.minimum...sums.maximum)
            let sorted = durations.sorted()
            for (percent, value) in [(50, percentiles.p50), (90, percentiles.p90), (99, percentiles.p99)] {
                let exact = sorted[(sorted.count * percent + 99) / 100 - 1]
                #expect(value <= exact + exact / 50 && value + exact / 50 >= exact)
            }
        }
        #expect(tree.paths.reduce(0) { $0 + $1.sums.selfTime } == tree.total)
    }

    @Test func anyNumberOfWorkersComesToTheSame() throws {
        try write("ab..", "bac...", "abc...", "cb..a.", "", "bb..a")
        let one = try aggregate(workers: 1)
        for workers in 2...4 {
            try expectSame(aggregate(workers: workers), one)
        }
    }

    /// A thread that is replayed in parts, each of which begins in the middle of calls, gives what it gives in one piece.
    @Test(arguments: 1...12)
    func partsOfAThreadComeToTheSame(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 2000, chunkCalls: 40)
        try trace.writer.write(to: path)
        let third = trace.calls.last!.end / 3
        for filter in [TreeFilter(), filter { ($0.from, $0.to) = (third, 2 * third) }] {
            let whole = try aggregate(filter, workers: 1)
            #expect(!whole.paths.isEmpty)
            for workers in [2, 3, 8, 40] { try expectSame(aggregate(filter, workers: workers, partSize: 1), whole) }
        }
    }

    /// Nor does it matter when something is damaged: then the same damage is told of, too.
    @Test(arguments: 1...40)
    func damagedPartsComeToTheSame(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 2000, chunkCalls: 40)
        var random = SeededGenerator(seed: UInt64(seed) + 1000)
        try trace.writer.write(to: path)
        var log = trace.writer.log
        for _ in 0..<seed % 4 { log[Int.random(in: 80..<log.count, using: &random)] ^= 1 << (seed % 8) }
        try writeFile(log, to: path + "/trace")
        let (one, many) = (try Session(path: path), try Session(path: path))
        let whole = try aggregate(one, TreeFilter(), workers: 1, partSize: 1)
        try expectSame(aggregate(many, TreeFilter(), workers: 5, partSize: 1), whole)
        #expect(one.damage.entries.map(\.description).sorted() == many.damage.entries.map(\.description).sorted())
    }

    /// A short stretch of time is added up without a look at what is far from it, and with one at what is damaged in it.
    @Test(arguments: 1...12)
    func windowsAreSought(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 4000, chunkCalls: 20, maxDepth: 4)
        try trace.writer.write(to: path)
        let session = try Session(path: path)
        let chunks = session.processes[0].threads[0].chunks
        let begin = session.clock.nanoseconds(at: chunks[chunks.count / 2].beginTicks)
        let window = filter { ($0.from, $0.to) = (begin, begin + 1_000_000) }
        // So many workers that all is read.
        let whole = try aggregate(window, workers: 1000)
        #expect(!whole.paths.isEmpty)
        func damage(_ indices: [Int]) throws -> Session {
            var log = trace.writer.log
            for index in indices {
                log[Int(chunks[index].offset) + Chunk.headerSize + chunks[index].payload.count - 1] ^= 1
            }
            try writeFile(log, to: path + "/trace")
            return try Session(path: path)
        }
        let far = try damage([0, 1, 2, chunks.count - 2, chunks.count - 1])
        try expectSame(aggregate(far, window, workers: 1, partSize: 1), whole)
        #expect(far.damage.entries.isEmpty)

        let near = try damage([chunks.count / 2])
        let sought = try aggregate(near, window, workers: 1, partSize: 1)
        #expect(!near.damage.entries.isEmpty)
        try expectSame(sought, aggregate(window, workers: 1000))
    }

    /// Of clipped calls, only the time within the stretch counts, whether it is sought, read in parts or in one piece.
    @Test(arguments: 1...12)
    func clippedCalls(_ seed: Int) throws {
        let trace = RandomTrace(seed: UInt64(seed), count: 4000, chunkCalls: 20, maxDepth: 4)
        try trace.writer.write(to: path)
        let end = trace.calls.map(\.end).max()!
        for (from, to) in [(end / 3, end / 3 + 500_000), (end / 5, end / 2), (0, end / 7), (end - 1000, UInt64.max)] {
            let window = filter { ($0.from, $0.to, $0.clips) = (from, to, true) }
            let whole = try aggregate(window, workers: 1, partSize: .max)
            for (workers, partSize) in [(1, 1), (4, 1), (1000, 1 << 20)] {
                try expectSame(aggregate(window, workers: workers, partSize: partSize), whole)
            }
            func within(_ call: RandomTrace.Call) -> UInt64 {
                let (low, high) = (max(call.start, from), min(call.end, to))
                return high > low ? high - low : 0
            }
            let seen = trace.calls.filter { $0.start <= to && $0.end >= from }
            let byDepth = Dictionary(grouping: seen, by: \.depth).mapValues { $0.reduce(0) { $0 + within($1) } }
            for depth in byDepth.keys {
                let rows = whole.paths.filter { Int($0.depth) == depth }
                let total = rows.reduce(0) { $0 + $1.sums.total }, own = rows.reduce(0) { $0 + $1.sums.selfTime }
                #expect(total == byDepth[depth])
                #expect(own == byDepth[depth]! - (byDepth[depth + 1] ?? 0))
            }
            #expect(whole.paths.reduce(0) { $0 + $1.sums.calls } == UInt64(seen.count))
        }
    }

    /// Other stacks of the thread cannot be known in the middle of it.
    @Test func lanesAreReplayedInOnePiece() throws {
        let writer = TraceWriter()
        for number in UInt64(0)..<6 {
            var options = TraceWriter.ChunkOptions()
            (options.sequence, options.begin, options.end) = (number, number * 100, number * 100 + 100)
            var records = RecordWriter(time: options.begin)
            records.enter(97 + number, at: options.begin + 10)
            records.lane(1, depth: UInt32(number), at: options.begin + 20)
            records.enter(97, at: options.begin + 30)
            records.lane(0, depth: 1, at: options.begin + 40)
            records.exit(at: options.begin + 50)
            writer.add(options, records: records.bytes)
        }
        try writer.write(to: path)
        let session = try Session(path: path)
        let tree = try aggregate(session, TreeFilter(), workers: 3, partSize: 1)
        try expectSame(tree, aggregate(workers: 1))
        #expect(session.damage.entries.isEmpty)
        #expect(tree.paths.map(\.depth).max() == 5)
    }

    private func expectSame(
        _ tree: CallPathTree, _ expected: CallPathTree, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(lines(tree) == lines(expected), sourceLocation: sourceLocation)
        #expect(tree.paths.map(\.sums) == expected.paths.map(\.sums), sourceLocation: sourceLocation)
        let (rows, expectedRows) = (tree.rows(by: .path), expected.rows(by: .path))
        #expect(rows.map(\.percentiles) == expectedRows.map(\.percentiles), sourceLocation: sourceLocation)
    }

    @Test func everyDurationIsNearItsBucketsMiddle() {
        for shift in UInt64(0)..<64 {
            for step in UInt64(0)..<70 {
                let duration = (1 << shift) &+ step &* (1 << shift) / 64
                let bucket = Bucket.index(of: duration)
                let middle = Bucket.middle(of: bucket)
                #expect(bucket < Bucket.count)
                #expect(max(middle, duration) - min(middle, duration) <= duration / 64)
            }
        }
    }
}
