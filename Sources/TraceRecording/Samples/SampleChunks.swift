internal import CTraceFormat
internal import TraceFile

/// Writes samples of stacks to a log, as chunks that the readers of profiles read.
struct SampleChunks {
    /// Where a thread's chunks go on.
    struct Tree {
        var process: UInt32, thread: UInt32
        var pid: UInt32, tid: UInt32
        var name: String
        /// The numbers that the next tree of paths and the next chunk get.
        var number: UInt32 = 0
        var sequence: UInt64 = 0

        /// A tree of so many paths comes first.
        mutating func pass(_ paths: Int) {
            if paths == 0 { return }
            number += 1
            sequence += UInt64((paths - 1) / SampleChunks.unitsInChunk + 1)
        }
    }

    private let log: TraceLogWriter
    private let begin: UInt64, end: UInt64

    /// Units in a chunk, at most.
    private static let unitsInChunk = 1 << 14

    /// - Parameters:
    ///   - begin: in ticks; no sample is older.
    ///   - end: in ticks; no sample is younger.
    init(_ log: TraceLogWriter, from begin: UInt64, to end: UInt64) {
        self.log = log
        (self.begin, self.end) = (begin, end)
    }

    /// Appends what a process tells of itself.
    func append(metadata: [UInt8], pid: UInt32) {
        append(metadata, kind: FATHOM_CHUNK_METADATA, pid: pid) { _ in }
    }

    /// Appends paths as one tree.
    ///
    /// - Parameters:
    ///   - paths: callers before callees.
    ///   - tree: where they go.
    ///   - period: the time that a sample stands for, in ns.
    ///   - ticks: what the samples of a path stand for.
    func append(
        _ paths: [SampledProcess.Path], to tree: Tree, period: UInt64, ticks: (SampledProcess.Path) -> UInt64
    ) {
        for first in stride(from: 0, to: paths.count, by: Self.unitsInChunk) {
            var head = fathom_paths_head()
            head.tree = tree.number
            head.first = UInt32(first)
            head.keeps = UInt64(FATHOM_KEEPS_SAMPLES)
            head.period_ns = period
            var bytes = withUnsafeBytes(of: head) { Array($0) }
            for path in paths[first..<min(first + Self.unitsInChunk, paths.count)] {
                var unit = fathom_path()
                unit.unit = UInt16(FATHOM_UNIT_PATH)
                unit.path = path.caller.map { UInt32($0) } ?? FATHOM_NO_PATH
                unit.function = path.function
                unit.calls = path.samples
                unit.total = ticks(path)
                unit.moment = end << UInt64(FATHOM_PATH_SHIFT)
                unit.first = begin
                unit.shortest = .max
                withUnsafeBytes(of: unit) { bytes += Array($0) }
            }
            append(bytes, kind: FATHOM_CHUNK_PATHS, pid: tree.pid) { chunk in
                (chunk.process, chunk.thread, chunk.tid) = (tree.process, tree.thread, tree.tid)
                chunk.sequence = tree.sequence + UInt64(first / Self.unitsInChunk)
                withUnsafeMutableBytes(of: &chunk.name) {
                    $0.copyBytes(from: Array(tree.name.utf8.prefix($0.count - 1)))
                }
            }
        }
    }

    private func append(_ payload: [UInt8], kind: UInt32, pid: UInt32, _ change: (inout fathom_chunk) -> Void) {
        var chunk = fathom_chunk(ofItem: UInt32(payload.count), process: 0, pid: pid, at: end)
        chunk.kind = UInt8(kind)
        (chunk.begin_ticks, chunk.end_ticks) = (begin, end)
        change(&chunk)
        _ = payload.withUnsafeBytes { log.append(chunk, payload: $0.baseAddress!) }
    }
}
