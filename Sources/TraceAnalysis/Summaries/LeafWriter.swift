internal import TraceFile

/// Makes leaves of what a sink collects of a stretch of a thread.
final class LeafWriter {
    private(set) var nodes: [SummaryNode] = []
    private(set) var spines: [SummaryPiece] = []
    private(set) var hasFailed = false
    private(set) var rowCount: UInt32 = 0
    private let thread: TracedThread
    private let moments: [UInt64]
    private var numbers: KnownNumbers
    private let keep: ([UInt8]) -> SummaryPiece?
    /// What is open at the ends of leaves, until there are as many as are kept together.
    private var open: [[SummarySink.Open]] = []
    private var lastChunk = -1

    /// The part of the log's bytes that leaves may take.
    private static let part = 0.018

    /// - Parameters:
    ///   - moments: where leaves begin, and where the last one ends.
    ///   - keep: puts bytes where they are kept.
    init(
        _ thread: TracedThread, from moments: [UInt64], _ numbers: KnownNumbers,
        keep: @escaping ([UInt8]) -> SummaryPiece?
    ) {
        self.thread = thread
        self.moments = moments
        self.numbers = numbers
        self.keep = keep
    }

    func shift(_ leaf: Int) -> UInt64 { UInt64(SummaryNode.shift(of: moments[leaf + 1] - moments[leaf])) }

    /// Finishes the leaves before that of chunk `index`, which begins.
    func begin(chunk index: Int, _ sink: inout SummarySink) {
        let leaf = index / SummaryTree.leafChunks
        if leaf > nodes.count, lastChunk >= 0 {
            // Where the leaf's last chunk could not be read, nobody has asked yet.
            if (lastChunk + 1) % SummaryTree.leafChunks != 0 { sink.noteOpen() }
            if thread.chunks[lastChunk].isStopped { sink.forgetOpen() }
        }
        while nodes.count < leaf { finishLeaf(&sink) }
        lastChunk = index
    }

    /// Finishes the leaves that are left.
    ///
    /// - Parameter isEnd: whether the thread ends there, and so nothing is open.
    func finish(_ sink: inout SummarySink, isEnd: Bool) {
        if isEnd { sink.forgetOpen() }
        while nodes.count < moments.count - 1 { finishLeaf(&sink) }
        if !open.isEmpty { keepOpen() }
    }

    private func finishLeaf(_ sink: inout SummarySink) {
        let index = nodes.count
        let first = index * SummaryTree.leafChunks
        let chunks = first..<min(first + SummaryTree.leafChunks, thread.chunks.count)
        let logBytes = chunks.reduce(0) { $0 + thread.chunks[$1].size }
        var rows = sink.rows
        rows.finish()
        rowCount = max(rowCount, rows.rowCount)
        let known = sink
        let shift = UInt8(self.shift(index))
        let encoded = SummaryNode.encode(
            &rows, begin: moments[index], shifts: Array(repeating: shift, count: SummaryBand.count),
            budget: max(2048 + 16 * Int(rows.rowCount), Int(Double(logBytes) * LeafWriter.part)),
            number: { self.numbers.number($0, in: known) })
        if index + 1 < moments.count - 1 { rows.begin(shift: self.shift(index + 1)) }
        sink.rows = rows
        let piece = keep(encoded.bytes)
        hasFailed = hasFailed || piece == nil
        nodes.append(
            SummaryNode(
                begin: moments[index], end: moments[index + 1], shifts: encoded.shifts, logBytes: logBytes,
                piece: piece ?? SummaryPiece(offset: 0, size: 0, sum: 0)))
        open.append(
            sink.open.map { .init(function: self.numbers.number($0.function, in: known), begin: $0.begin) })
        if open.count == SummaryTree.fanout { keepOpen() }
    }

    private func keepOpen() {
        if let piece = keep(SummaryTree.encode(open)) { spines.append(piece) } else { hasFailed = true }
        open = []
    }
}
