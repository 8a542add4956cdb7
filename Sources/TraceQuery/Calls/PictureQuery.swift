public import TraceAnalysis
public import TraceFile

/// Pictures of what threads did in any stretch of time: at once of chunks, and fast of summaries, once these are made.
///
/// It is asked by one thread at a time, except for ``prepare(progress:)``.
public final class PictureQuery {
    public let query: SessionQuery
    /// The threads, process by process; tasks are threads, too. Threads of an earlier moment of a recording keep their places.
    public let threads: [TracedThread]
    private var summaries: Summaries
    private var isSummarized = false

    /// - Parameter order: threads that come first, in this order.
    /// - Throws: where the session keeps no calls.
    public init(_ query: SessionQuery, order: [ThreadName] = []) throws(QueryError) {
        try query.session.requireCalls(for: "pictures show single calls")
        self.query = query
        threads = try PictureQuery.threads(of: query, after: order)
        summaries = Summaries(withoutAny: threads, clock: query.session.clock, resolver: query.resolver)
    }

    /// What tells a thread of a recording at any moment.
    public struct ThreadName: Hashable, Sendable {
        private let process: UInt32
        private let serial: UInt32
        private let task: UInt32?

        public init(_ thread: TracedThread) {
            (process, serial, task) = (thread.process.index, thread.serial, thread.task)
        }
    }

    /// The threads of a query, those first that are named in `before`, in the same order.
    public static func threads(of query: SessionQuery, after before: [ThreadName]) throws(QueryError) -> [TracedThread]
    {
        let all = try query.selected().flatMap(\.threads)
        let places = Dictionary(before.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let ranked = all.enumerated().map { (places[ThreadName($1)] ?? before.count + $0, $1) }
        return ranked.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// What takes long to find out: summaries, and when threads had no CPU.
    public struct Prepared {
        fileprivate let summaries: Summaries
        fileprivate let offCPU: [OffCPU?]
    }

    /// Reads what is kept of this beside the session, or finds it out, and keeps it there where that can be. Pictures may be
    /// asked for meanwhile, except of calls that were put together from several threads.
    ///
    /// - Parameter before: the same recording when it had fewer calls. What it has summaries of is not read again.
    /// - Returns: what ``use(_:)`` takes; nil where there is no place for summaries.
    /// - Complexity: O(records) over all cores, where nothing is kept.
    public func prepare(after before: PictureQuery? = nil, progress: @escaping (Double) -> Void) -> Prepared? {
        summaries(after: before, progress).map { Prepared(summaries: $0, offCPU: threads.map { $0.findOffCPU() }) }
    }

    private func summaries(after before: PictureQuery?, _ progress: @escaping (Double) -> Void) -> Summaries? {
        if let before, before.isSummarized, !before.summaries.isWasteful {
            defer { progress(1) }
            return Summaries(
                of: threads, after: before.summaries, clock: query.session.clock, resolver: query.resolver,
                onProgress: progress)
        }
        return SummariesFile.summaries(
            of: query.session, threads: threads, resolver: query.resolver, progress: progress)
    }

    /// From now on, pictures are made of summaries.
    public func use(_ prepared: Prepared) {
        summaries = prepared.summaries
        isSummarized = true
        for (thread, offCPU) in zip(threads, prepared.offCPU) { thread.know(offCPU) }
    }

    /// The calls of some depths of the thread at `index` that have a part between two moments, as
    /// ``Summaries/picture(ofThread:from:to:step:rows:)`` tells them.
    public func picture(ofThread index: Int, from: UInt64, to: UInt64, step: UInt64, rows: Range<UInt32>) -> Picture {
        summaries.picture(ofThread: index, from: from, to: to, step: step, rows: rows)
    }

    /// The depth of the deepest calls of the thread at `index`, and 1; nil while that is not known.
    public func rowCount(ofThread index: Int) -> UInt32? { summaries.rowCount(ofThread: index) }
}
