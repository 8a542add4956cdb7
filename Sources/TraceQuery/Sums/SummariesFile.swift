internal import TraceAnalysis
internal import TraceFile

/// The summaries of a finished recording, kept beside it.
enum SummariesFile {
    /// Those that are kept, or new ones.
    ///
    /// - Complexity: O(records), where they are made.
    static func summaries(
        of session: Session, threads: [TracedThread], resolver: FunctionResolver, progress: @escaping (Double) -> Void
    ) -> Summaries? {
        defer { progress(1) }
        if let (pieces, end) = PieceFile.kept(.summaries, of: session),
            let kept = Summaries(end, of: threads, clock: session.clock, resolver: resolver, in: pieces)
        {
            return kept
        }
        guard let pieces = PieceFile.new(.summaries, of: session),
            let made = Summaries(
                of: threads, clock: session.clock, resolver: resolver, in: pieces, onProgress: progress)
        else { return nil }
        pieces.keep(made.encoded())
        return made
    }
}
