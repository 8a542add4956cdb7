internal import Glibc
public import TraceAnalysis
public import TraceFile

/// What has changed between sessions, which are read one after another.
public struct ComparisonQuery {
    public let comparison: SessionComparison
    private let queries: [AggregateQuery]

    /// What the recordings lack, and the filter's patterns that match nothing in any of them.
    public var warnings: [String] {
        let others = queries.dropLast()
        let unmatched = queries.last?.query.unmatchedPatterns { pattern in
            others.allSatisfy { $0.query.isUnmatched(pattern) }
        }
        return queries.flatMap(\.lacks) + (unmatched ?? [])
    }

    /// - Parameters:
    ///   - part: of the time of each session, which has to know it; throws where it does not.
    ///   - listener: is told of what is wrong, and how far reading is.
    public init(
        before: [Session], after: [Session], _ queryOptions: QueryOptions, _ options: SessionComparison.Options,
        part: (Session) throws(QueryError) -> TimeKind = { _ in .total }, listener: QueryListener = QueryListener()
    ) throws(QueryError) {
        let sessions = before + after
        // One with itself is a comparison without evidence of noise; more would pretend to have some.
        if sessions.count > 2 { try ComparisonQuery.refuseRepetition(of: sessions) }
        let builder = ComparisonBuilder()
        var isEmpty = true
        var queries: [AggregateQuery] = []
        for (index, session) in sessions.enumerated() {
            let kind = try part(session)
            let query = try AggregateQuery(session, queryOptions, listener: listener)
            let tree = query.anyTree().only(kind)
            isEmpty = isEmpty && tree.paths.isEmpty
            builder.add(
                tree, to: index < before.count ? .before : .after, program: session.processes.first?.path,
                moment: session.startRealtimeNanoseconds)
            queries.append(query)
        }
        try queries.last?.check(isEmpty: isEmpty)
        self.queries = queries
        comparison = builder.comparison(options: options)
    }

    /// Refuses what is given twice, by whatever name: it would count as evidence of its own.
    private static func refuseRepetition(of sessions: [Session]) throws(QueryError) {
        var seen: Set<String> = []
        for session in sessions {
            guard let resolved = realpath(session.path, nil) else { continue }
            defer { free(resolved) }
            guard seen.insert(String(cString: resolved)).inserted else { throw .givenTwice(session: session.path) }
        }
    }
}
