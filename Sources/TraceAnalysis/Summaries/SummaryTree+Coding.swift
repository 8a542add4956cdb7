internal import TraceText

extension SummaryTree {
    func encode(to bytes: inout [UInt8]) {
        bytes.append(leb128: UInt64(rowCount))
        bytes.append(leb128: UInt64(levels.count))
        for nodes in levels {
            bytes.append(leb128: UInt64(nodes.count))
            for node in nodes {
                bytes.append(leb128: node.begin)
                bytes.append(leb128: node.end &- node.begin)
                bytes.append(counted: node.shifts)
                bytes.append(node.piece)
            }
        }
        bytes.append(leb128: UInt64(spines.count))
        for piece in spines { bytes.append(piece) }
    }

    /// Reads what was written of a thread of so many chunks; nil where it is something else.
    init?(from reader: inout LEB128Reader, chunks: Int) {
        rowCount = UInt32(reader.take(below: 1 << 24))
        var expected = (chunks + SummaryTree.leafChunks - 1) / SummaryTree.leafChunks
        for level in 0..<reader.take(below: 16) {
            if level > 0 { expected = (expected + SummaryTree.fanout - 1) / SummaryTree.fanout }
            guard reader.takeCount() == expected else { return nil }
            var nodes: [SummaryNode] = []
            for _ in 0..<expected {
                let begin = reader.take(), length = reader.take()
                let shifts = reader.takeBytes()
                guard shifts.allSatisfy({ $0 <= 48 || $0 == SummaryNode.absent }),
                    shifts.count <= SummaryBand.count, begin.addingReportingOverflow(length).overflow == false
                else { return nil }
                nodes.append(
                    SummaryNode(
                        begin: begin, end: begin + length, shifts: shifts, logBytes: 0, piece: reader.takePiece()))
            }
            levels.append(nodes)
        }
        for _ in 0..<reader.takeCount() { spines.append(reader.takePiece()) }
        let leaves = levels.first?.count ?? 0
        guard !reader.hasFailed, levels.last.map({ $0.count == 1 }) ?? true,
            spines.count == (leaves + SummaryTree.fanout - 1) / SummaryTree.fanout
        else { return nil }
    }
}

extension [UInt8] {
    mutating func append(_ piece: SummaryPiece) {
        append(leb128: piece.offset)
        append(leb128: UInt64(piece.size))
        append(leb128: piece.sum)
    }
}

extension LEB128Reader {
    mutating func takePiece() -> SummaryPiece {
        SummaryPiece(offset: take(), size: UInt32(truncatingIfNeeded: take()), sum: take())
    }
}
