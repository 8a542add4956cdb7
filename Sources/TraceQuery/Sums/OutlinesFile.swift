internal import TraceAnalysis
internal import TraceFile

/// The outlines of a finished recording's chunks, kept beside it as soon as a reader has made all of them.
enum OutlinesFile {
    /// Those that are kept, or none yet.
    ///
    /// - Returns: nil where the log is as quickly read.
    static func store(of session: Session) -> OutlineStore? {
        guard session.plainLogSize >= leastSize else { return nil }
        let threads = session.processes.flatMap(\.threads)
        if let (pieces, end) = PieceFile.kept(.outlines, of: session),
            let kept = OutlineStore(end, of: threads, in: pieces)
        {
            return kept
        }
        return PieceFile.new(.outlines, of: session).map { pieces in
            OutlineStore(threads, in: pieces) { pieces.keep($0.encoded(threads)) }
        }
    }

    /// In bytes.
    private static let leastSize = 4 << 20
}
