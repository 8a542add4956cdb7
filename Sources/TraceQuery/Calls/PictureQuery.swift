public import TraceAnalysis
public import TraceFile

/// Pictures of what threads did in any stretch of time: at once of chunks, and fast of summaries, once these are made.
///
/// It is asked by one thread at a time, except for ``prepare(progress:)``.
public final class PictureQuery {
    public let query: SessionQuery
    /// The threads, process by process; tasks are threads, too.
    public let selection: [ThreadSelection.Selected]
    public let threads: [TracedThread]
    private var summaries: Summaries

    /// - Throws: where the session keeps no calls.
    public init(_ query: SessionQuery) throws(QueryError) {
        try query.session.requireCalls(for: "pictures show single calls")
        self.query = query
        selection = try query.selected()
        threads = selection.flatMap(\.threads)
        summaries = Summaries(withoutAny: threads, clock: query.session.clock, resolver: query.resolver)
    }

    /// Reads the summaries that are kept beside the session, or makes them, and keeps them there where that can be. Pictures may be
    /// asked for meanwhile, except of calls that were put together from several threads.
    ///
    /// - Returns: what ``use(_:)`` takes; nil where there is no place for summaries.
    /// - Complexity: O(records) over all cores, where none are kept.
    public func prepare(progress: @escaping (Double) -> Void) -> Summaries? {
        SummariesFile.summaries(
            of: query.session, threads: threads, resolver: query.resolver, progress: progress)
    }

    /// From now on, pictures are made of `summaries`.
    public func use(_ summaries: Summaries) { self.summaries = summaries }

    /// The calls of some depths of the thread at `index` that have a part between two moments, as
    /// ``Summaries/picture(ofThread:from:to:step:rows:)`` tells them.
    public func picture(ofThread index: Int, from: UInt64, to: UInt64, step: UInt64, rows: Range<UInt32>) -> Picture {
        summaries.picture(ofThread: index, from: from, to: to, step: step, rows: rows)
    }

    /// The depth of the deepest calls of the thread at `index`, and 1; nil while that is not known.
    public func rowCount(ofThread index: Int) -> UInt32? { summaries.rowCount(ofThread: index) }
}
