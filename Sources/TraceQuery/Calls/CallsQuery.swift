public import TraceAnalysis
public import TraceFile

/// The single calls of a session's threads.
public struct CallsQuery {
    /// The threads, in the order in which they are shown.
    public private(set) var selection: [ThreadSelection.Selected]
    private var tree: CallTree
    private let query: SessionQuery
    private let progress: ReadingProgress

    /// - Parameters:
    ///   - longest: how many of the longest calls are shown alone, the processes and threads that have them first; nil: all calls, in
    ///     the order of time.
    /// - Complexity: O(records) where the longest are asked for.
    public init(_ query: SessionQuery, layout: TreeLayout, longest: Int? = nil) throws(QueryError) {
        self.init(query, of: try query.selected(), layout: layout, passes: longest == nil ? 1 : 2)
        if let longest { sortByLongest(longest) }
    }

    /// The calls of threads that were selected before, of the longest of which no more than `most` are shown.
    public init(_ query: SessionQuery, of threads: [TracedThread], layout: TreeLayout, most: Int) {
        self.init(query, of: threads.map { (process: $0.process, threads: [$0]) }, layout: layout)
        if callCount > UInt64(most) { _ = tree.rank(threads, limit: most) }
    }

    /// All calls of threads that were selected before, in the order of time.
    ///
    /// - Parameter passes: how often the records are read.
    public init(
        _ query: SessionQuery, of selection: [ThreadSelection.Selected], layout: TreeLayout, passes: Int = 1
    ) {
        self.query = query
        self.selection = selection
        progress = ReadingProgress(of: selection.flatMap(\.threads), passes: passes, report: query.listener.progress)
        tree = CallTree(
            of: query.session, resolver: query.resolver, filter: query.filter, layout: layout, progress: progress,
            outlines: OutlinesFile.store(of: query.session))
    }

    /// All threads that are shown.
    public var threads: [TracedThread] { selection.flatMap(\.threads) }

    /// The calls of all threads, before any are left out.
    public var callCount: UInt64 { threads.reduce(0) { $0 &+ $1.countCalls() } }

    /// How long the threads were blocked, and how long they were there, in ns; nil where that is not known of all.
    ///
    /// - Complexity: O(switches) where the kernel told of them; else O(records of chunks in which a thread waited).
    public var blocked: (blocked: UInt64, whole: UInt64)? {
        var sum: (blocked: UInt64, whole: UInt64) = (0, 0)
        for thread in threads {
            guard let offCPU = thread.offCPU() else { return nil }
            let span = thread.span(query.session.clock)
            sum.blocked &+= offCPU.times(from: span.lowerBound, to: span.upperBound).blocked
            sum.whole &+= span.upperBound &- span.lowerBound
        }
        return sum
    }

    /// How many calls the filter keeps, and the time in ns of the shortest that is shown; nil when all are shown.
    public var leftOut: (of: UInt64, least: UInt64)? { tree.leftOut }

    /// What the recording lacks, once it has been read.
    var warnings: [String] { query.warnings(of: threads) }

    /// Shows the calls on `page`, and tells what is to be known of them.
    ///
    /// - Complexity: O(records).
    public func answer(on page: inout some TreePage) -> Answer<Void> {
        walk(&page)
        // Otherwise a pattern may match what is beyond the limit.
        let isWhole = page.wantsMore
        page.finish()
        return Answer(
            (), notes: isWhole && !page.isEmpty ? query.severalNames : [],
            warnings: warnings + (isWhole && !page.isEmpty ? query.unmatchedPatterns : []),
            emptiness: page.isEmpty ? query.emptiness : nil, sessions: [query.session])
    }

    /// Shows the calls, process by process.
    ///
    /// - Complexity: O(records).
    public func walk<Visitor: TreeVisitor>(_ visitor: inout Visitor) {
        tree.walk(selection, &visitor)
        progress.end()
    }

    /// Sorts the processes, and the threads of each, those with the longest calls first.
    private mutating func sortByLongest(_ limit: Int) {
        var times = tree.rank(threads, limit: limit)[...]
        func sorted<Element>(_ list: [(Element, longest: UInt64)]) -> [Element] {
            list.enumerated().sorted { ($1.element.longest, $0.offset) < ($0.element.longest, $1.offset) }.map(
                \.element.0)
        }
        selection = sorted(
            selection.map { process, threads in
                let longest = times.prefix(threads.count)
                times = times.dropFirst(threads.count)
                return ((process, sorted(Array(zip(threads, longest)))), longest.max() ?? 0)
            })
    }
}
