import TestSupport
import Testing
import TraceFile

@testable import TraceAnalysis

@Suite struct SummariesTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("x.fathom") }

    init() throws { directory = try TemporaryDirectory("summaries") }

    /// A session whose functions are called by their addresses.
    private struct Opened {
        let session: Session
        let resolver: FunctionResolver
        var threads: [TracedThread] { session.processes.flatMap(\.threads) }

        init(_ path: String) throws {
            session = try Session(path: path)
            resolver = FunctionResolver(
                FunctionTable { _, address in
                    ResolvedFunction(name: String(address, radix: 16), module: nil, file: nil, line: 0)
                })
        }

        func summaries(in storage: any SummaryStorage = SummaryMemory(), workers: Int = 0) throws -> Summaries {
            try #require(
                Summaries(
                    of: threads, clock: session.clock, resolver: resolver, in: storage, workers: workers))
        }

        func withoutAny() -> Summaries { Summaries(withoutAny: threads, clock: session.clock, resolver: resolver) }

        func address(_ entry: Picture.Entry) -> UInt64 {
            UInt64(resolver.functions[entry.function].name, radix: 16) ?? 0
        }
    }

    /// What a picture must show of `calls`, of one row.
    private func check(
        _ entries: ArraySlice<Picture.Entry>, _ calls: [RandomTrace.Call], from: UInt64, to: UInt64, step: UInt64,
        _ opened: Opened, _ about: Comment
    ) {
        let seen = calls.filter { $0.end >= from && $0.start <= to }
        var last: UInt64 = 0
        for entry in entries {
            #expect(entry.begin <= entry.end && entry.busy <= entry.end - entry.begin, about)
            #expect(entry.begin >= last || last == 0, about)
            last = entry.end
        }
        // Long calls stand by themselves, where they are.
        for call in seen where min(call.end, to) >= call.start + 2 * step {
            let isShown = entries.contains { entry in
                entry.calls <= 1 && entry.begin <= call.start && call.start - entry.begin <= step / 4
                    && (call.end > to ? entry.end >= to : entry.end <= call.end && call.end - entry.end <= step / 4)
                    && opened.address(entry) == call.function
            }
            #expect(isShown, "\(about.rawValue): \(call)")
        }
        // What is shown is there, as long as it is.
        func within(_ begin: UInt64, _ end: UInt64) -> Double {
            let (low, high) = (max(begin, from), min(end, to))
            return high > low ? Double(high - low) : 0
        }
        let shown = entries.reduce(0.0) { sum, entry in
            let length = Double(max(entry.end - entry.begin, 1))
            return sum + within(entry.begin, entry.end) * Double(entry.busy) / length
        }
        let truth = seen.reduce(0.0) { $0 + within($1.start, $1.end) }
        #expect(
            abs(shown - truth) <= Double(to - from) * 0.01 + Double(step) * 4, "\(about.rawValue): \(shown) \(truth)")
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func picturesShowWhatHappened(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 60_000, chunkCalls: 40, maxDepth: seed % 2 == 0 ? 40 : 12)
        try trace.writer.write(to: path)
        let opened = try Opened(path)
        let summaries = try opened.summaries(workers: Int(seed % 3) + 1), chunks = opened.withoutAny()
        let rows = Dictionary(grouping: trace.calls, by: \.depth)
        let end = trace.calls.map(\.end).max()!
        var random = SeededGenerator(seed: seed)
        for round in 0..<60 {
            let width =
                round == 0
                ? end : UInt64.random(in: 1...(end >> UInt64.random(in: 0...18, using: &random)), using: &random)
            let from = UInt64.random(in: 0...(end - min(width, end)), using: &random)
            let step = max(1, width / .random(in: 20...2000, using: &random))
            for (which, source) in [("summaries", summaries), ("chunks", chunks)] {
                let picture = source.picture(ofThread: 0, from: from, to: from + width, step: step, rows: 0..<50)
                #expect(picture.rows.count == 51)
                if picture.isCoarse { continue }
                let exponent = UInt64(63 - step.leadingZeroBitCount)
                for row in 0..<50 {
                    check(
                        picture[row], rows[row] ?? [], from: from,
                        to: from + width, step: 1 << exponent, opened,
                        "\(which), seed \(seed), round \(round), row \(row), \(from)...\(from + width), step \(step)")
                }
            }
        }
    }

    @Test func everyCallCounts() throws {
        let trace = RandomTrace(seed: 7, count: 50_000, chunkCalls: 40)
        try trace.writer.write(to: path)
        let opened = try Opened(path)
        let picture = try opened.summaries().picture(
            ofThread: 0, from: 0, to: .max >> 1, step: 1 << 30, rows: 0..<12)
        #expect(!picture.isCoarse)
        for row in 0..<12 {
            let calls = picture[row].reduce(0) { $0 + Int($1.calls) }
            #expect(calls == trace.calls.count { $0.depth == row })
        }
    }

    @Test func areTheSameByAnyNumberOfWorkers() throws {
        let trace = RandomTrace(seed: 8, count: 200_000, chunkCalls: 40)
        try trace.writer.write(to: path)
        let opened = try Opened(path)
        let pictures = try [1, 3].map { workers in
            try opened.summaries(workers: workers)
                .picture(ofThread: 0, from: 0, to: .max >> 1, step: 1 << 20, rows: 0..<12).entries
                .map { [$0.begin, $0.end, $0.busy, opened.address($0), UInt64($0.calls)] }
        }
        #expect(pictures[0] == pictures[1])
    }

    /// Of a thread that goes on, what was summarized before is not read again, and is right.
    @Test(arguments: 11...14 as ClosedRange<UInt64>)
    func theyGrow(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 120_000, chunkCalls: 40, maxDepth: seed % 2 == 0 ? 40 : 12)
        try trace.writer.write(to: path)
        let opened = try Opened(path)
        let thread = opened.threads[0]
        func part(_ count: Int) -> TracedThread { thread.part(0..<count, damage: DamageLog()) }
        let storage = Counting()
        var summaries = try #require(
            Summaries(
                of: [part(700)], clock: opened.session.clock, resolver: opened.resolver, in: storage))
        var begun = storage.bytes
        for count in [701, 1500, 1501, thread.chunks.count] {
            summaries = try #require(
                Summaries(
                    of: [count == thread.chunks.count ? thread : part(count)], after: summaries,
                    clock: opened.session.clock, resolver: opened.resolver))
            // One chunk more takes a few of 47 leaves.
            if count == 1501 { #expect(storage.bytes - begun < begun / 4) }
            begun = storage.bytes
        }
        let whole = try opened.summaries()
        var random = SeededGenerator(seed: seed)
        let end = trace.calls.map(\.end).max()!
        for round in 0..<60 as Range<UInt64> {
            let width = max(1, end >> (round % 15))
            let from = UInt64.random(in: 0...(end - width), using: &random)
            let step = max(1, width / .random(in: 20...2000, using: &random))
            let pictures = [summaries, whole].map { made in
                made.picture(ofThread: 0, from: from, to: from + width, step: step, rows: 0..<50).entries
                    .map { [$0.begin, $0.end, $0.busy, opened.address($0), UInt64($0.calls)] }
            }
            #expect(pictures[0] == pictures[1], "round \(round)")
        }
        #expect(summaries.rowCount(ofThread: 0) == whole.rowCount(ofThread: 0))
    }

    @Test func theyAreKept() throws {
        let trace = RandomTrace(seed: 9, count: 30_000, chunkCalls: 40)
        try trace.writer.write(to: path)
        let opened = try Opened(path)
        let storage = SummaryMemory()
        let made = try opened.summaries(in: storage)
        let read = try #require(
            Summaries(
                made.encoded(), of: opened.threads, clock: opened.session.clock, resolver: opened.resolver, in: storage)
        )
        for step in [1 << 4, 1 << 12, 1 << 24] as [UInt64] {
            let pictures = [made, read].map {
                $0.picture(ofThread: 0, from: 0, to: .max >> 1, step: step, rows: 0..<12).entries
            }
            #expect(pictures[0] == pictures[1])
        }
        #expect(made.rowCount(ofThread: 0) == 12 && read.rowCount(ofThread: 0) == 12)
    }

    /// Bytes in which some are wrong.
    private final class Spoiled: SummaryStorage {
        private let storage: SummaryMemory
        private var random: SeededGenerator
        init(_ storage: SummaryMemory, seed: UInt64) {
            self.storage = storage
            random = SeededGenerator(seed: seed)
        }
        var byteCount: UInt64 { storage.byteCount }
        func append(_ bytes: [UInt8]) -> UInt64? { nil }
        func read(_ offset: UInt64, _ size: Int) -> [UInt8]? {
            guard var bytes = storage.read(offset, size), !bytes.isEmpty else { return nil }
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            return bytes
        }
    }

    @Test func damageIsNotShown() throws {
        try RandomTrace(seed: 10, count: 30_000, chunkCalls: 40).writer.write(to: path)
        let opened = try Opened(path)
        let storage = SummaryMemory()
        let encoded = try opened.summaries(in: storage).encoded()
        var random = SeededGenerator(seed: 10)
        func read(_ bytes: [UInt8], _ storage: any SummaryStorage) -> Summaries? {
            Summaries(bytes, of: opened.threads, clock: opened.session.clock, resolver: opened.resolver, in: storage)
        }
        let spoiled = try #require(read(encoded, Spoiled(storage, seed: 1)))
        #expect(
            spoiled.picture(ofThread: 0, from: 0, to: .max >> 1, step: 1 << 30, rows: 0..<12).entries.isEmpty)
        for _ in 0..<500 {
            var bytes = encoded
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if let summaries = read(bytes, storage) {
                _ = summaries.picture(ofThread: 0, from: 0, to: .max >> 1, step: 1 << 20, rows: 0..<12)
            }
            _ = read(Array(encoded.prefix(.random(in: 0..<encoded.count, using: &random))), storage)
        }
    }

    /// Counts the bytes that it keeps.
    private final class Counting: SummaryStorage {
        private let storage = SummaryMemory()
        private(set) var bytes = 0
        var byteCount: UInt64 { storage.byteCount }
        func append(_ more: [UInt8]) -> UInt64? {
            bytes += more.count
            return storage.append(more)
        }
        func read(_ offset: UInt64, _ size: Int) -> [UInt8]? { storage.read(offset, size) }
    }

    @Test(arguments: [(12, 50), (2000, 50), (12, 20_000)])
    func theyTakeAFewPercent(maxDepth: Int, functions: UInt64) throws {
        let writer = TraceWriter()
        var random = SeededGenerator(seed: 3)
        var time: UInt64 = 0
        var open: [TraceWriter.PathCall] = []
        for sequence in 0..<200 as Range<UInt64> {
            var options = TraceWriter.ChunkOptions()
            (options.sequence, options.begin, options.depth) = (sequence, time, UInt32(open.count))
            var records = RecordWriter(time: time)
            let path = open
            while records.bytes.count < 64_000 {
                time += .random(in: 5...80, using: &random)
                // Deep stacks grow and shrink by long stretches.
                let grows = maxDepth < 100 ? Bool.random(using: &random) : time / 100_000 % 2 == 0
                if open.isEmpty || (grows && open.count < maxDepth) {
                    let function = 0x1000 + 16 * UInt64.random(in: 0..<functions, using: &random)
                    open.append(.init(function: function, enter: time))
                    records.enter(function, at: time)
                } else {
                    open.removeLast()
                    records.exit(at: time)
                }
            }
            (options.end, options.calls) = (time, records.calls)
            writer.add(options, path: path, records: records.bytes)
        }
        try writer.write(to: path)
        let opened = try Opened(path)
        let storage = Counting()
        let summaries = try opened.summaries(in: storage)
        let all = storage.bytes + summaries.encoded().count - Int(functions) * 6
        #expect(Double(all) <= 0.03 * Double(writer.log.count))
        let picture = summaries.picture(ofThread: 0, from: 0, to: time, step: time / 1000, rows: 0..<8)
        #expect(!picture.entries.isEmpty)
        // Rows that take too many bytes are not told, and the picture says so.
        if maxDepth > 100 {
            let deep = UInt32(maxDepth) - 200..<UInt32(maxDepth) - 100
            let all = summaries.picture(ofThread: 0, from: 0, to: time, step: time / 1000, rows: deep)
            #expect(all.isCoarse || !all.entries.isEmpty)
            let close = summaries.picture(ofThread: 0, from: time / 2, to: time / 2 + 200_000, step: 100, rows: deep)
            #expect(!close.isCoarse && !close.entries.isEmpty)
        }
    }

    @Test func callsOfSeveralStacksArePieces() throws {
        let writer = TraceWriter()
        var records = RecordWriter(time: 0)
        records.enter(0xa0, at: 0)
        records.enter(0xb0, at: 100)
        records.lane(1, depth: 0, at: 200)
        records.enter(0xc0, at: 200)
        records.lane(0, depth: 2, at: 300)
        records.exit(at: 400)
        records.lane(1, depth: 1, at: 500)
        records.exit(at: 600)
        records.lane(0, depth: 1, at: 600)
        records.exit(at: 700)
        writer.add(TraceWriter.ChunkOptions(), records: records.bytes)
        try writer.write(to: path)
        let opened = try Opened(path)
        for summaries in [try opened.summaries(), opened.withoutAny()] {
            let picture = summaries.picture(ofThread: 0, from: 0, to: 1000, step: 1, rows: 0..<2)
            let rows = (0..<2).map { row in
                picture[row].map {
                    "\(String(opened.address($0), radix: 16)) \($0.begin)-\($0.end) x\($0.calls)"
                }
            }
            #expect(
                rows == [
                    ["a0 0-200 x0", "c0 200-300 x0", "a0 300-500 x0", "c0 500-600 x1", "a0 600-700 x1"],
                    ["b0 100-200 x0", "b0 300-400 x1"],
                ])
        }
    }

    /// A thread that goes to and fro between stacks, over many chunks, which end while any of them runs.
    @Test func stacksInManyChunks() throws {
        let writer = TraceWriter()
        var time: UInt64 = 0
        var random = SeededGenerator(seed: 5)
        var lane: UInt32 = 0
        var open: [UInt32: [TraceWriter.PathCall]] = [0: [], 1: [], 2: []]
        var total: [UInt32: UInt64] = [:]
        for sequence in 0..<2200 as Range<UInt64> {
            var options = TraceWriter.ChunkOptions()
            (options.sequence, options.begin, options.lane) = (sequence, time, lane)
            let path = open[lane]!
            options.depth = UInt32(path.count)
            var records = RecordWriter(time: time)
            for _ in 0..<20 {
                time += .random(in: 10...200, using: &random)
                if UInt8.random(in: 0..<8, using: &random) == 0 {
                    let next = UInt32.random(in: 0..<3, using: &random)
                    records.lane(next, depth: UInt32(open[next]!.count), at: time)
                    lane = next
                } else if open[lane]!.isEmpty || (open[lane]!.count < 6 && Bool.random(using: &random)) {
                    let function = 0x1000 * UInt64(lane + 1) + 16 * UInt64(open[lane]!.count)
                    open[lane]!.append(.init(function: function, enter: time))
                    records.enter(function, at: time)
                } else {
                    total[UInt32(open[lane]!.count - 1), default: 0] += 1
                    open[lane]!.removeLast()
                    records.exit(at: time)
                }
            }
            (options.end, options.calls) = (time, records.calls)
            writer.add(options, path: path, records: records.bytes)
        }
        try writer.write(to: path)
        let opened = try Opened(path)
        let whole = try opened.summaries(workers: 2).picture(
            ofThread: 0, from: 0, to: time * 2, step: time, rows: 0..<6)
        for row in 0..<6 {
            let calls = whole[row].reduce(0) { $0 + UInt64($1.calls) }
            let left = open.values.count { $0.count > row }
            #expect(abs(Int(calls) - Int(total[UInt32(row)] ?? 0)) <= left, "row \(row)")
        }
        // Close by, no call is shown that is not there, and the outermost ones fill all of the time.
        let summaries = try opened.summaries()
        for begin in stride(from: time / 10, to: time - 20_000, by: Int(time / 9)) {
            let picture = summaries.picture(ofThread: 0, from: begin, to: begin + 10_000, step: 1, rows: 0..<6)
            for row in 0..<6 {
                for entry in picture[row] where entry.calls == 1 {
                    #expect(opened.address(entry) & 0xff0 == UInt64(row) * 16)
                }
            }
        }
    }

    /// What a stack's memory held is not looked at once the stack is gone.
    @Test func aStackThatEnds() throws {
        let writer = TraceWriter()
        var records = RecordWriter(time: 0)
        records.enter(0xa0, at: 0)
        records.lane(1, depth: 0, at: 10)
        for depth in 0..<5000 as Range<UInt64> { records.enter(0x1000 + depth, at: 20 + depth) }
        for depth in 0..<5000 as Range<UInt64> { records.exit(at: 6000 + depth) }
        records.lane(0, depth: 1, at: 12_000)
        records.exit(at: 12_100)
        writer.add(TraceWriter.ChunkOptions(), records: records.bytes)
        try writer.write(to: path)
        let opened = try Opened(path)
        for summaries in [try opened.summaries(), opened.withoutAny()] {
            let picture = summaries.picture(ofThread: 0, from: 0, to: 13_000, step: 1, rows: 0..<1)
            #expect(picture.entries.map(\.calls) == [0, 1, 1])
        }
    }
}

extension Picture {
    /// The entries of a row, as rows were asked for from 0 on.
    fileprivate subscript(row: Int) -> ArraySlice<Entry> { entries[rows[row]..<rows[row + 1]] }
}
