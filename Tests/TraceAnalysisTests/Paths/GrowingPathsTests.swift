import CTraceFormat
import TestSupport
import Testing

@testable import TraceAnalysis
@testable import TraceFile

/// What is read piece by piece adds up to what is read at once, at every moment.
@Suite struct GrowingPathsTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory("growing")
        path = directory.file("x.fathom")
    }

    private static func functions() -> FunctionTable {
        FunctionTable { _, address in
            ResolvedFunction(name: String(address, radix: 16), module: nil, file: nil, line: 0)
        }
    }

    /// One line a path, and the percentiles of each function.
    private static func lines(_ tree: CallPathTree) -> [String] {
        tree.paths.map {
            "\($0.depth) \(tree.functions[$0.function].name) x\($0.sums.calls) \($0.sums.total)/\($0.sums.selfTime) "
                + "\($0.sums.minimum)…\($0.sums.maximum) @\($0.sums.firstStart)"
        } + tree.rows(by: .function).map { "\($0.percentiles.p50) \($0.percentiles.p90) \($0.percentiles.p99)" }
    }

    private func atOnce() throws -> [String] {
        let session = try Session(path: path)
        let aggregation = Aggregation(
            of: session, resolver: FunctionResolver(GrowingPathsTests.functions()), filter: TreeFilter())
        return GrowingPathsTests.lines(aggregation.tree(of: session.processes.flatMap(\.threads)))
    }

    private func growing(step: Int = 16 << 20) throws -> GrowingPaths {
        GrowingPaths(try GrowingSession(try Session(path: path), step: step), functions: GrowingPathsTests.functions())
    }

    private func read(_ paths: GrowingPaths) -> [String] {
        while !paths.read(while: { true }) {}
        return GrowingPathsTests.lines(paths.tree())
    }

    /// The chunks of a log, each with its header.
    private static func chunks(_ log: [UInt8]) -> [(header: fathom_chunk, bytes: [UInt8])] {
        var chunks: [(fathom_chunk, [UInt8])] = [], offset = TraceWriter.headerSize
        while offset < log.count {
            let header = log.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: fathom_chunk.self) }
            let size = (MemoryLayout<fathom_chunk>.size + Int(header.used) + 7) & ~7
            chunks.append((header, Array(log[offset..<min(offset + size, log.count)])))
            offset += size
        }
        return chunks
    }

    @Test(arguments: 1...2) func growsByChunks(_ seed: UInt64) throws {
        let log = RandomTrace(seed: seed, count: 200, chunkCalls: 20).writer.log
        let recording = try Recording(in: path)
        try writeFile(Array(log[..<TraceWriter.headerSize]), to: path + "/trace")
        var end = TraceWriter.headerSize
        let paths = try growing()
        for (number, chunk) in GrowingPathsTests.chunks(log).enumerated() {
            // The chunk grows in its slot, is full there, is in the log as well, and then is in the log alone.
            let slot = number % 3
            let payload = Array(chunk.bytes[MemoryLayout<fathom_chunk>.size...].prefix(Int(chunk.header.used)))
            let pathSize = Int(chunk.header.path_count) * MemoryLayout<fathom_path_entry>.size
            let ends = GrowingPathsTests.recordEnds(payload[pathSize...], chunk.header)
            for part in 1...3 {
                var open = chunk.header
                open.used = UInt32(pathSize + ends[ends.count * part / 4])
                (open.end_ticks, open.end_ns, open.flags) = (0, 0, open.flags & ~UInt8(FATHOM_FLAG_SEALED))
                recording.put(open, Array(payload.prefix(Int(open.used))), into: slot, state: FATHOM_SLOT_OWNED)
                #expect(try read(paths) == atOnce(), "chunk \(number), part \(part)")
            }
            recording.put(chunk.header, payload, into: slot, state: FATHOM_SLOT_FULL)
            if number % 2 == 0 { #expect(try read(paths) == atOnce(), "chunk \(number), full") }
            end += chunk.bytes.count
            try writeFile(Array(log[..<end]), to: path + "/trace")
            if number % 3 == 0 { #expect(try read(paths) == atOnce(), "chunk \(number), twice") }
            recording.word(of: slot).pointee = FATHOM_SLOT_FREE
            if number % 5 == 0 { #expect(try read(paths) == atOnce(), "chunk \(number), in the log") }
        }
        #expect(try read(paths) == atOnce())
    }

    /// Where records end in the bytes behind a chunk's path.
    private static func recordEnds(_ records: ArraySlice<UInt8>, _ header: fathom_chunk) -> [Int] {
        Array(records).withUnsafeBytes { bytes in
            var cursor = RecordCursor(bytes, ticks: 0, functionBase: header.function_base)
            var ends = [0]
            while cursor.next() != .end { ends.append(bytes.count - cursor.remaining) }
            return ends
        }
    }

    @Test(arguments: [100, 16 << 20]) func growsByBytes(_ step: Int) throws {
        let log = RandomTrace(seed: 9, count: 600, chunkCalls: 40).writer.log
        let recording = try Recording(in: path)
        try writeFile(Array(log[..<TraceWriter.headerSize]), to: path + "/trace")
        let paths = try growing(step: step)
        var end = TraceWriter.headerSize
        while end < log.count {
            end = min(end + 331, log.count)
            try writeFile(Array(log[..<end]), to: path + "/trace")
            #expect(try read(paths) == atOnce(), "\(end) bytes")
        }
        withExtendedLifetime(recording) {}
    }

    /// Threads that have ended are counted once, also when their only chunk is found in the buffers and in the log.
    @Test func threadsThatEnd() throws {
        let recording = try Recording(in: path)
        try writeFile(TraceWriter().log, to: path + "/trace")
        let writer = TraceWriter()
        let paths = try growing()
        var records = RecordWriter(time: 0)
        records.enter(0x10, at: 10)
        records.exit(at: 30)
        for thread in 1...40 as ClosedRange<UInt32> {
            var options = TraceWriter.ChunkOptions()
            (options.thread, options.tid, options.end, options.isLast, options.calls) = (
                thread, 2000 + thread, 40, true, 1
            )
            writer.add(options, records: records.bytes)
            let chunk = GrowingPathsTests.chunks(writer.log).last!
            recording.put(chunk.header, records.bytes, into: 0, state: FATHOM_SLOT_FULL)
            if thread % 2 == 0 { _ = read(paths) }
            try writeFile(writer.log, to: path + "/trace")
            if thread % 3 == 0 { _ = read(paths) }
            recording.word(of: 0).pointee = FATHOM_SLOT_FREE
            #expect(try read(paths) == atOnce(), "thread \(thread)")
        }
        _ = read(paths)
        #expect(paths.threads.isEmpty)
        #expect(paths.tree().paths.first?.sums.calls == 40)
    }
}
